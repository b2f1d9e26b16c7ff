import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Checkup, CheckupFinding, CheckupResult } from '@security-optimizer/contract/post-hack/checkup';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { authorised, callApi, logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { killGuard, startGuard } from '../../stacks/guard-process.js';
import { type PluginDirectory, startPluginDirectory, usePluginDirectory } from '../../stacks/plugin-directory.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress, usersByRole } from '../../stacks/wordpress.js';
import { bytes } from '../activity/helpers.js';
import { callAction, endedJob, expectReinstalled, giveToWordPress, pluginHeader, pluginsOnDisk } from './helpers.js';

const form = {
  slug: 'example-form',
  name: 'Example form',
  version: '1.2.3',
  files: { 'form.php': pluginHeader('Example form', '1.2.3'), 'send.php': "<?php\nreturn 'sent';\n" },
};

onUnlikeStacks('the checkup', (stack) => {
  let owner: Session;
  let directory: PluginDirectory;
  let restore: () => Promise<void>;
  const { put, remove, changeOwner } = pluginsOnDisk(stack);
  const path = (name: string) => join(stack.wordpressDir, name);
  const changed = 'wp-includes/version.php';
  const missing = 'wp-admin/css/about.min.css';
  const planted = ['wp-includes/images/door.php', 'wp-admin/door.php', 'door.php'];
  const uploads = 'wp-content/uploads/2024';
  const before = new Map([changed, missing].map((name) => [name, readFileSync(path(name))]));
  const restoreFiles = () => {
    for (const [name, content] of before) writeFileSync(path(name), content);
    for (const name of planted) rmSync(path(name), { force: true });
  };
  const read = async (suffix = '/checkup', body: object = {}): Promise<Checkup> => {
    const response = await callAction(stack, owner, suffix, body);
    expect(response.body.status).toBe(200);
    return response.body.data as Checkup;
  };
  /** Runs a checkup to its end. */
  const readCheckup = async (): Promise<CheckupResult> => {
    const { latest: last } = await read();
    // The times of results are whole seconds.
    await until('a second has passed', () => Math.floor(Date.now() / 1000) > (last?.at ?? 0));
    await read('/run-checkup');
    const ended = async () => {
      const checkup = await read();
      return checkup.running === null ? checkup : null;
    };
    const { latest, error } = await until('the checkup has ended', ended, 60);
    expect(error).toBe('');
    if (latest === null || latest.at === last?.at) throw new Error('The checkup that has ended is not there.');
    const missing = latest.checks.filter(({ ran }) => ran === 0).map(({ title, text }) => `${title}: ${text}`);
    if (directory.fault === 'none') expect(missing).toEqual([]);
    return latest;
  };
  const titles = ({ findings }: CheckupResult) => findings.map(({ title }) => title);
  const notRun = ({ checks }: CheckupResult) => checks.filter(({ ran }) => ran === 0).map(({ check }) => check);
  const keep = (finding: CheckupFinding | undefined, value: 0 | 1) =>
    read('/keep-finding', { key: finding?.key ?? '', keep: value });

  beforeAll(async () => {
    directory = await startPluginDirectory([form]);
    restore = await usePluginDirectory(stack, directory.url);
    // The present files count as the official ones, since the sandbox's WordPress is not the published one.
    directory.core = checksums(stack.wordpressDir);
    put('example-form', form.files);
    changeOwner();
    owner = await logIn(stack);
  });
  afterAll(async () => {
    restoreFiles();
    remove('example-form');
    rmSync(path(uploads), { recursive: true, force: true });
    await runInWordPress(
      stack,
      `require_once ABSPATH . 'wp-admin/includes/user.php';
      $helper = get_user_by( 'login', 'web-helper' );
      if ( $helper ) {
        wp_delete_user( $helper->ID );
      }
      wp_clear_scheduled_hook( 'left_behind_task' ); update_option( 'default_role', 'subscriber' ); update_option( 'users_can_register', 0 );`,
    );
    await restore();
    await directory.close();
  });

  it('is for administrators only', async () => {
    const author = await logIn(stack, usersByRole.author);
    for (const suffix of ['/checkup', '/run-checkup', '/weekly-checkup']) {
      expect((await callAction(stack, author, suffix, { weekly_checkup: 0 })).http).toBe(403);
    }
    for (const [suffix, body] of [
      ['/keep-finding', { key: 'a', keep: 1 }],
      ['/remove-finding', { key: 'a' }],
      ['/restore-files', { ids: ['a'] }],
    ] as const) {
      expect((await callAction(stack, author, suffix, body)).http).toBe(403);
    }
  });

  it('runs four checks and finds nothing on a clean site', async () => {
    const result = await readCheckup();
    expect([titles(result), notRun(result)]).toEqual([[], []]);
    expect(result.checks).toHaveLength(4);
  });

  it('reports what could not be checked while the directory does not answer, and passes no check', async () => {
    directory.fault = 'down';
    const result = await readCheckup();
    directory.fault = 'none';
    expect(notRun(result)).toEqual(['core', 'plugins']);
    expect(result.checks[0]).toMatchObject({
      title: 'Core files could not be compared',
      text: 'wordpress.org did not answer, so nothing is known about them.',
    });
    expect(result.checks[3]?.text).toMatch(/^The plugin directory did not answer for \d+ plugins?,/);
  });

  it('finds changed, missing and planted core files, and changes none of them', async () => {
    writeFileSync(path(changed), `${before.get(changed)?.toString()}\n// a line put in\n`);
    rmSync(path(missing));
    for (const name of planted) writeFileSync(path(name), '<?php // a door left open');
    const { findings } = await readCheckup();
    expect(findings.map(({ title }) => title)).toEqual([
      '1 file of WordPress was changed',
      '1 file of WordPress is missing',
      '3 files in the folders of WordPress are not part of it',
    ]);
    expect(findings[0]?.items[0]).toMatch(/^wp-includes\/version\.php, changed on \d{4}-\d\d-\d\d \d\d:\d\d$/);
    expect(findings[0]?.link).toMatch(/^http.*\/wp-admin\/update-core\.php$/);
    expect(findings[1]?.items).toEqual([missing]);
    expect(findings[2]?.items.map((item) => item.split(',')[0])).toEqual(planted.toSorted());
    expect(readFileSync(path('door.php'), 'utf8')).toContain('a door left open');
    restoreFiles();
    expect(titles(await readCheckup())).toEqual([]);
  });

  it('reports harmless differences as notes: documentation files, and effects of the server or our own options', async () => {
    const official = directory.core;
    const sample = readFileSync(path('wp-config-sample.php'));
    const readme = existsSync(path('readme.html')) ? readFileSync(path('readme.html')) : null;
    const switchBefore = (await readOptions(stack, owner)).delete_readme;
    const notes = async () => {
      const result = await readCheckup();
      const listed = result.notes.filter(({ id }) => id === 'core-missing' || id === 'core-left');
      return [titles(result), Object.fromEntries(listed.map(({ id, items }) => [id, items.toSorted()]))];
    };
    directory.core = { ...official, 'liesmich.html': 'a'.repeat(32), 'readme.html': 'b'.repeat(32) };
    await setOptions(stack, owner, { delete_readme: 0 });
    for (const name of ['readme.html', 'wp-config-sample.php']) rmSync(path(name), { force: true });
    writeFileSync(path('wp-admin/error_log'), '[27-Nov-2026] PHP Notice: a word to the host');
    writeFileSync(path('wp-includes/.htaccess'), 'Deny from all');
    try {
      const left = ['wp-admin/error_log', 'wp-includes/.htaccess'];
      const removed = ['liesmich.html', 'readme.html', 'wp-config-sample.php'];
      expect(await notes()).toEqual([[], { 'core-missing': removed, 'core-left': left }]);
      await setOptions(stack, owner, { delete_readme: 1 });
      const others = removed.filter((name) => name !== 'readme.html');
      expect(await notes()).toEqual([[], { 'core-missing': others, 'core-left': left }]);
      // The same names do not excuse code.
      writeFileSync(path('wp-includes/.htaccess'), 'AddHandler application/x-httpd-php .jpg');
      expect(await notes()).toEqual([
        ['1 file in the folders of WordPress is not part of it'],
        { 'core-missing': others, 'core-left': left.slice(0, 1) },
      ]);
    } finally {
      for (const name of ['wp-admin/error_log', 'wp-includes/.htaccess']) rmSync(path(name), { force: true });
      await setOptions(stack, owner, { delete_readme: switchBefore });
      writeFileSync(path('wp-config-sample.php'), sample);
      if (readme !== null) writeFileSync(path('readme.html'), readme);
      directory.core = official;
    }
  });

  it('finds scripts in uploads, whatever their extension, and ignores an empty index.php', async () => {
    mkdirSync(path(`${uploads}/old`), { recursive: true });
    const write = (name: string, text: string) => writeFileSync(path(`${uploads}/${name}`), text);
    write('index.php', '<?php\n// Silence is golden.\n');
    write('photo.jpg', 'no script');
    write('old/photo.PHP.jpg', '<?php echo 1;');
    write('old/index.php', '<?php system( $_GET["c"] );');
    const { findings } = await readCheckup();
    expect(findings.map(({ title, items }) => [title, items])).toEqual([
      ['A script in uploads', [`/${uploads}/old/index.php`]],
      ['A script in uploads', [`/${uploads}/old/photo.PHP.jpg`]],
    ]);
    rmSync(path(uploads), { recursive: true });
  });

  it('removes a script in uploads, keeps a copy, and restores it', async () => {
    const file = `${uploads}/old/\u202eshell.php`;
    const content = `<?php system( $_GET["c"] ); // ${'ä'.repeat(200_000)}`;
    mkdirSync(path(`${uploads}/old`), { recursive: true });
    writeFileSync(path(file), content);
    chmodSync(path(file), 0o640);
    giveToWordPress(stack, path(uploads));
    const [finding] = (await readCheckup()).findings;
    expect(finding).toMatchObject({ check: 'uploads', remove: 'files', fact: 'A copy is kept for 30 days' });
    const response = await read('/remove-finding', { key: finding?.key });
    const { latest } = response;
    const removed = response.removed.slice(0, 1);
    expect([existsSync(path(file)), latest?.findings]).toEqual([false, []]);
    // The character that would turn the name around is spelled out.
    const shown = `/${uploads}/old/\\u202eshell.php`;
    expect(removed).toMatchObject([{ file: shown, by: stack.user }]);
    expect((removed[0]?.until ?? 0) - (removed[0]?.at ?? 0)).toBe(30 * 24 * 3600);
    expect(titles(await readCheckup())).toEqual([]);

    rmdirSync(path(`${uploads}/old`));
    await killGuard(stack);
    await startGuard(stack);
    const restored = await read('/restore-files', { ids: removed.map(({ id }) => id) });
    expect(readFileSync(path(file), 'utf8') === content).toBe(true);
    expect(statSync(path(file)).mode & 0o777).toBe(0o640);
    expect(restored.removed.map(({ id }) => id)).not.toContain(removed[0]?.id);
    expect(restored.latest?.findings.map(({ key }) => key)).toEqual([finding?.key]);
    await until('the log tells both', async () => {
      const { entries } = (await callAction(stack, owner, '/activity-registered')).body.data as {
        entries: { activity: string }[];
      };
      return [`Removed the file “${shown}”, which the checkup found`, `Restored the file “${shown}”`].every(
        (sentence) => entries.some(({ activity }) => activity === bytes(sentence)),
      );
    });
    rmSync(path(uploads), { recursive: true });
  });

  it('leaves a script that has changed since, is a link, or is named by a call of another finding', async () => {
    mkdirSync(path(uploads), { recursive: true });
    writeFileSync(path(`${uploads}/a.php`), '<?php echo 1;');
    symlinkSync(path('wp-settings.php'), path(`${uploads}/b.php`));
    giveToWordPress(stack, path(uploads));
    const { findings } = await readCheckup();
    expect(findings.map(({ files }) => files)).toEqual([[`/${uploads}/a.php`], [`/${uploads}/b.php`]]);
    writeFileSync(path(`${uploads}/a.php`), '<?php echo 2;');
    const refused = async (body: object) => {
      const { http, body: answer } = await callAction(stack, owner, '/remove-finding', body);
      return [http, answer.message];
    };
    expect(await refused({ key: findings[0]?.key })).toEqual([
      200,
      `/${uploads}/a.php was not removed. It has changed since the checkup.`,
    ]);
    expect((await refused({ key: findings[0]?.key }))[0]).toBe(404);
    expect(await refused({ key: findings[1]?.key })).toEqual([
      409,
      `/${uploads}/b.php was not removed. It is a link, or lies behind one. Ask your hosting provider to look at it.`,
    ]);
    expect((await refused({ key: `${findings[0]?.key}/../../wp-config.php` }))[0]).toBe(404);
    expect((await refused({ key: findings[1]?.key, only: [0, 1] }))[0]).toBe(400);
    expect([readFileSync(path(`${uploads}/a.php`), 'utf8'), existsSync(path('wp-settings.php'))]).toEqual([
      '<?php echo 2;',
      true,
    ]);
    rmSync(path(uploads), { recursive: true });
  });

  it('removes planted files beside those of WordPress, of which the site then works', async () => {
    for (const name of planted) {
      writeFileSync(path(name), '<?php // a door left open');
      giveToWordPress(stack, path(name));
    }
    const [finding] = (await readCheckup()).findings;
    expect(finding?.files).toEqual(planted.toSorted());
    const only = [finding?.files.indexOf('door.php'), finding?.files.indexOf('wp-admin/door.php')];
    const { latest, removed } = await read('/remove-finding', { key: finding?.key, only });
    expect(planted.map((name) => existsSync(path(name)))).toEqual([true, false, false]);
    expect(latest?.findings.map(({ files }) => files)).toEqual([[planted[0]]]);
    expect(removed.slice(0, 2).map(({ file }) => file)).toEqual(['door.php', 'wp-admin/door.php']);
    directory.fault = 'down';
    const unsure = await callAction(stack, owner, '/remove-finding', { key: latest?.findings[0]?.key });
    directory.fault = 'none';
    expect([unsure.http, existsSync(path(planted[0] ?? ''))]).toEqual([409, true]);
    expect((await read('/remove-finding', { key: latest?.findings[0]?.key })).latest?.findings).toEqual([]);
    expect(titles(await readCheckup())).toEqual([]);
  });

  it('finds a changed plugin and a script added to it, which a clean copy repairs', async () => {
    put('example-form', { 'send.php': "<?php // a line put in\nreturn 'sent';\n", 'cache/door.php': '<?php echo 1;' });
    put('example-form', { 'cache/data.json': '{}' });
    changeOwner();
    const { findings } = await readCheckup();
    expect(findings).toMatchObject([
      { check: 'plugins', title: 'Example form: 2 files are not the original ones', plugin: 'example-form/form.php' },
    ]);
    const response = await callAction(stack, owner, '/reinstall-plugins', { only: [findings[0]?.plugin] });
    expect(response.body).toMatchObject({ status: 200 });
    expectReinstalled(await endedJob(stack, owner, 'reinstall-plugins'), 'example-form/form.php');
    expect(titles(await readCheckup())).toEqual([]);
  });

  it('names a new administrator and its creator; an accepted one is omitted next time, until that is undone', async () => {
    const created = await callApi(stack, {
      path: '/wp-json/wp/v2/users',
      body: JSON.stringify({
        ...{ username: 'web-helper', email: 'web-helper@example.com', password: 'a-long-Passw0rd' },
        roles: ['administrator'],
      }),
      headers: authorised(owner),
    });
    expect(created.http).toBe(201);
    const finding = await until('the log knows of it', async () => {
      const [found] = (await readCheckup()).findings;
      return found?.text.startsWith('Created by') ? found : null;
    });
    expect(finding).toMatchObject({ title: 'New administrator: web-helper', is_new: 1, check: 'administrators' });
    expect(finding.text).toMatch(new RegExp(`^Created by ${stack.user} on .*, from 127\\.`));
    expect(finding.link).toMatch(/user-edit\.php\?user_id=\d+$/);

    const { latest } = await keep(finding, 1);
    expect([latest?.findings, latest?.kept[0]]).toMatchObject([[], { key: finding.key, by: stack.user }]);
    expect(titles(await readCheckup())).toEqual([]);
    await until('it is told in the log', async () => {
      const { entries } = (await callAction(stack, owner, '/activity-registered')).body.data as {
        entries: { activity: string }[];
      };
      const expected = bytes('Kept the finding “New administrator: web-helper” of the checkup');
      return entries.some(({ activity }) => activity === expected);
    });
    await keep(finding, 0);
    expect(titles(await readCheckup())).toEqual(['New administrator: web-helper']);
    expect((await callAction(stack, owner, '/keep-finding', { key: 'another', keep: 1 })).http).toBe(404);
  });

  it('is shown on the Security Dashboard until its findings are accepted or fixed', async () => {
    const listNotifications = async () =>
      (
        (await callAction(stack, owner, '/notifications')).body.data as {
          id: string;
          title: string;
          button_link: string;
        }[]
      ).find(({ id }) => id === 'checkup-findings');
    expect(await listNotifications()).toMatchObject({
      title: 'The checkup found one thing that needs a look',
      button_link: expect.stringContaining('post-hack-actions'),
    });
    await keep((await read()).latest?.findings[0], 1);
    expect(await listNotifications()).toBeUndefined();
  });

  it('keeps result, history and accepted findings when guard is killed', async () => {
    const { latest, earlier } = await read();
    await killGuard(stack);
    await startGuard(stack);
    const after = await read();
    expect([after.latest, after.earlier]).toEqual([latest, earlier]);
    expect(earlier).toHaveLength(4);
    const { earlier: all, more } = await read('/checkup', { all: 1 });
    expect([all.length > 4, more]).toEqual([true, 0]);
  });

  it('removes an administrator: the sessions end, the content goes to the owner, and the log tells who did it', async () => {
    const [id] = (
      await runInWordPress(
        stack,
        `$helper = get_user_by( 'login', 'web-helper' )->ID;
        wp_set_password( '${stack.password}', $helper );
        wp_insert_post( array( 'post_author' => $helper, 'post_title' => 'By the helper', 'post_status' => 'publish' ) );
        echo $helper;`,
      )
    ).split('\n');
    const helper = await logIn(stack, 'web-helper');
    const result = await readCheckup();
    const key = `administrator:${id}:web-helper`;
    await keep({ ...result.findings[0], key } as CheckupFinding, 0);
    const finding = (await read()).latest?.findings.find((found) => found.key === key);
    expect(finding).toMatchObject({ remove: 'administrator', fact: 'Removing also ends 1 open session' });
    const own = await callAction(stack, helper, '/remove-finding', { key });
    expect([own.http, own.body.message]).toEqual([409, bytes('You can’t remove yourself.')]);
    const { latest } = await read('/remove-finding', { key });
    expect(latest?.findings).toEqual([]);
    expect((await callAction(stack, helper, '/checkup')).http).toBeGreaterThanOrEqual(401);
    const left = await runInWordPress(
      stack,
      `echo get_user_by( 'login', 'web-helper' ) ? 'there' : 'gone', ' ';
      $posts = get_posts( array( 'title' => 'By the helper' ) );
      echo get_userdata( $posts[0]->post_author )->user_login;
      wp_delete_post( $posts[0]->ID, true );`,
    );
    expect(left.trim()).toBe(`gone ${stack.user}`);
    await until('the log tells it', async () => {
      const { entries } = (await callAction(stack, owner, '/activity-registered')).body.data as {
        entries: { activity: string; user: string }[];
      };
      return entries.some(({ activity }) => /Deleted .*web-helper/.test(activity));
    });
    expect(titles(await readCheckup())).toEqual([]);
    expect((await callAction(stack, owner, '/remove-finding', { key })).http).toBe(404);
  });

  it('lists recently changed settings, and who changed them', async () => {
    const rename = (title: string) =>
      callApi(stack, { path: '/wp-json/wp/v2/settings', body: JSON.stringify({ title }), headers: authorised(owner) });
    await rename('Renamed by an intruder');
    const items = await until('the change is told', async () => {
      const listNotifications = (await readCheckup()).notes.find(({ id }) => id === 'settings-changed')?.items ?? [];
      return listNotifications.some((item) => item.includes('Renamed by an intruder')) ? listNotifications : null;
    });
    expect(items[0]).toMatch(new RegExp(`^\\d{4}-\\d\\d-\\d\\d, ${stack.user}: `));
    await rename('Example site');
  });

  it('finds a privileged default role, and scheduled tasks without a handler', async () => {
    const notes = async () => (await readCheckup()).notes.map(({ id }) => id);
    expect(await notes()).not.toContain('tasks-unknown');
    await runInWordPress(
      stack,
      `update_option( 'default_role', 'administrator' ); update_option( 'users_can_register', 1 );
      wp_schedule_event( time() + 3600, 'daily', 'left_behind_task' );`,
    );
    const result = await readCheckup();
    expect(titles(result)).toEqual(['New users become Administrator']);
    expect(result.notes.find(({ id }) => id === 'tasks-unknown')?.items).toEqual(['left_behind_task']);
  });

  it('runs weekly at its own time, unless that is turned off', async () => {
    const { weekly } = await read();
    expect(weekly).toMatchObject({ weekly_checkup: 1, time: expect.stringMatching(/^0[2-4]:[0-5]\d$/) });
    expect((await callAction(stack, owner, '/weekly-checkup', { weekly_checkup: 0 })).body.status).toBe(200);
    expect((await read()).weekly.weekly_checkup).toBe(0);
    await callAction(stack, owner, '/weekly-checkup', { weekly_checkup: 1 });
  });
});

/** MD5 of every file that the checkup reads, by path. */
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
