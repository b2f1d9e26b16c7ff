import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runInChild, serve } from './support/command-line.js';
import { fakeConnector } from './support/fake-connector.js';
import { dataFolderFor } from './support/running-guard.js';
import { eventually } from './support/scratch.js';
import { SECRET } from './support/site-config.js';

/** A data folder with this many sites behind one WordPress. */
async function manySites(count: number) {
  const connector = await fakeConnector();
  const sites = Array.from({ length: count }, (_, at) => ({
    id: `site-${at}`,
    hosts: [`site-${at}.example.com`],
    upstream: connector.upstream,
  }));
  const dataDir = await dataFolderFor(connector, {}, { sites });
  for (const { id } of sites) await writeFile(join(dataDir, 'sites', `${id}.secret`), SECRET, { mode: 0o600 });
  return { connector, dataDir };
}

const status = async (dataDir: string, ...more: string[]) => {
  const { stdout, stderr } = await runInChild('status', '--data-dir', dataDir, '--json', ...more);
  return { report: stdout === '' ? null : JSON.parse(stdout), stderr };
};

describe('status of many sites', () => {
  it('checks at most 32 at a time, and lists them in the order of the configuration', async () => {
    const { connector, dataDir } = await manySites(100);
    let open = 0;
    let max = 0;
    let release = (): void => {};
    const full = new Promise<void>((resolve) => {
      release = resolve;
    });
    connector.hold = async () => {
      open++;
      max = Math.max(max, open);
      // The first 32 wait for each other, so checking one at a time would never end.
      if (open === 32) release();
      await full;
      open--;
    };
    const { report } = await status(dataDir);
    expect(max).toBe(32);
    expect(report.sites.map(({ id }: { id: string }) => id)).toEqual(
      Array.from({ length: 100 }, (_, at) => `site-${at}`),
    );
  });

  it('lists one site, or those with a host, on request', async () => {
    const { connector, dataDir } = await manySites(12);
    const requested: (string | null)[] = [];
    // Visits to the upstream web server are not commands.
    connector.onRequest = (command) => command !== null && command !== 'probe' && requested.push(command);
    const one = await status(dataDir, '--site', 'site-3');
    expect(one.report.sites).toMatchObject([{ id: 'site-3' }]);
    // The state of the connector, and the address that the upstream web server sees.
    expect(requested).toEqual(['hello', 'hello']);
    const some = await status(dataDir, '--host', 'SITE-1');
    expect(some.report.sites.map(({ id }: { id: string }) => id)).toEqual(['site-1', 'site-10', 'site-11']);
    expect((await status(dataDir, '--site', 'other')).stderr).toContain('--site: no site has the id other.');
  });

  it('lists only sites with a problem on request', async () => {
    const [healthy, failing] = [await fakeConnector(), await fakeConnector()];
    failing.mode = 'gone';
    const sites = [
      { id: 'well', hosts: ['well.example.com'], upstream: healthy.upstream },
      { id: 'ill', hosts: ['ill.example.com'], upstream: failing.upstream },
    ];
    const dataDir = await dataFolderFor(healthy, {}, { sites });
    for (const { id } of sites) await writeFile(join(dataDir, 'sites', `${id}.secret`), SECRET, { mode: 0o600 });
    await serve(dataDir);
    await eventually(() => healthy.policy !== null);
    const ids = ({ report }: { report: { sites: { id: string }[] } }) => report.sites.map(({ id }) => id);
    expect(ids(await status(dataDir))).toEqual(['well', 'ill']);
    expect(ids(await status(dataDir, '--problems'))).toEqual(['ill']);
  });
});

describe('status of a machine that trusts every address as a proxy', () => {
  it.each([
    ['for all sites', { trustedProxies: ['192.0.2.1', '0.0.0.0/0'] }, {}],
    ['for one site', {}, { trustedProxies: ['::/0'] }],
  ])('warns %s, and so does guard’s log', async (_for, more, site) => {
    const connector = await fakeConnector();
    const dataDir = await dataFolderFor(connector, site, more);
    const { report } = await status(dataDir);
    expect(report.warnings.join()).toContain('A range in trustedProxies means everybody');
    const { log } = await serve(dataDir);
    expect(log()).toContain('everybody-trusted');
  });
});

describe('status of a site whose time zone differs from guard’s table', () => {
  it.each([
    ['America/Nowhere', -3 * 3600],
    ['Europe/Berlin', -3 * 3600],
  ])('warns of %s, and uses the clock that WordPress reports', async (timezone, offset) => {
    const connector = await fakeConnector();
    connector.names = { timezone, clock: { time: Math.floor(Date.now() / 1000), offset } };
    const { report } = await status(await dataFolderFor(connector));
    expect(report.sites).toMatchObject([{ connector: 'ok', unknownTimeZone: timezone }]);
    expect(report.warnings.join()).toContain(
      `guard’s table of time zones lacks ${timezone}, or has other rules for it, so guard goes by the site’s own clock.`,
    );
  });

  it('has no warning where both agree', async () => {
    const connector = await fakeConnector();
    connector.names = { timezone: '+05:45', clock: { time: Math.floor(Date.now() / 1000), offset: 20_700 } };
    const { report } = await status(await dataFolderFor(connector));
    expect(report.sites).toMatchObject([{ unknownTimeZone: null }]);
    expect(report.warnings.join()).not.toContain('time zones');
  });
});
