import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { logIn, type Session } from '../../http/session.js';
import { killGuard, startGuard } from '../../stacks/guard-process.js';
import {
  type OfferedPlugin,
  type PluginDirectory,
  startPluginDirectory,
  toChecksums,
  usePluginDirectory,
} from '../../stacks/plugin-directory.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { callAction, endedJob, expectReinstalled, latestJob, pluginHeader, pluginsOnDisk } from './helpers.js';

const form = {
  slug: 'example-form',
  name: 'Example form',
  version: '1.2.3',
  files: {
    'form.php': `${pluginHeader('Example form', '1.2.3')}define( 'EXAMPLE_FORM', 1 );\n`,
    'includes/send.php': "<?php\nreturn 'sent';\n",
    'readme.txt': '=== Example form ===\n',
  },
};
const shop = {
  slug: 'example-shop',
  name: 'Example shop',
  version: '2.0',
  files: { 'example-shop.php': `${pluginHeader('Example shop', '2.0')}\n` },
};
/** The directory offers another plugin of the same name. */
const namesake = {
  slug: 'our-own',
  name: 'Another one',
  version: '1.0',
  files: { 'our-own.php': pluginHeader('Another one', '1.0') },
};
const own = { 'our-own.php': pluginHeader('Our own', '1.0').replace('Author: Example', 'Author: Ourselves') };

/** A single-file plugin. */
const hello = {
  slug: 'hello-shelf',
  name: 'Hello shelf',
  version: '1.7',
  files: { 'hello-shelf.php': `${pluginHeader('Hello shelf', '1.7')}\n`, 'readme.txt': 'Hello' },
};
/** Packages of the public directory, and malicious ones. */
const listOnly = { 'img/old.png': { md5: '0'.repeat(32), sha256: '0'.repeat(64) }, '../../evil.php': { md5: [] } };
const several = {
  'includes/send.php': { sha256: ['0'.repeat(64), toChecksums(form.files)['includes/send.php']?.sha256] },
};
const packages: readonly (readonly [string, Partial<OfferedPlugin>, string])[] = [
  ['names on the list that the package lacks', { listed: listOnly }, ''],
  ['several checksums for one file', { listed: several }, ''],
  ['a file that is not on the list', { packed: [['example-form/more.php', '<?php']] }, 'holds more.php, of which'],
  ['a file beside its folder', { packed: [['evil.php', '<?php']] }, 'holds ../evil.php, of which'],
  [
    'a backslash in a name',
    { packed: [['example-form/includes\\send.php', '<?php']] },
    'holds includes\\send.php, of which',
  ],
  ['a link', { packed: [['example-form/link.php', '/etc/passwd', 'link']] }, 'holds link.php, of which'],
  ['a file twice, the second time changed', { packed: [['example-form/form.php', '<?php']] }, 'changed: form.php.'],
  ['another sum for a file', { listed: { 'form.php': { md5: '0'.repeat(32) } } }, 'changed: form.php.'],
];

