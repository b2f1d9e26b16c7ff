import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { recentLogger } from '../../test/support/logs.js';
import { dataFolderFor, runningGuard } from '../../test/support/running-guard.js';
import { eventually } from '../../test/support/scratch.js';
import { webServer } from '../../test/support/upstream-server.js';
import { type Address, parseAddress } from '../lib/address.js';
import type { SiteConfig, SiteFacts } from '../site.js';
import type { HostResponse } from '../wordpress/host-probe.js';
import type { SiteOrigin } from '../wordpress/site-origin.js';
import { createSiteHosts, type HostStatus } from './site-hosts.js';

const OTHER: HostResponse = { kind: 'other', cause: 'HTTP status 200 without the connector' };
const SIGNED: HostResponse = { kind: 'signed' };
const SILENT: HostResponse = { kind: 'silent', cause: 'no answer' };
const to = (origin: string): HostResponse => {
  const { protocol, host } = new URL(origin);
  return { kind: 'redirect', to: { scheme: protocol === 'https:' ? 'https' : 'http', host } };
};

/** Hosts of a site, https://example.com, on a web server whose responses are in `responses`, by origin. */
function createHosts(responses: Readonly<Record<string, HostResponse>>, more: { readonly hold?: Promise<void> } = {}) {
  const site = { id: 'site', hosts: ['*'], upstream: 'http://127.0.0.1:8081' } as unknown as SiteConfig;
  const facts = { homeUrl: 'https://example.com' } as SiteFacts;
  const probed: string[] = [];
  const state = {
    now: 1_000_000,
    responses: { 'https://example.com': { kind: 'signed' } as HostResponse, ...responses },
  };
  let atOnce = 0;
  let maxRunning = 0;
  const hosts = createSiteHosts({
    clock: () => state.now,
    logger: recentLogger(),
    async probe(_site: SiteConfig, _facts: unknown, { scheme, host }: SiteOrigin) {
      probed.push(`${scheme}://${host}`);
      maxRunning = Math.max(maxRunning, ++atOnce);
      await more.hold;
      atOnce--;
      return (state.responses as Record<string, HostResponse>)[`${scheme}://${host}`] ?? OTHER;
    },
  });
  return {
    state,
    probed,
    find: (name: string) => hosts.find(site, name),
    maxRunning: () => maxRunning,
    check: (origin: string, client = '203.0.113.5'): Promise<HostStatus> => {
      const { protocol, host, hostname } = new URL(origin);
      const scheme = protocol === 'https:' ? 'https' : 'http';
      const isNamed = (name: string) => name === 'example.com';
      const address = parseAddress(client) as Address;
      return hosts.check({ site, facts, name: hostname, origin: { scheme, host }, client: address, isNamed });
    },
  };
}

