import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordedLog } from '../../test/support/logs.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { siteConfig } from '../../test/support/site-config.js';
import type { SiteConfig } from '../site.js';
import { toReleasesFile } from '../wordpress/installed-releases.js';
import { createReleaseWatch } from './release-watch.js';

/** A site whose path leads to a release with the connector when guard starts. */
async function watchedSite(count = 1) {
  const root = await scratchFolder();
  mkdirSync(join(root, 'sites'));
  const log = recordedLog();
  const changed: string[] = [];
  const release = (name: string) => join(root, 'releases', name);
  const leadTo = (name: string, path = 'current') => {
    mkdirSync(release(name), { recursive: true });
    symlinkSync(release(name), join(root, 'next'));
    renameSync(join(root, 'next'), join(root, path));
  };
  const install = (...names: readonly string[]) => {
    const folders = names.map((name) => ({ wordpressDir: release(name), muPluginsDir: release(name), files: [] }));
    writeFileSync(toReleasesFile(root, 'site'), JSON.stringify(folders));
  };
  leadTo('1');
  install('1');
  const others = Array.from({ length: count - 1 }, (_, at) => siteConfig({ id: `other-${at}`, wordpressDir: root }));
  const sites: SiteConfig[] = [...others, siteConfig({ wordpressDir: join(root, 'current') })];
  const watch = createReleaseWatch({
    dataDir: root,
    sites,
    onChanged: ({ id }) => void changed.push(id),
    logger: log.logger,
  });
  return { root, sites, watch, log, changed, release, leadTo, install };
}

describe('the release watch', () => {
  it('logs once and at once which release lacks the connector, and reports the change', async () => {
    const { watch, log, changed, leadTo, release, root } = await watchedSite();
    await watch.runRound();
    expect([log.events(), changed]).toEqual([[], []]);
    leadTo('2');
    for (let round = 0; round < 3; round++) await watch.runRound();
    expect(log.events()).toEqual(['release-without-connector']);
    expect(JSON.parse(log.text())).toMatchObject({
      site: 'site',
      path: join(root, 'current'),
      release: release('2'),
      msg: expect.stringContaining('attach --all'),
    });
    expect(changed).toEqual(['site']);
  });

  it('reports a change when the connector was installed there, and after a roll-back', async () => {
    const { watch, log, changed, leadTo, install } = await watchedSite();
    await watch.runRound();
    leadTo('2');
    await watch.runRound();
    install('1', '2');
    await watch.runRound();
    expect(changed).toEqual(['site', 'site']);
    await watch.runRound();
    leadTo('1');
    await watch.runRound();
    expect(changed).toEqual(['site', 'site', 'site']);
    expect(log.events()).toEqual(['release-without-connector']);
  });

  it('logs it when guard starts with such a release', async () => {
    const { watch, log, leadTo } = await watchedSite();
    leadTo('2');
    await watch.runRound();
    expect(log.events()).toEqual(['release-without-connector']);
  });

  it('logs nothing for a release that had the connector before it became current, and reports the change', async () => {
    const { watch, log, changed, leadTo, install } = await watchedSite();
    await watch.runRound();
    install('1', '2');
    leadTo('2');
    await watch.runRound();
    expect([log.events(), changed]).toEqual([[], ['site']]);
  });

  it('ignores a broken link, a damaged list, and a removed site', async () => {
    const { watch, log, changed, leadTo, root, sites } = await watchedSite();
    await watch.runRound();
    rmSync(join(root, 'current'));
    await watch.runRound();
    writeFileSync(toReleasesFile(root, 'site'), '{');
    leadTo('2');
    await watch.runRound();
    sites.length = 0;
    await watch.runRound();
    expect([log.events(), changed]).toEqual([[], ['site']]);
  });

  it('checks thousands of sites in several rounds', async () => {
    const { watch, log, leadTo } = await watchedSite(450);
    leadTo('2');
    for (const expected of [[], [], ['release-without-connector']]) {
      await watch.runRound();
      expect(log.events()).toEqual(expected);
    }
  });
});