onUnlikeStacks('Reinstall all', (stack) => {
  let owner: Session;
  let directory: PluginDirectory;
  let restore: () => Promise<void>;
  const { path, put, remove, changeOwner } = pluginsOnDisk(stack);
  const active = async (file: string) =>
    (await runInWordPress(
      stack,
      `echo in_array( '${file}', get_option( 'active_plugins' ), true ) ? 'yes' : 'no';`,
    )) === 'yes';
  const reinstall = async (body: object = {}) => {
    expect((await callAction(stack, owner, '/reinstall-plugins', body)).body.status).toBe(200);
    return endedJob(stack, owner, 'reinstall-plugins');
  };

  beforeAll(async () => {
    directory = await startPluginDirectory([form, shop, namesake, hello]);
    restore = await usePluginDirectory(stack, directory.url);
    owner = await logIn(stack);
  });
  afterAll(async () => {
    await runInWordPress(
      stack,
      "update_option( 'active_plugins', array_values( array_diff( get_option( 'active_plugins' ), array( 'example-form/form.php' ) ) ) );",
    );
    remove('example-form', 'example-shop', 'our-own', 'hello-shelf.php', 'neighbour.php');
    await restore();
    await directory.close();
  });
  beforeEach(async () => {
    directory.fault = 'none';
    directory.delayMs = 0;
    Object.assign(form, { listed: undefined, packed: undefined });
    remove('hello-shelf.php', 'neighbour.php');
    remove('example-form', 'example-shop', 'our-own');
    put('example-form', form.files);
    put('example-shop', shop.files);
    put('our-own', own);
    // Traces of an intruder: an added file, and a line in a file of the plugin.
    put('example-form', {
      'includes/cache.php': '<?php // a door left open',
      'includes/send.php': "<?php // a line put in\nreturn 'sent';\n",
    });
    changeOwner();
    await runInWordPress(
      stack,
      "require_once ABSPATH . 'wp-admin/includes/plugin.php'; wp_clean_plugins_cache(); activate_plugin( 'example-form/form.php' );",
    );
  });

  it('removes a planted file and a changed line; the plugin stays active', async () => {
    const job = await reinstall();
    expect(expectReinstalled(job, 'example-form/form.php')).toMatchObject({
      version: '1.2.3',
      files: ['includes/cache.php'],
    });
    expect(existsSync(path('example-form/includes/cache.php'))).toBe(false);
    expect(readFileSync(path('example-form/includes/send.php'), 'utf8')).toBe(form.files['includes/send.php']);
    expect(await active('example-form/form.php')).toBe(true);
    expect(await active('example-shop/example-shop.php')).toBe(false);
  });

  it('is recorded in the activity log', async () => {
    expectReinstalled(await reinstall(), 'example-form/form.php');
    const row = await until('the end is told', async () => {
      const { body } = await callAction(stack, owner, '/activity-registered');
      const { entries } = body.data as { entries: { activity: string; user: string }[] };
      return entries.find(({ activity }) => activity.startsWith('Ran Reinstall all. ') && /clean cop/.test(activity));
    });
    expect(row.user).toBe(stack.user);
  });

  it('skips plugins that are not from the directory, and says why', async () => {
    const job = await reinstall();
    const item = (id: string) => job.items.find((entry) => entry.id === id);
    expect(item('our-own/our-own.php')).toMatchObject({ state: 'skipped' });
    expect(item('our-own/our-own.php')?.reason).toContain('another plugin of the same name');
    expect(readFileSync(path('our-own/our-own.php'), 'utf8')).toBe(own['our-own.php']);
    // The page announces the plugins that it lists.
    const { facts } = (await callAction(stack, owner, '/post-hack-jobs')).body.data as { facts: { plugins: number } };
    expect(job.items).toHaveLength(facts.plugins);
    expect(item('security-optimizer.php')).toBeUndefined();
    expect(job.summary.join(' ')).toMatch(/\d+ must-use plugins?/);
  });

  it.each([
    ['broken-off', 'failed', 'The download failed'],
    ['changed', 'failed', 'damaged or changed'],
    ['down', 'unchecked', 'does not answer'],
  ] as const)(
    'keeps the old copy working when the download is %s, and retries only that plugin',
    async (fault, state, message) => {
      directory.fault = fault;
      const failed = await reinstall();
      const item = failed.items.find(({ id }) => id === 'example-form/form.php');
      expect([item?.state, item?.reason.includes(message)]).toEqual([state, true]);
      expect(existsSync(path('example-form/includes/cache.php'))).toBe(true);
      expect(await runInWordPress(stack, "echo defined( 'EXAMPLE_FORM' ) ? 'runs' : 'gone';")).toBe('runs');

      directory.fault = 'none';
      const again = await reinstall({ only: ['example-form/form.php'] });
      expectReinstalled(again, 'example-form/form.php');
      // The results of the others are kept, and they were not downloaded again.
      const others = ({ items }: typeof failed) => items.filter(({ id }) => id !== 'example-form/form.php');
      expect(others(again)).toEqual(others(failed));
      expect([again.done, again.total]).toEqual([failed.total, failed.total]);
      expect(existsSync(path('example-form/includes/cache.php'))).toBe(false);
    },
  );

  it('does not report a single-file plugin as unknown when the directory did not answer', async () => {
    put('.', { 'example-hello.php': pluginHeader('Example hello', '1.0') });
    changeOwner();
    const hello = async () => {
      const job = await reinstall({ only: ['example-hello.php'] });
      return job.items.find(({ id }) => id === 'example-hello.php');
    };
    directory.fault = 'down';
    expect(await hello()).toMatchObject({ state: 'unchecked', reason: 'The plugin directory does not answer.' });
    directory.fault = 'none';
    expect(await hello()).toMatchObject({ state: 'skipped', reason: 'Not a free plugin of the plugin directory.' });
    remove('example-hello.php');
  });

  it('is joined by a second start, and continues when guard is killed in between', async () => {
    directory.delayMs = 400;
    const first = (await callAction(stack, owner, '/reinstall-plugins')).body.data as { job: { id: string } };
    const second = (await callAction(stack, owner, '/reinstall-plugins')).body.data as { job: { id: string } };
    expect(second.job.id).toBe(first.job.id);
    await until(
      'one plugin runs',
      async () =>
        (await latestJob(stack, owner, 'reinstall-plugins'))?.items.some(({ state }) => state === 'running') === true,
    );
    await killGuard(stack);
    await startGuard(stack);
    const job = await endedJob(stack, owner, 'reinstall-plugins');
    expect(job.id).toBe(first.job.id);
    expectReinstalled(job, 'example-form/form.php');
    expect(existsSync(path('example-form/includes/cache.php'))).toBe(false);
  });

  it.each(packages)('verifies each file of a package with %s', async (_what, change, refused) => {
    Object.assign(form, change);
    const job = await reinstall({ only: ['example-form/form.php'] });
    const item = job.items.find(({ id }) => id === 'example-form/form.php');
    expect([item?.state, item?.reason]).toEqual(
      refused === '' ? ['done', expect.stringContaining('replaced')] : ['failed', expect.stringContaining(refused)],
    );
    // Rejected as a whole: the old copy is unchanged.
    expect(existsSync(path('example-form/includes/cache.php'))).toBe(refused !== '');
    expect(existsSync(path('example-form/more.php'))).toBe(false);
    expect(existsSync(join(stack.wordpressDir, 'wp-content/evil.php'))).toBe(false);
    expect(await active('example-form/form.php')).toBe(true);
  });

  it('replaces a single-file plugin in place, and changes nothing beside it', async () => {
    const neighbour = pluginHeader('Neighbour', '1.0');
    put('.', { 'hello-shelf.php': `${hello.files['hello-shelf.php']}// a line put in\n`, 'neighbour.php': neighbour });
    changeOwner();
    const before = readdirSync(path('.')).sort();
    const job = await reinstall({ only: ['hello-shelf.php'] });
    const item = expectReinstalled(job, 'hello-shelf.php');
    expect(item).toMatchObject({ version: '1.7', files: [] });
    expect(item.reason).toContain('1 changed file was replaced');
    expect(readFileSync(path('hello-shelf.php'), 'utf8')).toBe(hello.files['hello-shelf.php']);
    expect(readFileSync(path('neighbour.php'), 'utf8')).toBe(neighbour);
    expect(existsSync(path('example-form/includes/cache.php'))).toBe(true);
    expect(readdirSync(path('.')).sort()).toEqual(before);
  });

  it('leaves no temporary files beside the plugins', async () => {
    await reinstall();
    const upgrade = join(stack.wordpressDir, 'wp-content/upgrade');
    const left = existsSync(upgrade) ? readdirSync(upgrade) : [];
    expect(left.filter((name) => name.startsWith('security-optimizer'))).toEqual([]);
    expect(existsSync(join(stack.wordpressDir, '.maintenance'))).toBe(false);
  });
});
