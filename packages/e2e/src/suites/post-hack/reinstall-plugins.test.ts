import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { logIn, type Session } from '../../http/session.js';
import { killGuard, startGuard } from '../../stacks/guard-process.js';
import { type PluginDirectory, startPluginDirectory, usePluginDirectory } from '../../stacks/plugin-directory.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { act, endedJob, latestJob, pluginHeader, pluginsOnDisk } from './actions.js';

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

onUnlikeStacks('Reinstall all', (stack) => {
  let owner: Session;
  let directory: PluginDirectory;
  let restore: () => Promise<void>;
  const { path, put, remove, handOver } = pluginsOnDisk(stack);
  const active = async (file: string) =>
    (await runInWordPress(
      stack,
      `echo in_array( '${file}', get_option( 'active_plugins' ), true ) ? 'yes' : 'no';`,
    )) === 'yes';
  const reinstall = async (body: object = {}) => {
    expect((await act(stack, owner, '/reinstall-plugins', body)).body.status).toBe(200);
    return endedJob(stack, owner, 'reinstall-plugins');
  };

  beforeAll(async () => {
    directory = await startPluginDirectory([form, shop, namesake]);
    restore = await usePluginDirectory(stack, directory.url);
    owner = await logIn(stack);
  });
  afterAll(async () => {
    await runInWordPress(
      stack,
      "update_option( 'active_plugins', array_values( array_diff( get_option( 'active_plugins' ), array( 'example-form/form.php' ) ) ) );",
    );
    remove('example-form', 'example-shop', 'our-own');
    await restore();
    await directory.close();
  });
  beforeEach(async () => {
    directory.fault = 'none';
    directory.delayMs = 0;
    remove('example-form', 'example-shop', 'our-own');
    put('example-form', form.files);
    put('example-shop', shop.files);
    put('our-own', own);
    // What an intruder leaves behind: a file of its own, and a line in a file of the plugin.
    put('example-form', {
      'includes/cache.php': '<?php // a door left open',
      'includes/send.php': "<?php // a line put in\nreturn 'sent';\n",
    });
    handOver();
    await runInWordPress(
      stack,
      "require_once ABSPATH . 'wp-admin/includes/plugin.php'; wp_clean_plugins_cache(); activate_plugin( 'example-form/form.php' );",
    );
  });

  it('removes a planted file and a changed line; the plugin stays active', async () => {
    const job = await reinstall();
    expect(job.items.find(({ id }) => id === 'example-form/form.php')).toMatchObject({
      state: 'done',
      version: '1.2.3',
      files: ['includes/cache.php'],
    });
    expect(existsSync(path('example-form/includes/cache.php'))).toBe(false);
    expect(readFileSync(path('example-form/includes/send.php'), 'utf8')).toBe(form.files['includes/send.php']);
    expect(await active('example-form/form.php')).toBe(true);
    expect(await active('example-shop/example-shop.php')).toBe(false);
    expect(job.state).toBe('done');
  });

  it('is told in the activity log', async () => {
    await reinstall();
    const told = await until('the end is told', async () => {
      const { body } = await act(stack, owner, '/activity-registered');
      const { entries } = body.data as { entries: { activity: string; user: string }[] };
      return entries.find(({ activity }) => activity.startsWith('Ran Reinstall all. ') && /clean cop/.test(activity));
    });
    expect(told.user).toBe(stack.user);
  });

  it('leaves alone what does not come from the directory, and says why', async () => {
    const job = await reinstall();
    const item = (id: string) => job.items.find((entry) => entry.id === id);
    expect(item('our-own/our-own.php')).toMatchObject({ state: 'skipped' });
    expect(item('our-own/our-own.php')?.reason).toContain('another plugin of the same name');
    expect(readFileSync(path('our-own/our-own.php'), 'utf8')).toBe(own['our-own.php']);
    // What the page announces is what it lists.
    const { facts } = (await act(stack, owner, '/post-hack-jobs')).body.data as { facts: { plugins: number } };
    expect(job.items).toHaveLength(facts.plugins);
    expect(item('security-optimizer.php')).toBeUndefined();
    expect(job.summary.join(' ')).toMatch(/\d+ must-use plugins?/);
  });

  it.each([
    ['broken-off', 'failed', 'The download failed'],
    ['changed', 'failed', 'damaged or changed'],
    ['down', 'unchecked', 'does not answer'],
  ] as const)(
    'keeps the old copy working when the download is %s, and tries again by itself alone',
    async (fault, state, says) => {
      directory.fault = fault;
      const failed = await reinstall();
      const item = failed.items.find(({ id }) => id === 'example-form/form.php');
      expect([item?.state, item?.reason.includes(says)]).toEqual([state, true]);
      expect(existsSync(path('example-form/includes/cache.php'))).toBe(true);
      expect(await runInWordPress(stack, "echo defined( 'EXAMPLE_FORM' ) ? 'runs' : 'gone';")).toBe('runs');

      directory.fault = 'none';
      const again = await reinstall({ only: ['example-form/form.php'] });
      expect(again.items.find(({ id }) => id === 'example-form/form.php')?.state).toBe('done');
      // What became of the others is still there, and they were not fetched again.
      const others = ({ items }: typeof failed) => items.filter(({ id }) => id !== 'example-form/form.php');
      expect(others(again)).toEqual(others(failed));
      expect([again.done, again.total]).toEqual([failed.total, failed.total]);
      expect(existsSync(path('example-form/includes/cache.php'))).toBe(false);
    },
  );

  it('does not say that a single file is no free plugin when the directory could not be asked', async () => {
    put('.', { 'example-hello.php': pluginHeader('Example hello', '1.0') });
    handOver();
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

  it('is joined by a second start, and goes on when guard is killed in the middle', async () => {
    directory.delayMs = 400;
    const first = (await act(stack, owner, '/reinstall-plugins')).body.data as { job: { id: string } };
    const second = (await act(stack, owner, '/reinstall-plugins')).body.data as { job: { id: string } };
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
    expect(job.items.find(({ id }) => id === 'example-form/form.php')?.state).toBe('done');
    expect(existsSync(path('example-form/includes/cache.php'))).toBe(false);
  });

  it('leaves nothing beside the plugins', async () => {
    await reinstall();
    const upgrade = join(stack.wordpressDir, 'wp-content/upgrade');
    const left = existsSync(upgrade) ? readdirSync(upgrade) : [];
    expect(left.filter((name) => name.startsWith('security-optimizer'))).toEqual([]);
    expect(existsSync(join(stack.wordpressDir, '.maintenance'))).toBe(false);
  });
});
