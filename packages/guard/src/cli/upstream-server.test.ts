import type { IncomingMessage } from 'node:http';
import { connect, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type FakeConnector, fakeConnector } from '../../test/support/fake-connector.js';
import { dataFolderFor, runningGuard } from '../../test/support/running-guard.js';
import { siteConfig } from '../../test/support/site-config.js';
import { loadConfig } from '../config/load-config.js';
import { statusText } from './status.js';
import { statusReport } from './status-report.js';
import { sendHello } from './status-site.js';
import {
  MACHINE_PATHS,
  recognizeMachinePage,
  toRealAddressAdvice,
  toUpstreamServerWarnings,
} from './upstream-server.js';
import { inspectUpstreamServer } from './upstream-server-visits.js';

const NGINX = 'Active connections: 2 \nserver accepts handled requests\n 3 3 4 \nReading: 0 Writing: 1 Waiting: 1 \n';
const FPM =
  'pool:                 www\nprocess manager:      dynamic\nstart time:           27/Nov/2026:10:00:00 +0000\n';
const APACHE = '<html><head><title>Apache Status</title></head><body>\n<h1>Apache Server Status for localhost</h1>';
const PHP_MY_ADMIN = '<form method="post"><input type="text" name="pma_username" id="input_username">';

/** A server that sees each visitor by the header that guard sends, as with `real_ip_header`. */
const trustsGuard = ({ headers }: IncomingMessage) => String(headers['x-forwarded-for'] ?? '127.0.0.1');
/** A server that trusts no header. */
const trustsNobody = () => '127.0.0.1';

/** Adds pages for 127.0.0.1 alone, according to the client that the server sees. */
function addMachinePages(
  connector: FakeConnector,
  seenClient: (request: IncomingMessage) => string,
  pages: Readonly<Record<string, string>>,
): void {
  for (const [path, body] of Object.entries(pages)) {
    connector.pages.set(path, (request) => (seenClient(request) === '127.0.0.1' ? body : 'Forbidden'));
  }
  const signed = ({ headers }: IncomingMessage) => String(headers['x-security-optimizer-guard']).split(' ')[5];
  connector.addressSeen = (request) => seenClient(request) === signed(request);
}

const HOME = new URL('https://example.com/blog');
const examine = async (connector: FakeConnector, options = {}) => {
  const site = siteConfig({ upstream: connector.upstream });
  const { isAddressSeen } = await sendHello(site, { homeUrl: HOME.href });
  return inspectUpstreamServer(site, HOME, { ...{ guard: null, isAddressSeen, now: Date.now }, ...options });
};

describe('the advice for the upstream web server', () => {
  it.each([
    ['http://127.0.0.1:8081', 'set_real_ip_from 127.0.0.1;', 'RemoteIPInternalProxy 127.0.0.1'],
    ['http://127.0.0.9', 'set_real_ip_from 127.0.0.1;', 'RemoteIPInternalProxy 127.0.0.1'],
    ['http://localhost:8081', 'set_real_ip_from 127.0.0.1;', 'RemoteIPInternalProxy 127.0.0.1'],
    ['http://[::1]:8081', 'set_real_ip_from ::1;', 'RemoteIPInternalProxy ::1'],
    ['unix:/run/nginx/wordpress.sock', 'set_real_ip_from unix:;', 'RemoteIPInternalProxy 127.0.0.1'],
    ['http://192.0.2.7:8081', 'set_real_ip_from ADDRESS_OF_GUARD;', 'RemoteIPInternalProxy ADDRESS_OF_GUARD'],
    ['http://wordpress:8081', 'set_real_ip_from ADDRESS_OF_GUARD;', 'RemoteIPInternalProxy ADDRESS_OF_GUARD'],
  ])('depends on where guard connects from: %s', (upstream, nginx, apache) => {
    expect(toRealAddressAdvice(upstream)).toContain(nginx);
    expect(toRealAddressAdvice(upstream)).toContain(apache);
  });
});

