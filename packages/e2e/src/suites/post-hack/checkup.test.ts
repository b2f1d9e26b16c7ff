import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckupFinding } from '@security-optimizer/contract/post-hack';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { authorised, callApi, logIn, type Session } from '../../http/session.js';
import { type PluginDirectory, startPluginDirectory, usePluginDirectory } from '../../stacks/plugin-directory.js';
import { people } from '../../stacks/prepare-site.js';
import { onBothDatabases } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { act } from './post-hack-calls.js';

onBothDatabases('the checkup', (stack) => {
  let owner: Session;
  let directory: PluginDirectory;
  let restore: () => Promise<void>;
  const path = (name: string) => join(stack.wordpressDir, name);
  const changed = 'wp-includes/version.php';
  const missing = 'wp-admin/css/about.min.css';
  const planted = ['wp-includes/images/door.php', 'wp-admin/door.php', 'door.php'];
  const before = new Map([changed, missing].map((name) => [name, readFileSync(path(name))]));
  const putBack = () => {
    for (const [name, content] of before) writeFileSync(path(name), content);
    for (const name of planted) rmSync(path(name), { force: true });
  };
  const look = async (session = owner) => {
    const { http, body } = await act(stack, session, '/checkup');
    if (http !== 200) return { http, findings: [] };
    const { parts } = body.data as { parts: { findings: CheckupFinding[]; error: string }[] };
    expect(parts.map(({ error }) => error)).toEqual(['', '', '', '']);
    return { http, findings: parts.flatMap(({ findings }) => findings) };
  };
  const found = async (id: string) => (await look()).findings.find((finding) => finding.id === id);

  beforeAll(async () => {
    directory = await startPluginDirectory([]);
    restore = await usePluginDirectory(stack, directory.url);
    // What lies there now counts as the official files: the sandbox's WordPress is not the one that is published.
    directory.core = checksums(stack.wordpressDir);
    owner = await logIn(stack);
  });
  afterAll(async () => {
    putBack();
    await runInWordPress(
      stack,
      `wp_clear_scheduled_hook( 'left_behind_task' ); update_option( 'default_role', 'subscriber' ); update_option( 'users_can_register', 0 );`,
    );
    await restore();
    await directory.close();
  });

  it('is for administrators only', async () => {
    expect((await look(await logIn(stack, people.author))).http).toBe(403);
  });

  it('says when all files are the official ones, and when they can’t be compared', async () => {
    expect(await found('core-fine')).toMatchObject({ level: 'fine' });
    const { core } = directory;
    directory.core = null;
    expect(await found('core-unknown')).toMatchObject({ level: 'note' });
    directory.core = core;
  });

  it('finds changed, missing and planted files, and changes none of them', async () => {
    writeFileSync(path(changed), `${before.get(changed)?.toString()}\n// a line put in\n`);
    rmSync(path(missing));
    for (const name of planted) writeFileSync(path(name), '<?php // a door left open');
    const { findings } = await look();
    const items = (id: string) => findings.find((finding) => finding.id === id)?.items.toSorted();
    expect(items('core-changed')).toEqual([changed]);
    expect(items('core-missing')).toEqual([missing]);
    expect(items('core-foreign')).toEqual(planted.toSorted());
    expect(findings.find(({ id }) => id === 'core-changed')).toMatchObject({
      level: 'problem',
      link: expect.stringMatching(/^http.*\/wp-admin\/update-core\.php$/),
    });
    expect(readFileSync(path('door.php'), 'utf8')).toContain('a door left open');
    putBack();
    expect(await found('core-fine')).toBeDefined();
  });

  it('tells which settings were changed lately, and by whom', async () => {
    const rename = (title: string) =>
      callApi(stack, { path: '/wp-json/wp/v2/settings', body: JSON.stringify({ title }), headers: authorised(owner) });
    await rename('Renamed by an intruder');
    const items = await until('the change is told', async () => {
      const told = (await found('settings-changed'))?.items ?? [];
      return told.some((item) => item.includes('Renamed by an intruder')) ? told : null;
    });
    expect(items[0]).toMatch(new RegExp(`^\\d{4}-\\d\\d-\\d\\d, ${stack.user}: Changed the setting`));
    await rename('Example site');
  });

  it('lists administrators, a risky role for newcomers and tasks that nobody waits for', async () => {
    expect((await found('administrators'))?.items.join()).toContain(stack.user);
    expect(await found('tasks-unknown')).toBeUndefined();
    await runInWordPress(
      stack,
      `update_option( 'default_role', 'administrator' ); update_option( 'users_can_register', 1 );
      wp_schedule_event( time() + 3600, 'daily', 'left_behind_task' );`,
    );
    expect(await found('default-role')).toMatchObject({ level: 'problem' });
    expect((await found('tasks-unknown'))?.items).toEqual(['left_behind_task']);
  });
});

/** MD5 of every file that the checkup looks at, by its path. */
function checksums(root: string): Record<string, string> {
  const files = readdirSync(root).filter((name) => name.endsWith('.php') && name !== 'wp-config.php');
  for (const folder of ['wp-admin', 'wp-includes']) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) files.push(join(entry.parentPath, entry.name).slice(root.length + 1));
    }
  }
  const sum = (name: string) =>
    createHash('md5')
      .update(readFileSync(join(root, name)))
      .digest('hex');
  return Object.fromEntries(files.map((name) => [name, sum(name)]));
}