describe('a host that is not known to belong to the site', () => {
  it('is proved when the site’s connector responds there, and is probed once', async () => {
    const hosts = createHosts({ 'https://mapped.example': { kind: 'signed' } });
    expect(hosts.find('mapped.example')).toBeNull();
    expect(await hosts.check('https://mapped.example')).toBe('proved');
    expect(await hosts.check('https://mapped.example')).toBe('proved');
    expect(hosts.find('mapped.example')).toBe('proved');
    expect(hosts.probed).toEqual(['https://mapped.example']);
    hosts.state.now += 7 * 3600_000;
    expect(hosts.find('mapped.example')).toBeNull();
  });

  it('is foreign for a minute when anything else responds there while the site itself responds', async () => {
    const hosts = createHosts({});
    expect(await hosts.check('https://status.example')).toBe('foreign');
    expect(hosts.probed).toEqual(['https://status.example', 'https://example.com']);
    expect(hosts.find('status.example')).toBe('foreign');
    // The site itself need not be probed for each host.
    expect(await hosts.check('https://other.example')).toBe('foreign');
    expect(hosts.probed).toHaveLength(3);
    hosts.state.responses['https://status.example' as never] = { kind: 'signed' } as never;
    hosts.state.now += 61_000;
    expect(await hosts.check('https://status.example')).toBe('proved');
  });

  it('is open while the connector is missing in the site itself, and is probed again soon', async () => {
    const hosts = createHosts({ 'https://example.com': OTHER });
    expect(await hosts.check('https://mapped.example')).toBe('open');
    expect(hosts.find('mapped.example')).toBe('open');
    hosts.state.now += 6000;
    expect(hosts.find('mapped.example')).toBeNull();
    hosts.state.responses['https://example.com'] = { kind: 'signed' };
    expect(await hosts.check('https://mapped.example')).toBe('foreign');
  });

  it('has to be requested again while the site is down or busy, so that a flood opens nothing', async () => {
    const hosts = createHosts({ 'https://example.com': SILENT, 'https://mapped.example': SILENT });
    expect(await hosts.check('https://status.example')).toBe('busy');
    expect(await hosts.check('https://mapped.example')).toBe('busy');
    hosts.state.now += 3000;
    hosts.state.responses['https://example.com'] = { kind: 'signed' };
    expect(await hosts.check('https://mapped.example')).toBe('busy');
    hosts.state.responses['https://mapped.example' as never] = { kind: 'signed' } as never;
    expect(await hosts.check('https://mapped.example')).toBe('proved');
    expect(await hosts.check('https://status.example')).toBe('foreign');
  });

  it.each([
    ['to the site', { 'https://old.example': to('https://example.com') }],
    [
      'to HTTPS',
      { 'http://old.example': to('https://old.example'), 'https://old.example': { kind: 'signed' } as const },
    ],
    [
      'to its name with www',
      { 'https://old.example': to('https://www.old.example'), 'https://www.old.example': SIGNED },
    ],
    ['to its name without www', { 'http://www.old.example': to('https://old.example'), 'https://old.example': SIGNED }],
    [
      'in several steps',
      { 'http://old.example': to('https://old.example'), 'https://old.example': to('https://example.com') },
    ],
  ])('is proved when it redirects %s', async (_what, responses: Readonly<Record<string, HostResponse>>) => {
    const hosts = createHosts(responses);
    expect(await hosts.check(Object.keys(responses)[0] as string)).toBe('proved');
  });

  it.each([
    ['elsewhere', { 'https://old.example': to('https://elsewhere.example') }],
    [
      'to a host that would belong to the site',
      { 'https://old.example': to('https://login.internal'), 'https://login.internal': SIGNED },
    ],
    [
      'in a loop',
      { 'https://old.example': to('https://new.example'), 'https://new.example': to('https://old.example') },
    ],
  ])(
    'is foreign when it redirects %s, and redirects are followed only a few times',
    async (_what, responses: Readonly<Record<string, HostResponse>>) => {
      const hosts = createHosts(responses);
      expect(await hosts.check('https://old.example')).toBe('foreign');
      expect(hosts.probed.length).toBeLessThan(8);
    },
  );

  it('is probed once for all requests that wait', async () => {
    const hosts = createHosts({ 'https://mapped.example': { kind: 'signed' } });
    const all = await Promise.all(Array.from({ length: 50 }, () => hosts.check('https://mapped.example')));
    expect(new Set(all)).toEqual(new Set(['proved']));
    expect(hosts.probed).toHaveLength(1);
  });
});

describe('a client that invents hosts', () => {
  it('causes few starts of WordPress, and does not stop the hosts of others from being proved', async () => {
    const hosts = createHosts({ 'https://mapped.example': { kind: 'signed' } });
    const statuses: HostStatus[] = [];
    for (let i = 0; i < 200; i++) statuses.push(await hosts.check(`https://invented-${i}.example`));
    expect(statuses.filter((status) => status === 'foreign')).toHaveLength(10);
    expect(statuses.slice(10)).toEqual(Array(190).fill('busy'));
    expect(hosts.probed.length).toBeLessThan(15);
    expect(await hosts.check('https://mapped.example', '198.51.100.9')).toBe('proved');
    hosts.state.now += 61_000;
    expect(await hosts.check('https://invented-0.example')).toBe('foreign');
  });

  it('from many addresses still causes few starts of WordPress in a minute', async () => {
    const hosts = createHosts({});
    for (let i = 0; i < 250; i++) await hosts.check(`https://invented-${i}.example`, `198.51.100.${i}`);
    expect(hosts.probed.length).toBeLessThan(70);
  });

  it('has few hosts probed at the same time; others are probed in between, and requests that can’t wait are refused', async () => {
    let release = () => {};
    const hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    const hosts = createHosts({ 'https://mapped.example': { kind: 'signed' } }, { hold });
    const invented = Array.from({ length: 40 }, (_, i) => hosts.check(`https://invented-${i}.example`));
    const mapped = hosts.check('https://mapped.example', '198.51.100.9');
    release();
    expect(await mapped).toBe('proved');
    const statuses = await Promise.all(invented);
    expect(hosts.maxRunning()).toBeLessThanOrEqual(3);
    expect(statuses.filter((status) => status === 'busy').length).toBeGreaterThanOrEqual(18);
  });

  it('does not fill the memory', async () => {
    const hosts = createHosts({ 'https://example.com': OTHER });
    for (let i = 0; i < 1500; i++) await hosts.check(`https://invented-${i}.example`);
    expect(hosts.find('invented-0.example')).toBeNull();
    expect(hosts.find('invented-1499.example')).toBe('open');
  });
});

