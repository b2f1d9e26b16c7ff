import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { runInChild } from './support/command-line.js';
import { recordedLog } from './support/logs.js';
import { dataFolderFor, runningGuard } from './support/running-guard.js';
import { eventually } from './support/scratch.js';
import { forHost, httpsOnly, webServer } from './support/upstream-server.js';

const proxies = { trustedProxies: ['127.0.0.1'] };
/** A visit of a.example by https, as the proxy in front of guard forwards it. */
async function visit(url: string, path = '/', body?: string) {
  const cookies = { cookie: 'session=owner', 'x-wp-nonce': 'owner-nonce' };
  const sent = request(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      host: 'a.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '192.0.2.7',
      ...(body !== undefined && cookies),
    },
  });
  const [response] = (await once(sent.end(body), 'response')) as [IncomingMessage];
  return { http: response.statusCode, text: await readText(response) };
}

const disableFeeds = async (url: string) => {
  const { http, text } = await visit(url, '/wp-json/security-optimizer/v1/disable-feeds', '{"disable_feed":1}');
  return { http, body: JSON.parse(text) };
};

const listLines = (log: ReturnType<typeof recordedLog>): { event?: string; msg?: string }[] =>
  log
    .text()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const status = async (dataDir: string) => {
  const { stdout, status: code } = await runInChild('status', '--data-dir', dataDir, '--json');
  return { ...JSON.parse(stdout), code };
};

describe('guard, in front of a web server that serves https only', () => {
  it('pushes its policy, accepts settings of owners, and reports good health', async () => {
    const { connector, upstream, seen } = await webServer(httpsOnly);
    connector.home = 'https://a.example';
    const log = recordedLog();
    const dataDir = await dataFolderFor({ upstream }, { hosts: ['a.example'] }, proxies);
    const guard = await runningGuard(dataDir, log.logger);
    await eventually(() => connector.policy !== null);
    expect(await disableFeeds(guard.url)).toMatchObject({ http: 200 });
    expect(connector.policy?.policy).toMatchObject({ disable_feed: 1 });
    expect(log.events()).not.toContain('connector-missing');
    // Once WordPress has reported its own name, nothing is requested by http.
    expect(seen.filter((line) => line.startsWith('http ')).length).toBeLessThanOrEqual(1);
    const report = await status(dataDir);
    expect(report.sites).toMatchObject([{ wordpress: 'reachable', connector: 'ok', policyInSync: true }]);
  });
});

describe('guard, in front of a web server that redirects every scheme', () => {
  const always = async () => {
    const upstream = await webServer((request, response) => {
      response.writeHead(301, { location: `https://${request.headers.host}${request.url}&secret=s3cret` }).end();
      return true;
    });
    const log = recordedLog();
    const dataDir = await dataFolderFor(upstream, { hosts: ['a.example'] }, proxies);
    return { ...upstream, log, dataDir, guard: await runningGuard(dataDir, log.logger) };
  };

  it('reports the redirect in its log, in status, in doctor and to the owner', async () => {
    const { log, dataDir, guard } = await always();
    await eventually(() => log.events().includes('wordpress-unreachable'));
    expect(log.events()).not.toContain('connector-missing');
    const line = listLines(log).find(({ event }) => event === 'wordpress-unreachable');
    expect(line).toMatchObject({
      redirect: 'https://a.example/index.php',
      msg: expect.stringContaining('X-Forwarded-Proto'),
    });
    expect(await disableFeeds(guard.url)).toMatchObject({
      http: 503,
      body: { code: 'connector_redirected', message: expect.stringContaining('redirects') },
    });
    const report = await status(dataDir);
    expect(report).toMatchObject({ code: 1, sites: [{ wordpress: 'reachable', connector: 'redirected' }] });
    expect(report.problems).toContainEqual(
      expect.stringMatching(
        /^Site site: The web server behind guard redirects guard’s commands to https:\/\/a\.example\/index\.php, /,
      ),
    );
    const text = (await runInChild('status', '--data-dir', dataDir)).stdout;
    expect(text).toContain('not known, because the web server behind guard redirects guard’s commands');
    expect(text).not.toContain('missing');
    const doctor = await runInChild('doctor', 'site', '--data-dir', dataDir, '--json');
    const findings: { check: string }[] = JSON.parse(doctor.stdout);
    expect(findings.find(({ check }) => check === 'connector')).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('https://a.example/index.php'),
      advice: expect.stringContaining('The web server behind guard'),
    });
    const output = JSON.stringify([listLines(log), report, text, findings]);
    expect(output).not.toContain('s3cret');
  });
});

describe('guard, with a site that serves every host and another server behind', () => {
  const other = (response: ServerResponse) => void response.writeHead(404).end('another site');

  it('reports which host it requested, and recovers after the first page of a visitor', async () => {
    const { connector, upstream, seen } = await webServer(forHost('a.example', other));
    connector.home = 'https://a.example';
    const log = recordedLog();
    const dataDir = await dataFolderFor({ upstream }, { hosts: ['*'] }, proxies);
    const guard = await runningGuard(dataDir, log.logger);
    const { host } = new URL(upstream);
    await eventually(() => log.events().includes('connector-missing'));
    expect(listLines(log).find(({ event }) => event === 'connector-missing')).toMatchObject({ host });
    const before = await status(dataDir);
    expect(before.problems).toContainEqual(
      expect.stringContaining(`What answers for the host ${host} has no connector plugin.`),
    );
    await visit(guard.url);
    await eventually(() => log.events().includes('connector-ok') && connector.policy !== null);
    expect(seen.at(-1)).toBe('https a.example 127.0.0.1 127.0.0.1 true');
    await eventually(async () => (await status(dataDir)).sites[0]?.connector === 'ok');
  });
});
