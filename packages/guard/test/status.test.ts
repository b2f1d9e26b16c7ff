import { utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { statusReport } from '../src/cli/status-report.js';
import { loadConfig } from '../src/config/load-config.js';
import { lockDataDir } from '../src/storage/data-dir-lock.js';
import { runInChild, serve } from './support/command-line.js';
import { fakeConnector } from './support/fake-connector.js';
import { freePort } from './support/front-proxy.js';
import { dataFolderFor } from './support/running-guard.js';
import { eventually } from './support/scratch.js';
import { SECRET } from './support/site-config.js';
import { webServer } from './support/upstream-server.js';

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
  it('checks many at a time, and lists them in the order of the configuration', async () => {
    const { connector, dataDir } = await manySites(100);
    let open = 0;
    let release = (): void => {};
    const full = new Promise<void>((resolve) => {
      release = resolve;
    });
    connector.hold = () => {
      // The first 32 wait for each other, so checking one at a time would never end.
      if (++open === 32) release();
      return full;
    };
    const { report } = await status(dataDir);
    expect(report.sites.map(({ id }: { id: string }) => id)).toEqual(
      Array.from({ length: 100 }, (_, at) => `site-${at}`),
    );
  });

  it('does not have the others wait for sites that hang', async () => {
    const [fast, hanging] = [await fakeConnector(), await fakeConnector()];
    const toSite = (upstream: string) => (_: unknown, at: number) => {
      const id = `${upstream === fast.upstream ? 'fast' : 'slow'}-${at}`;
      return { id, hosts: [`${id}.example.com`], upstream };
    };
    const sites = [
      ...Array.from({ length: 200 }, toSite(fast.upstream)),
      ...Array.from({ length: 40 }, toSite(hanging.upstream)),
      { id: 'last', hosts: ['last.example.com'], upstream: fast.upstream },
    ];
    const dataDir = await dataFolderFor(fast, {}, { sites });
    for (const { id } of sites) await writeFile(join(dataDir, 'sites', `${id}.secret`), SECRET, { mode: 0o600 });
    let release = (): void => {};
    const isLastReached = new Promise<void>((resolve) => {
      release = resolve;
    });
    // More sites than are checked at a time hang until the last one is reached.
    hanging.hold = () => isLastReached;
    fast.onRequest = (_, { headers }) => headers.host === 'last.example.com' && release();
    const { report } = await status(dataDir);
    expect(new Set(report.sites.map(({ connector }: { connector: string }) => connector))).toEqual(new Set(['ok']));
  });

  it('lists one site, or those with a host, on request', async () => {
    const { connector, dataDir } = await manySites(12);
    const requested: (string | null)[] = [];
    // Visits to the upstream web server are not commands.
    connector.onRequest = (command) => command !== null && command !== 'probe' && requested.push(command);
    const one = await status(dataDir, '--site', 'site-3');
    expect(one.report.sites).toMatchObject([{ id: 'site-3' }]);
    // One command has the state of the connector, and whether the upstream web server sees a visitor's address.
    expect(requested).toEqual(['hello']);
    const some = await status(dataDir, '--host', 'SITE-1');
    expect(some.report.sites.map(({ id }: { id: string }) => id)).toEqual(['site-1', 'site-10', 'site-11']);
  });

  it.each([
    [['--site', 'other'], '--site: no site has the id other.'],
    [['--host', 'exmaple'], '--host: no site has a host that contains exmaple.'],
    [['--site', 'site-0', '--host', 'site-1'], '--host: none of the sites site-0 has a host that contains site-1.'],
    [['--problems', '--host', 'exmaple'], '--host: no site has a host that contains exmaple.'],
  ])('reports that %j matches nothing', async (filter, message) => {
    const { dataDir } = await manySites(2);
    const outcome = await runInChild('status', '--data-dir', dataDir, ...filter);
    expect(outcome).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(message) });
  });

  it('is short as text: what many sites have in common is said once', async () => {
    const { dataDir } = await manySites(150);
    const { stdout } = await runInChild('status', '--data-dir', dataDir);
    expect(stdout).toContain(
      'Sites:     150, of which 100 with problems are shown; --site, --host and --json show others',
    );
    expect(stdout).toContain(
      '  150 sites (site-0, site-1, site-2 and 147 more): WordPress does not run the stored policy yet.',
    );
    expect(stdout.match(/does not run the stored policy/g)).toHaveLength(1);
    expect(stdout.match(/^Site site-/gm)).toHaveLength(100);
    const few = await runInChild('status', '--data-dir', dataDir, '--site', 'site-7');
    expect(few.stdout).toMatch(/^Site site-7 \(/m);
    expect(few.stdout).toContain('  Site site-7: WordPress does not run the stored policy yet.');
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

/** Holds the lock of a data folder, as a guard that starts, which will listen at this port. */
async function startingGuard() {
  const connector = await fakeConnector();
  const port = await freePort();
  const dataDir = await dataFolderFor(connector, {}, { listen: `127.0.0.1:${port}` });
  const lock = await lockDataDir(dataDir, { served: ['site'], quarantined: [] });
  onTestFinished(() => lock.release());
  return { dataDir, port, config: await loadConfig({ dataDir, env: {} }) };
}

describe('status of a guard that does not answer', () => {
  it('waits for one that has just started', async () => {
    const { port, config } = await startingGuard();
    const report = statusReport(config);
    const server = createServer((_, response) => response.writeHead(401).end());
    setTimeout(() => server.listen(port, '127.0.0.1'), 300);
    onTestFinished(() => void server.close());
    expect((await report).guard).toMatchObject({ running: true, answers: true });
  });

  it('does not wait for one that has started earlier', async () => {
    const { dataDir, config } = await startingGuard();
    await utimes(join(dataDir, 'guard.pid'), 1, 1);
    const report = await statusReport(config);
    expect(report.guard).toMatchObject({ running: true, answers: false });
    expect(report.problems).toContain(`Guard is running, but does not answer on ${report.guard.listen}.`);
  });

  it('does not wait for one that has ended', async () => {
    const connector = await fakeConnector();
    const config = await loadConfig({ dataDir: await dataFolderFor(connector), env: {} });
    expect((await statusReport(config)).guard).toMatchObject({ running: false, answers: false });
  });
});

describe('status of a site whose web server refuses visitors from elsewhere', () => {
  it('asks as guard itself, and does not know whether it sees visitors', async () => {
    const { connector, upstream } = await webServer((request, response) => {
      if (request.headers['x-forwarded-for'] === '127.0.0.1') return false;
      response.writeHead(403).end();
      return true;
    });
    connector.addressSeen = () => true;
    const { report } = await status(await dataFolderFor({ upstream }));
    expect(report.sites).toMatchObject([{ connector: 'ok', visitors: null }]);
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