describe('guard with hosts `*` in front of a web server with several names', () => {
  interface Visit {
    readonly status: number | undefined;
    readonly body: string;
  }

  /** Sends a request for a visitor whom a trusted proxy names. */
  const visit = (url: string, host: string, options: { method?: string; headers?: object; client?: string } = {}) =>
    new Promise<Visit>((resolve, reject) => {
      const { hostname, port } = new URL(url);
      const { method = 'GET', client = '203.0.113.5' } = options;
      const headers = { host, 'x-forwarded-for': client, 'x-forwarded-proto': 'https', ...options.headers };
      const outgoing = request({ host: hostname, port, method, headers, agent: false }, async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString() });
      });
      outgoing.on('error', reject).end(method === 'POST' ? 'body' : undefined);
    });

  async function start(hosts: readonly string[] = ['*']) {
    const reached: string[] = [];
    const { upstream, connector } = await webServer((request, response) => {
      const { host = '' } = request.headers;
      // Guard's own probes are not visits.
      if (request.headers['user-agent'] !== 'Security Optimizer guard') reached.push(`${request.method} ${host}`);
      if (host === 'old.example') response.writeHead(301, { location: 'https://example.com/' }).end();
      else if (host === 'down.example') response.writeHead(502).end();
      // Guard does not know a name of the site at first.
      else if (/^(?:127\.0\.0\.1|example\.com|(?:mapped|de)\.example)(?::\d+)?$/i.test(host)) return false;
      else response.end('Active connections: 1');
      return true;
    });
    const guard = await runningGuard(await dataFolderFor({ upstream }, { hosts }, { trustedProxies: ['127.0.0.1'] }));
    await eventually(() => connector.policy !== null);
    return { url: guard.url, reached, connector };
  }

  it('forwards requests for hosts under which the site responds, in any spelling, and redirects to them', async () => {
    const { url, reached } = await start();
    for (const host of ['example.com', 'mapped.example', 'DE.example:8443', 'de.example']) {
      expect([host, (await visit(url, host)).status]).toEqual([host, 200]);
    }
    expect((await visit(url, 'old.example')).status).toBe(301);
    expect((await visit(url, 'mapped.example', { method: 'POST' })).status).toBe(200);
    expect(reached).toHaveLength(6);
  });

  it('forwards no request for other hosts, whatever is requested', async () => {
    const { url, reached } = await start();
    for (const host of [
      'status.internal',
      'pma.example.com',
      'www.example.com',
      '198.51.100.20',
      '_',
      'status.internal:81',
    ]) {
      expect([host, (await visit(url, host)).status]).toEqual([host, 404]);
      expect([host, (await visit(url, host, { method: 'POST' })).status]).toEqual([host, 404]);
    }
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const headers = { ...upgrade, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    expect((await visit(url, 'socket.internal', { headers, client: '203.0.113.6' })).status).toBe(404);
    const call = { method: 'POST', client: '203.0.113.6' };
    expect((await visit(url, 'api.internal', call)).status).toBe(404);
    expect(reached).toEqual([]);
  });

  it('responds that it is busy while the web server does not answer for a host', async () => {
    const { url, reached } = await start();
    expect((await visit(url, 'down.example')).status).toBe(503);
    expect(reached).toEqual([]);
  });

  it('forwards requests for hosts that the configuration names', async () => {
    const { url } = await start(['*', 'mapped.example', 'status.internal']);
    expect((await visit(url, 'status.internal')).body).toContain('Active connections');
    expect((await visit(url, 'other.internal')).status).toBe(404);
  });

  it('forwards requests for every host while the connector is missing', async () => {
    const { url, connector } = await start();
    connector.mode = 'gone';
    expect((await visit(url, 'status.internal')).status).toBe(200);
    const unknown = await fakeConnector();
    unknown.mode = 'gone';
    const reached: (string | undefined)[] = [];
    unknown.onRequest = (command, { headers }) => command === null && reached.push(headers.host);
    const guard = await runningGuard(await dataFolderFor(unknown, { hosts: ['*'] }, { trustedProxies: ['127.0.0.1'] }));
    await visit(guard.url, 'mapped.example');
    expect(reached).toEqual(['mapped.example']);
  });
});