describe('a page for the machine alone', () => {
  it.each([
    ['nginx', NGINX],
    ['PHP-FPM', FPM],
    ['Apache', APACHE],
    ['munin', '<html><head>\n<title>Munin :: overview</title>'],
    ['phpMyAdmin', PHP_MY_ADMIN],
    ['Apache', '<html><head><title>Server Information</title></head>'],
    ['load balancer', '<h1>Load Balancer Manager for example.com</h1>'],
  ])('is recognized by its content: %s', (name, body) => {
    expect(recognizeMachinePage({ status: 200, body }, false)).toContain(name);
    expect(recognizeMachinePage({ status: 403, body }, false)).toBeNull();
  });

  it.each([
    ['the site’s own page about it', `<html><body><p>${NGINX}</p></body></html>`],
    ['a page of WordPress', '<!DOCTYPE html><html><head><title>Server status – Example</title></head>'],
    ['PHP-FPM’s ping', 'pong'],
    ['nothing', ''],
  ])('is not %s', (_, body) => {
    expect(recognizeMachinePage({ status: 200, body }, false)).toBeNull();
  });

  it('is not a public one when it has a login of its own and the server tells visitors apart', () => {
    expect(recognizeMachinePage({ status: 200, body: PHP_MY_ADMIN }, true)).toBeNull();
    expect(recognizeMachinePage({ status: 200, body: PHP_MY_ADMIN }, null)).toBe('phpMyAdmin');
  });
});

describe('the upstream web server, examined as a visitor', () => {
  it('is reported when it takes every visitor for guard, with the pages that this makes public', async () => {
    const connector = await fakeConnector();
    addMachinePages(connector, trustsNobody, { '/nginx_status': NGINX, '/status': FPM, '/server-status': APACHE });
    const found = await examine(connector);
    expect(found.isAddressSeen).toBe(false);
    expect(found.openPages.map(({ path, name }) => `${path} ${name}`).sort()).toEqual([
      '/nginx_status the state of nginx',
      '/server-status the state of Apache',
      '/status the state of PHP-FPM',
    ]);
    const warnings = toUpstreamServerWarnings(found, connector.upstream).join('\n');
    expect(warnings).toMatch(/has guard’s address for every visitor.*set_real_ip_from 127\.0\.0\.1/);
    expect(warnings).toContain('/nginx_status with the host example.com gets the state of nginx.');
  });

  it('causes no warning when it sees each visitor and keeps its pages private', async () => {
    const connector = await fakeConnector();
    addMachinePages(connector, trustsGuard, { '/nginx_status': NGINX, '/status': FPM, '/server-status': APACHE });
    const found = await examine(connector);
    expect(found).toEqual({ isAddressSeen: true, openPages: [], cachePastGuard: null });
    expect(toUpstreamServerWarnings(found, connector.upstream)).toEqual([]);
  });

  it('is reported when it sees each visitor and has a public page, with another remedy', async () => {
    const connector = await fakeConnector();
    addMachinePages(connector, trustsGuard, {});
    connector.pages.set('/stub_status', () => NGINX);
    const found = await examine(connector);
    expect(found.openPages).toEqual([{ name: 'the state of nginx', path: '/stub_status', host: 'example.com' }]);
    expect(toUpstreamServerWarnings(found, connector.upstream)).toEqual([expect.stringContaining('deny all')]);
  });

  it('is reported once for each page, and receives the site’s own host once, whatever that is', async () => {
    const connector = await fakeConnector();
    addMachinePages(connector, trustsNobody, { '/nginx_status': NGINX });
    const { hostname: host, port } = new URL(connector.upstream);
    const hosts = new Set<string | undefined>();
    connector.onRequest = (_, { headers }) => hosts.add(headers.host);
    const site = siteConfig({ upstream: connector.upstream });
    const home = new URL('http://127.0.0.1:8080');
    const options = { guard: { host, port: Number(port) }, isAddressSeen: null, now: Date.now };
    const { openPages } = await inspectUpstreamServer(site, home, options);
    expect(openPages.map((page) => page.host)).toEqual(['127.0.0.1:8080']);
    expect([...hosts]).toEqual(['127.0.0.1:8080', 'localhost']);
  });

  it('causes no warning about addresses with a connector of an older version', async () => {
    const found = await examine(await fakeConnector());
    expect(found).toEqual({ isAddressSeen: null, openPages: [], cachePastGuard: null });
    expect(toUpstreamServerWarnings(found, 'http://127.0.0.1:1')).toEqual([]);
  });

  it('causes no warning with another key, or when it does not answer', async () => {
    const connector = await fakeConnector();
    addMachinePages(connector, trustsNobody, {});
    connector.secret = 'a1'.repeat(32);
    expect((await examine(connector)).isAddressSeen).toBeNull();
    connector.mode = 'broken';
    expect((await examine(connector)).isAddressSeen).toBeNull();
    await connector.close();
    expect(await examine(connector)).toEqual({ isAddressSeen: null, openPages: [], cachePastGuard: null });
  });

  it('receives the site’s host and scheme, and WordPress does nothing for a page', async () => {
    const connector = await fakeConnector();
    const requested: (string | undefined)[] = [];
    connector.onRequest = (_, { headers, url }) => {
      requested.push(`${headers.host} ${headers['x-forwarded-proto']} ${headers['x-real-ip']} ${url?.split('?')[0]}`);
    };
    await examine(connector);
    expect(requested.slice(0, MACHINE_PATHS.length + 1)).toEqual(
      ['/blog/index.php', ...MACHINE_PATHS].map((path) => `example.com https 192.0.2.1 ${path}`),
    );
    expect(connector.commands).toEqual(['hello']);
  });
});

