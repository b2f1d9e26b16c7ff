import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runInChild, serve } from '../test/support/command-line.js';
import { fakeConnector } from '../test/support/fake-connector.js';
import { recordedLog } from '../test/support/logs.js';
import { dataFolderFor, runningGuard } from '../test/support/running-guard.js';
import { eventually } from '../test/support/scratch.js';
import { SECRET } from '../test/support/site-config.js';
import { wordpressFolder } from '../test/support/wordpress-folder.js';
import { secretFile } from './config/load-config.js';

/** A web server that counts its requests. */
async function countingServer() {
  let calls = 0;
  const server = createServer((_request, response) => {
    calls++;
    response.end('from WordPress');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { upstream: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls: () => calls };
}

/** Two sites of one guard. The tests damage the secret of the second one. */
async function twoSites(hosts: readonly string[] = ['bad.example.com', 'www.bad.example.com']) {
  const [good, bad] = [await fakeConnector(), await countingServer()];
  const sites = [
    { id: 'good', upstream: good.upstream, hosts: ['good.example.com'] },
    { id: 'bad', upstream: bad.upstream, hosts },
  ];
  const dataDir = await dataFolderFor(good, {}, { sites, metrics: { listen: '127.0.0.1:0' } });
  for (const { id } of sites) await writeFile(secretFile(dataDir, id), SECRET, { mode: 0o600 });
  return { good, bad, dataDir, secret: secretFile(dataDir, 'bad') };
}

interface HttpResponse {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

function send(url: string, host: string, path = '/', headers: Record<string, string> = {}): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}${path}`, { headers: { host, ...headers }, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    outgoing.on('error', reject).end();
  });
}

const faults: readonly [string, (file: string) => Promise<unknown>, RegExp][] = [
  ['missing', (file) => rm(file), /can’t be read \(ENOENT\).*attach/],
  ['readable by others', (file) => chmod(file, 0o644), /others may read it.*chmod 600/],
  ['malformed', (file) => writeFile(file, 'short'), /64 lower-case hexadecimal digits.*attach/],
  ['unreadable', (file) => rm(file).then(() => mkdir(file)), /can’t be read \(EISDIR\)/],
];

describe('a site with an invalid secret is quarantined alone', () => {
  it.each(faults)(
    'when it is %s: visitors get 503, nothing is forwarded, the other site is served',
    async (_, damage, reason) => {
      const { good, bad, dataDir, secret } = await twoSites();
      await damage(secret);
      const { logger, text } = recordedLog();
      const { url } = await runningGuard(dataDir, logger);
      for (const host of ['bad.example.com', 'WWW.bad.example.com.:80']) {
        const page = await send(url, host, '/hello', { accept: 'text/html' });
        expect(page).toMatchObject({ status: 503, headers: { 'retry-after': '60', 'cache-control': 'no-store' } });
        expect(page.body).toContain('is not available at the moment');
        // The page does not reveal the reason.
        expect(page.body).not.toMatch(/secret|quarantine/i);
      }
      const api = '/wp-json/security-optimizer/v1/fetch-options';
      const cookie = { cookie: 'session=owner', 'x-wp-nonce': 'owner-nonce' };
      expect(await send(url, 'bad.example.com', api, cookie)).toMatchObject({ status: 503, body: 'Not available\n' });
      expect((await send(url, 'bad.example.com', '/wp-login.php')).status).toBe(503);
      const upgrade = {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-key': 'x',
        'sec-websocket-version': '13',
      };
      expect((await send(url, 'bad.example.com', '/', upgrade)).status).toBe(503);
      expect(bad.calls()).toBe(0);
      expect((await send(url, 'good.example.com')).status).toBe(200);
      await eventually(() => good.policy !== null);
      expect((await send(url, 'other.example.com')).status).toBe(404);
      const line = text()
        .split('\n')
        .find((entry) => entry.includes('"site-quarantined"')) as string;
      expect(JSON.parse(line)).toMatchObject({ level: 'error', site: 'bad', reason: expect.stringMatching(reason) });
      expect(text()).not.toContain(SECRET);
    },
  );

  it('also with the host *, and then every host that no other site has', async () => {
    const { bad, dataDir, secret } = await twoSites(['*']);
    await rm(secret);
    const { url } = await runningGuard(dataDir);
    expect((await send(url, 'any.example.com')).status).toBe(503);
    expect((await send(url, 'good.example.com')).status).toBe(200);
    expect(bad.calls()).toBe(0);
  });

  it('also when it is the only site: guard starts and responds with 503', async () => {
    const { upstream, calls } = await countingServer();
    const dataDir = await dataFolderFor({ upstream });
    await rm(secretFile(dataDir, 'site'));
    const { url } = await runningGuard(dataDir);
    expect((await send(url, 'any.example.com')).status).toBe(503);
    expect(calls()).toBe(0);
  });

  it('and the metrics report it', async () => {
    const { dataDir, secret } = await twoSites();
    await rm(secret);
    const { logger, text } = recordedLog();
    const { url } = await runningGuard(dataDir, logger);
    await send(url, 'bad.example.com');
    const line = text()
      .split('\n')
      .find((entry) => entry.includes('"metrics-served"')) as string;
    const metrics = await (await fetch(`${JSON.parse(line).url}/metrics`)).text();
    expect(metrics).toContain('security_optimizer_sites{connector="quarantined"} 1');
    expect(metrics).toContain('security_optimizer_requests_refused_total{rule="site-quarantined"} 1');
  });

  it('and `status` reports it, as text and as JSON, with the remedy', async () => {
    const { dataDir, secret } = await twoSites();
    await chmod(secret, 0o644);
    const text = await runInChild('status', '--data-dir', dataDir);
    expect(text).toMatchObject({ status: 1, stderr: '' });
    expect(text.stdout).toContain('Site bad (bad.example.com, www.bad.example.com)\n  Quarantined:');
    expect(text.stdout).toMatch(/Site bad: .*others may read it; run chmod 600 on it/);
    expect(text.stdout).toContain('Site good (good.example.com)\n  WordPress: reachable');
    const { stdout } = await runInChild('status', '--data-dir', dataDir, '--json');
    const report = JSON.parse(stdout);
    expect(report.quarantined).toMatchObject([
      { id: 'bad', hosts: ['bad.example.com', 'www.bad.example.com'], reason: expect.stringContaining('chmod 600') },
    ]);
    expect(report.sites).toMatchObject([{ id: 'good' }]);
    expect(report.problems.filter((text: string) => text.startsWith('Site bad: '))).toHaveLength(1);
  });

  it('until the file is repaired and guard is restarted, as `status` advises', async () => {
    const { good, bad, dataDir, secret } = await twoSites();
    await chmod(secret, 0o644);
    const first = await runningGuard(dataDir);
    await eventually(() => good.policy !== null);
    await chmod(secret, 0o600);
    expect((await send(first.url, 'bad.example.com')).status).toBe(503);
    const { stdout } = await runInChild('status', '--data-dir', dataDir);
    expect(stdout).toContain(
      'Site bad: The running guard does not serve it. Have it read the configuration again (SIGHUP), or start it again.',
    );
    await first.close();
    const second = await runningGuard(dataDir);
    expect((await send(second.url, 'bad.example.com')).body).toBe('from WordPress');
    expect(bad.calls()).toBeGreaterThan(0);
  });

  it('until `attach` has written its key again: the running guard serves it at once, and the command says so', async () => {
    const { bad, dataDir, secret } = await twoSites();
    const wordpress = await wordpressFolder();
    const file = join(dataDir, 'guard.json');
    const { sites, ...config } = JSON.parse(await readFile(file, 'utf8'));
    const placed = sites.map((site: { id: string }) =>
      site.id === 'bad' ? { ...site, wordpressDir: wordpress } : site,
    );
    await writeFile(file, JSON.stringify({ ...config, sites: placed }));
    await rm(secret);
    const { url } = await serve(dataDir);
    expect((await send(url, 'bad.example.com')).status).toBe(503);
    const attach = ['attach', '--wordpress', wordpress, '--data-dir', dataDir];
    const outcome = await runInChild(...attach);
    expect(outcome.stdout).toContain('The running guard serves bad again.');
    expect((await send(url, 'bad.example.com')).body).toBe('from WordPress');
    expect(bad.calls()).toBeGreaterThan(0);
    // The next fault is not one that `attach` mends.
    await chmod(secret, 0o644);
    const again = await runInChild(...attach);
    expect([again.status, again.stderr]).toEqual([
      1,
      expect.stringContaining('bad is still in quarantine; `doctor bad`'),
    ]);
  });

  it.each([[[]], [['--purge']]])('until the site that has one of its hosts is removed (%j)', async (more) => {
    const { dataDir } = await twoSites(['good.example.com', 'bad.example.com']);
    const { url } = await serve(dataDir);
    expect((await send(url, 'bad.example.com')).status).toBe(503);
    expect(await runInChild('sites', 'remove', '--site', 'good', '--data-dir', dataDir, ...more)).toMatchObject({
      ...{ status: 0, stdout: expect.stringContaining('The running guard serves bad again.') },
    });
    expect((await send(url, 'bad.example.com')).body).toBe('from WordPress');
    expect((await send(url, 'good.example.com')).body).toBe('from WordPress');
  });

  it('and recovery commands can still change its settings', async () => {
    const { dataDir, secret } = await twoSites();
    await rm(secret);
    const { logger, events } = recordedLog();
    await runningGuard(dataDir, logger);
    const on = ['--data-dir', dataDir, '--site', 'bad'];
    expect(await runInChild('pause', '5', ...on)).toMatchObject({ status: 0, stderr: '' });
    expect(await runInChild('resume', ...on)).toMatchObject({ status: 0, stderr: '' });
    expect(await runInChild('unblock', '203.0.113.7', ...on)).toMatchObject({ status: 0, stderr: '' });
    expect(await runInChild('login-url', 'reset', ...on)).toMatchObject({ status: 0, stderr: '' });
    expect(events().filter((event) => /failed|not-read/.test(event))).toEqual([]);
  });
});

describe('guard without a site', () => {
  it('starts, and responds to every request as to one for an unknown host', async () => {
    const connector = await fakeConnector();
    const dataDir = await dataFolderFor(connector, {}, { sites: [] });
    const { url } = await runningGuard(dataDir);
    for (const path of ['/', '/wp-login.php', '/wp-json/security-optimizer/v1/fetch-options']) {
      expect((await send(url, 'example.com', path)).status).toBe(404);
    }
    const { status, stdout, stderr } = await runInChild('status', '--data-dir', dataDir);
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    expect(stdout).toContain('No site is attached. `security-optimizer attach` adds one.');
    expect(JSON.parse((await runInChild('status', '--data-dir', dataDir, '--json')).stdout)).toMatchObject({
      sites: [],
    });
    expect(await readFile(join(dataDir, 'guard.json'), 'utf8')).toContain('"sites":[]');
  });
});
