import { toEnglish } from '@security-optimizer/contract/server-message';
import { describe, expect, it } from 'vitest';
import { siteConfig } from '../../test/support/site-config.js';
import type { InstalledPlugins, Reinstalled } from '../wordpress/connector-commands.js';
import type { StoredJob } from './jobs-store.js';
import { postHack } from './post-hack.js';
import { newReinstallation, reinstallStep } from './reinstall-plugins.js';

const site = siteConfig();
const actor = { id: 1, login: 'owner', address: '192.0.2.1' };
const directory = { api: 'https://api.example.com', downloads: '', checksums: '' };
const plugin = (file: string, kind: InstalledPlugins['plugins'][number]['kind'] = 'plugin') => ({
  ...{ file, name: file, version: '1.0', kind, active: true, network_active: false },
});
const installed: InstalledPlugins = {
  plugins: [
    plugin('form/form.php'),
    plugin('hello.php'),
    plugin('security-optimizer.php', 'must-use'),
    plugin('object-cache.php', 'drop-in'),
  ],
  users: 3,
  sessions: 1,
};
const plugins = async () => installed;
const createReinstalled = (change: Partial<Reinstalled>): Reinstalled => ({
  ...{ result: 'done', reason: '', version: '1.0', unknown_files: [], changed_files: 0, refused_file: '' },
  ...change,
});

/** Runs a reinstallation to its end. */
async function run(responses: Readonly<Record<string, Reinstalled>>): Promise<StoredJob> {
  const step = reinstallStep({
    commands: { reinstallPlugin: async (_site, file) => responses[file] as Reinstalled },
    directory,
  });
  const begun = await newReinstallation({ commands: { plugins } }, { site, actor, only: null, before: [] });
  let job: StoredJob = {
    ...{ id: 'one', site: site.id, state: 'running', startedAt: 0, endedAt: null, done: 0, summary: [], error: '' },
    ...begun,
  };
  while (job.state === 'running') job = await step(site, job);
  return job;
}

const summary = (job: StoredJob) => job.summary.map(toEnglish);
const OUTSIDE = '2 must-use plugins and drop-ins stay as they are, since they don’t come from the plugin directory.';

describe('a reinstallation', () => {
  it('has one row for each plugin that the page announces, and counts the others in its summary', async () => {
    const known = { runner: {} as never, store: { latest: async () => [] } as never, callerSessions: {} as never };
    const { facts } = await postHack({ ...known, commands: { plugins } }).jobs(site);
    const job = await run({
      'form/form.php': createReinstalled({}),
      'hello.php': createReinstalled({ result: 'skipped', reason: 'not_free' }),
    });
    expect(facts.plugins).toBe(2);
    expect(job.items.map(({ id }) => id)).toEqual(['form/form.php', 'hello.php']);
    expect([job.done, job.total]).toEqual([2, 2]);
    expect(summary(job)).toEqual(['1 plugin has a clean copy.', '1 plugin was skipped.', OUTSIDE]);
  });

  it('says that a plugin could not be checked while the directory does not respond, and nothing else', async () => {
    const silent = createReinstalled({ result: 'failed', reason: 'directory_unreachable' });
    const job = await run({ 'form/form.php': silent, 'hello.php': silent });
    expect(job.items.map(({ state, reason }) => [state, reason])).toEqual([
      ['unchecked', 'The plugin directory does not answer.'],
      ['unchecked', 'The plugin directory does not answer.'],
    ]);
    expect(summary(job)).toEqual(['2 plugins could not be checked. They stay as they are.', OUTSIDE]);
  });

  it('names the file for which a package was refused', async () => {
    const differs = createReinstalled({
      result: 'failed',
      reason: 'checksum_differs',
      refused_file: 'inc/a\u202e.php',
    });
    const unknown = createReinstalled({ result: 'failed', reason: 'not_on_list', refused_file: 'b.php' });
    const job = await run({ 'form/form.php': differs, 'hello.php': unknown });
    expect(job.items.map(({ reason }) => toEnglish(reason))).toEqual([
      'The download was damaged or changed: inc/a\\u202e.php. The old copy is still in place.',
      'The download holds b.php, of which the plugin directory has no checksum. The old copy is still in place.',
    ]);
  });

  it('does not mention clean copies when there is none', async () => {
    const broken = createReinstalled({ result: 'failed', reason: 'download_failed' });
    const job = await run({
      'form/form.php': broken,
      'hello.php': createReinstalled({ result: 'skipped', reason: 'not_free' }),
    });
    expect(summary(job)).toEqual(['1 plugin failed.', '1 plugin was skipped.', OUTSIDE]);
  });
});