/** Another address of the machine at which the same server answers. @returns its host and port */
async function listenAlsoAt(host: string, connector: FakeConnector): Promise<string> {
  const { hostname, port } = new URL(connector.upstream);
  const server = createServer((socket) => {
    const upstream = connect({ host: hostname, port: Number(port) });
    for (const end of [socket, upstream]) end.on('error', () => {});
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(Number(port), host, resolve));
  onTestFinished(() => void server.close());
  return `${host}:${port}`;
}

/** Answers the first page as a page cache does. @param isCached whether a request finds it there */
function addCache(connector: FakeConnector, isCached: (request: IncomingMessage) => boolean): void {
  connector.pages.set('/blog/', (request) =>
    request.url === '/blog/' && isCached(request) ? '<title>Example</title>' : null,
  );
}

describe('a page cache that answers before the connector', () => {
  const PUBLIC = '127.0.0.2';
  const isGuards = ({ headers }: IncomingMessage) => headers['x-security-optimizer-guard'] !== undefined;
  const search = async (connector: FakeConnector, ownAddresses: readonly string[] = [PUBLIC]) =>
    (await examine(connector, { ownAddresses })).cachePastGuard;

  it.each([
    ['for every visitor', () => true],
    ['for HTTPS only', ({ headers }: IncomingMessage) => headers['x-forwarded-proto'] === 'https'],
    ['for HTTP only', ({ headers }: IncomingMessage) => headers['x-forwarded-proto'] === undefined],
  ])('is found where it has the page %s, with the remedy', async (_, isCached) => {
    const connector = await fakeConnector();
    const address = await listenAlsoAt(PUBLIC, connector);
    addCache(connector, isCached);
    expect(await search(connector)).toBe(address);
    const warnings = toUpstreamServerWarnings(await examine(connector, { ownAddresses: [PUBLIC] }), connector.upstream);
    expect(warnings).toEqual([expect.stringMatching(/who asks 127\.0\.0\.2:\d+ gets pages.*listen where guard alone/)]);
  });

  it('is found while it is empty: a visitor of guard fills it', async () => {
    const connector = await fakeConnector();
    const address = await listenAlsoAt(PUBLIC, connector);
    let isWarm = false;
    addCache(connector, (request) => {
      if (isGuards(request)) isWarm = true;
      return isWarm && !isGuards(request);
    });
    expect(await search(connector)).toBe(address);
    expect(isWarm).toBe(true);
  });

  it('is found at a server that other machines reach at the same address as guard', async () => {
    const connector = await fakeConnector();
    addCache(connector, () => true);
    // Not a loopback address, but this machine's own.
    const own = new URL(connector.upstream);
    const site = siteConfig({ upstream: `http://0.0.0.0:${own.port}` });
    const { cachePastGuard } = await inspectUpstreamServer(site, HOME, {
      ...{ guard: null, isAddressSeen: null, ownAddresses: [], now: Date.now },
    });
    expect(cachePastGuard).toBe(`0.0.0.0:${own.port}`);
  });

  it('is not reported where the server listens for this machine alone', async () => {
    const connector = await fakeConnector();
    addCache(connector, () => true);
    expect(await search(connector)).toBeNull();
    expect(await search(connector, [])).toBeNull();
  });

  it('is not found without a cache, for a file of the web server, or at a site that allows direct requests', async () => {
    const plain = await fakeConnector();
    await listenAlsoAt(PUBLIC, plain);
    expect(await search(plain)).toBeNull();
    plain.pages.set('/blog/', () => '<title>Coming soon</title>');
    expect(await search(plain)).toBeNull();
    plain.requireGuard = false;
    addCache(plain, () => true);
    expect(await search(plain)).toBeNull();
    const site = siteConfig({ upstream: plain.upstream, requireGuard: false });
    const options = { guard: null, isAddressSeen: null, ownAddresses: [PUBLIC], now: Date.now };
    expect((await inspectUpstreamServer(site, HOME, options)).cachePastGuard).toBeNull();
  });

  it('is not found where guard or a server in front has the same port at another address', async () => {
    const [connector, other] = [await fakeConnector(), await fakeConnector()];
    addCache(connector, () => true);
    const { port } = new URL(connector.upstream);
    const upstream = Number(new URL(other.upstream).port);
    const front = createServer((socket) => {
      const next = connect({ host: '127.0.0.1', port: upstream });
      for (const end of [socket, next]) end.on('error', () => {});
      socket.pipe(next).pipe(socket);
    });
    await new Promise<void>((resolve) => front.listen(Number(port), PUBLIC, resolve));
    onTestFinished(() => void front.close());
    other.requireGuard = false;
    expect(await search(connector)).toBeNull();
  });
});

describe('status', () => {
  const sameHost = { hosts: ['example.com'] };

  it('warns before the upstream web server is set up, and not after', async () => {
    const connector = await fakeConnector();
    const config = await loadConfig({ dataDir: await dataFolderFor(connector, sameHost), env: {} });
    addMachinePages(connector, trustsNobody, { '/nginx_status': NGINX });
    const before = await statusReport(config);
    expect(before.sites).toMatchObject([{ visitors: 'hidden', openPages: [{ path: '/nginx_status' }] }]);
    expect(before.warnings).toHaveLength(2);
    expect(before.warnings.join()).toMatch(/^Site site: The web server behind guard.*,Site site: Everybody/);
    expect(statusText(before)).toContain('Visitors:  the web server behind sees guard in their place');
    addMachinePages(connector, trustsGuard, { '/nginx_status': NGINX });
    const after = await statusReport(config);
    expect(after.warnings).toEqual([]);
    expect(statusText(after)).toContain('Visitors:  the web server behind sees each one’s address');
    connector.addressSeen = undefined;
    expect(statusText(await statusReport(config))).not.toContain('Visitors:');
  });

  it('reports no page that guard keeps from visitors, and requests the machine’s host names through guard', async () => {
    const connector = await fakeConnector();
    const guard = await runningGuard(await dataFolderFor(connector, sameHost));
    addMachinePages(connector, trustsNobody, { '/nginx_status': NGINX, '/munin/': '<title>Munin :: overview</title>' });
    const listen = new URL(guard.url);
    const server = { host: listen.hostname, port: Number(listen.port) };
    const found = await examine(connector, { guard: server });
    // Under `localhost` and `127.0.0.1` they are just as public at the upstream server, and guard has no such site.
    expect(found.openPages.map(({ host }) => host)).toEqual(['example.com', 'example.com']);
  });
});
