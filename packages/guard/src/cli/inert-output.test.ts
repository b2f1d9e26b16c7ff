import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Outcome, runInChild } from '../../test/support/command-line.js';
import { openTestDatabase } from '../../test/support/database.js';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { dataFolderFor } from '../../test/support/running-guard.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { wordpressFolder } from '../../test/support/wordpress-folder.js';

/** Colours, a title, a changed direction of writing, an erased line, and a line of its own. */
const EVIL = '\u001b[32mx\u001b]0;t\u0007\u202ey\r\u009b2K\nAll is well.';

/** What reaches the terminal, after a check that nothing of it acts there or looks like a line of the command. */
function inert({ stdout, stderr }: Outcome): string {
  const text = stdout + stderr;
  expect(text).not.toMatch(/(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
  expect(text).not.toMatch(/^All is well\./m);
  return text;
}

const SHOWN = '\\u001b[32mx\\u001b]0;t\\u0007\\u202ey\\u000d\\u009b2K';

async function dataFolder(extra: object = {}): Promise<string> {
  return dataFolderFor(await fakeConnector(), extra);
}

describe('output for a terminal is inert and shows every character', () => {
  it.each<[string, string[]]>([
    ['sites list', ['sites', 'list']],
    ['sites show', ['sites', 'show', 'site']],
    ['sites export', ['sites', 'export']],
    ['attach --all', ['attach', '--all']],
    ['status', ['status']],
    ['doctor', ['doctor', 'site']],
  ])('of a name in the configuration: %s', async (_, command) => {
    const key = await dataFolder({ [EVIL]: 1 });
    const folder = await dataFolder({ wordpressDir: `/srv/${EVIL}` });
    const texts: string[] = [];
    for (const dataDir of [key, folder]) texts.push(inert(await runInChild(...command, '--data-dir', dataDir)));
    expect(texts.join('')).toContain(SHOWN);
  });

  it('of a configuration that can’t be read as JSON', async () => {
    const dataDir = await dataFolder();
    await writeFile(join(dataDir, 'guard.json'), EVIL);
    for (const command of [['sites', 'list'], ['status'], ['pause', '5']]) {
      expect(inert(await runInChild(...command, '--data-dir', dataDir))).toContain('\\u001b[32mx');
    }
  });

  it.each([
    [
      'settings',
      'names and values',
      JSON.stringify({ settings: { [EVIL]: 1, notification_emails: [EVIL], login_access: [EVIL] } }),
    ],
    ['settings', 'no JSON', EVIL],
    ['sites', 'a key and a value', JSON.stringify({ sites: [{ hosts: ['a.example'], upstream: EVIL, [EVIL]: 1 }] })],
    [
      'sites',
      'a folder',
      JSON.stringify({ sites: [{ hosts: ['a.example'], upstream: 'http://127.0.0.1:1', wordpressDir: EVIL }] }),
    ],
    ['sites', 'no JSON', EVIL],
  ])('of a file to import, %s: %s', async (group, _what, content) => {
    const dataDir = await dataFolder();
    const file = join(await scratchFolder(), 'file.json');
    await writeFile(file, content);
    const outcome = await runInChild(group, 'import', file, '--data-dir', dataDir);
    expect(outcome.status).toBe(1);
    expect(inert(outcome)).toContain('u001b');
  });

  it('of the list of a back-up', async () => {
    const dataDir = await dataFolder();
    const list = join(await scratchFolder(), 'list.txt');
    await writeFile(list, '192.0.2.1\n');
    const file = join(dataDir, 'guard.json');
    await writeFile(
      file,
      JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), trustedProxies: [`file:${list}`] }),
    );
    const folder = join(await scratchFolder(), 'back-up');
    expect((await runInChild('back-up', folder, '--data-dir', dataDir)).status).toBe(0);
    const manifest = JSON.parse(await readFile(join(folder, 'back-up.json'), 'utf8'));
    const named = manifest.named.map((each: object) => ({ ...each, path: `/srv/${EVIL}`, key: EVIL }));
    await writeFile(join(folder, 'back-up.json'), JSON.stringify({ ...manifest, madeAt: EVIL, named }));
    const restored = await runInChild('restore', folder, '--data-dir', join(await scratchFolder(), 'data'));
    expect(restored.status).toBe(0);
    expect(inert(restored).split(SHOWN)).toHaveLength(4);
  });

  it('of names in the database, and JSON keeps its meaning', async () => {
    const dataDir = await dataFolder();
    const db = await openTestDatabase(dataDir);
    onTestFinished(() => db.destroy());
    const row = {
      site: 'site',
      at: 1,
      actor_id: 7,
      actor_login: EVIL,
      address: null,
      before: '0',
      after: '1',
      told: 1,
    };
    await db
      .insertInto('audit')
      .values({ ...row, id: 'a', name: 'disable_feed' })
      .execute();
    const exported = await runInChild('privacy', 'export', '--user', EVIL, '--data-dir', dataDir);
    expect(exported.status).toBe(0);
    inert(exported);
    expect(JSON.parse(exported.stdout).settings_database.changes).toMatchObject([{ by: EVIL }]);
    expect(JSON.parse(exported.stdout).person.user.logins).toEqual([EVIL.toLowerCase()]);
    for (const command of [
      ['unblock', EVIL],
      ['two-factor', 'reset', EVIL],
      ['privacy', 'erase', '--address', EVIL],
      ['privacy', 'erase', '--email', EVIL],
    ]) {
      expect(inert(await runInChild(...command, '--data-dir', dataDir))).toContain(SHOWN);
    }
  });

  it('of what WordPress answers', async () => {
    const connector = await fakeConnector();
    connector.mode = 'broken';
    const wordpress = await wordpressFolder();
    const dataDir = await scratchFolder();
    await mkdir(join(wordpress, EVIL));
    const to = ['--upstream', connector.upstream, '--data-dir', dataDir];
    const outcome = await runInChild('attach', '--wordpress', wordpress, '--mu-plugins', join(wordpress, EVIL), ...to);
    expect(inert(outcome)).toContain(SHOWN);
  });
});
