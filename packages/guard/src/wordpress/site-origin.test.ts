import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { siteConfig } from '../../test/support/site-config.js';
import { forHost, httpsOnly, webServer } from '../../test/support/upstream-server.js';
import { forwardedHeaders } from '../http/headers.js';
import { defaultSitePaths, type SiteFacts } from '../site.js';
import { createConnectorClient } from './connector-client.js';
import { hashPolicy } from './signature.js';
import { describeRedirect, getRedirectOrigin, type SiteOrigin, toNamedHost, toSiteOrigin } from './site-origin.js';

const upstream = 'http://127.0.0.1:8081';

describe('guard requests a site', () => {
  it.each<[string, Parameters<typeof toSiteOrigin>, SiteOrigin]>([
    [
      'as WordPress names it',
      [{ hosts: ['a.example'], upstream }, { homeUrl: 'https://b.example/blog' }, 'http'],
      { scheme: 'https', host: 'b.example' },
    ],
    [
      'with its port',
      [{ hosts: ['*'], upstream }, { homeUrl: 'http://b.example:8080' }],
      { scheme: 'http', host: 'b.example:8080' },
    ],
    [
      'by the host with which it was attached',
      [{ hosts: ['*', 'a.example'], upstream }, null],
      { scheme: 'http', host: 'a.example' },
    ],
    [
      'by a name that precedes a wildcard',
      [{ hosts: ['*.a.example', 'b.example'], upstream }, null],
      { scheme: 'http', host: 'b.example' },
    ],
    [
      'by a name that matches a wildcard',
      [{ hosts: ['*.a.example'], upstream }, null],
      { scheme: 'http', host: 'www.a.example' },
    ],
    [
      'by the address of its web server, without a name',
      [{ hosts: ['*'], upstream }, null, 'https'],
      { scheme: 'https', host: '127.0.0.1:8081' },
    ],
    [
      'by that address, without the default port',
      [{ hosts: ['*'], upstream: 'http://127.0.0.1' }, null],
      { scheme: 'http', host: '127.0.0.1' },
    ],
    [
      'as localhost behind a socket file',
      [{ hosts: ['*'], upstream: 'unix:/run/web.sock' }, null],
      { scheme: 'http', host: 'localhost' },
    ],
  ])('%s', (_how, args, origin) => {
    expect(toSiteOrigin(...args)).toEqual(origin);
  });

  it('without a named host when it serves every host', () => {
    expect(toNamedHost(['*'])).toBeNull();
  });
});

const requested: SiteOrigin = { scheme: 'http', host: 'a.example' };
const redirect = (location: string, status = 301, signal?: string) => ({ status, signal, location });

describe('a redirect in place of a response', () => {
  it.each([
    ['https://a.example/index.php?rest_route=/x', { scheme: 'https', host: 'a.example' }],
    ['https://a.example', { scheme: 'https', host: 'a.example' }],
    ['https://b.example/', { scheme: 'https', host: 'b.example' }],
    ['http://b.example:8080/', { scheme: 'http', host: 'b.example:8080' }],
    ['//b.example/', { scheme: 'http', host: 'b.example' }],
    ['http://a.example/other', null],
    ['http://a.example:80/other', null],
    ['/other', null],
    ['ftp://a.example/', null],
    ['javascript:alert(1)', null],
    ['https://', null],
    ['https://a.example/wp-admin/install.php', null],
    ['https://a.example/wp-admin/setup-config.php?step=1', null],
  ])('to %s is followed to %j', (location, origin) => {
    for (const status of [301, 302, 307, 308])
      expect(getRedirectOrigin(redirect(location, status), requested)).toEqual(origin);
  });

  it('is ignored when the connector signed it, or with another status', () => {
    expect(getRedirectOrigin(redirect('https://a.example/', 301, '1 x'), requested)).toBeNull();
    expect(getRedirectOrigin(redirect('https://a.example/', 200), requested)).toBeNull();
    expect(describeRedirect(redirect('https://a.example/', 200), requested)).toBeNull();
    expect(describeRedirect({ status: 301, signal: undefined, location: undefined }, requested)).toBeNull();
  });

  it.each([
    ['https://a.example/index.php?rest_route=/x', 'https://a.example/index.php', 'scheme'],
    ['http://a.example/blog/index.php?rest_route=/x', 'http://a.example/blog/index.php', 'scheme'],
    ['/index.php?rest_route=/x', 'http://a.example/index.php', 'scheme'],
    ['/', 'http://a.example/', 'elsewhere'],
    ['http://a.example/closed?token=s3cret', 'http://a.example/closed', 'elsewhere'],
    ['https://me:s3cret@b.example/p?token=s3cret#s3cret', 'https://b.example/p', 'host'],
    ['http://[s3cret?s3cret', 'http://[s3cret', 'elsewhere'],
    ['https://b.example/\u0000\u001b[31m\u202e', 'https://b.example/%00%1B[31m%E2%80%AE', 'host'],
  ])('to %j is reported without parts that may be secret: %s', (location, target, to) => {
    expect(describeRedirect(redirect(location), requested)).toEqual({ from: 'a.example', target, to });
  });

  it.each([`https://b.example/${'x'.repeat(5000)}`, `http://[${'\u001b'.repeat(5000)}`])(
    'is reported in one short line, whatever its length',
    (location) => {
      const { target } = describeRedirect(redirect(location), requested) as { target: string };
      expect(target).toMatch(/^[\x20-\x7e]{1,120}$/);
    },
  );
});

function toFacts(homeUrl: string): SiteFacts {
  return { homeUrl, paths: defaultSitePaths, timeZone: 'UTC', locale: 'en_US', multisite: false, signedXmlRpc: [] };
}

function clientFor(options: { facts?: SiteFacts | null; lastPage?: () => SiteOrigin | null } = {}) {
  const client = createConnectorClient({
    clock: Date.now,
    facts: () => options.facts ?? null,
    ...(options.lastPage !== undefined && { lastPage: options.lastPage }),
  });
  onTestFinished(() => client.close());
  return client;
}

const visitor = {
  cookie: 'session=owner',
  sender: { host: 'shop.example:8443', scheme: 'https' as const, address: '192.0.2.7', requestId: '0123456789abcdef' },
};

describe('a command', () => {
  it('has the headers of a visitor’s request, with the scheme and host of the site', async () => {
    const { upstream, seen } = await webServer(httpsOnly);
    const client = clientFor({ facts: toFacts('https://a.example') });
    await client.hello(siteConfig({ upstream }));
    expect(seen).toEqual(['https a.example 127.0.0.1 127.0.0.1 true']);
    expect(forwardedHeaders({ address: '192.0.2.7', scheme: 'https', host: '' })).not.toContain('X-Forwarded-Host');
  });

  it('for a visitor has the visitor’s own scheme, host and address', async () => {
    const { upstream, seen } = await webServer(httpsOnly);
    const client = clientFor({ facts: toFacts('http://a.example') });
    expect(await client.identify(siteConfig({ upstream }), visitor)).toMatchObject({ login: 'owner' });
    expect(seen).toEqual(['https shop.example:8443 192.0.2.7 192.0.2.7 true']);
  });

  it('for a visitor without a host is sent to that of the site', async () => {
    const { upstream, seen } = await webServer(() => false);
    const client = clientFor({ facts: toFacts('https://a.example') });
    await client.identify(siteConfig({ upstream }), { ...visitor, sender: { ...visitor.sender, host: '' } });
    expect(seen).toEqual(['https a.example 192.0.2.7 192.0.2.7 true']);
  });

  it.each([301, 302, 307, 308])(
    'is sent again by https where the web server redirects there with %i',
    async (status) => {
      const { connector, upstream, seen } = await webServer((request, response) => {
        if (request.headers['x-forwarded-proto'] === 'https') return false;
        response.writeHead(status, { location: `https://${request.headers.host}${request.url}` }).end();
        return true;
      });
      const policy = { disable_feed: 1 };
      const push = { hash: hashPolicy(policy), policy };
      await clientFor().policy(siteConfig({ upstream, hosts: ['a.example'] }), push);
      expect(connector.policy).toEqual(push);
      expect(connector.commands).toEqual(['policy']);
      expect(seen).toEqual(['http a.example 127.0.0.1 127.0.0.1 true', 'https a.example 127.0.0.1 127.0.0.1 true']);
    },
  );

  it('finds the site’s host and then its scheme, in at most three requests', async () => {
    const found = await webServer((request, response) => {
      if (request.headers.host !== 'a.example') {
        response.writeHead(302, { location: 'http://a.example/' }).end();
        return true;
      }
      return httpsOnly(request, response);
    });
    await clientFor().hello(siteConfig({ upstream: found.upstream }));
    expect(found.seen.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      `http ${new URL(found.upstream).host}`,
      'http a.example',
      'https a.example',
    ]);
    let count = 0;
    const endless = await webServer((_request, response) => {
      response.writeHead(301, { location: `https://host-${count++}.example/` }).end();
      return true;
    });
    const failed = clientFor().hello(siteConfig({ upstream: endless.upstream }));
    await expect(failed).rejects.toMatchObject({
      fault: { redirect: { from: new URL(endless.upstream).host, to: 'host' } },
    });
    expect(endless.seen).toHaveLength(3);
  });

  it('is never sent again for a visitor, to WordPress’s installation, or when it may have run', async () => {
    const { connector, upstream, seen } = await webServer(httpsOnly);
    const site = siteConfig({ upstream });
    const byHttp = { ...visitor, sender: { ...visitor.sender, scheme: 'http' as const } };
    await expect(clientFor().identify(site, byHttp)).rejects.toMatchObject({ code: 'connector_redirected' });
    expect(seen).toHaveLength(1);
    const setUp = await webServer((request, response) => {
      response.writeHead(302, { location: `https://${request.headers.host}/wp-admin/install.php` }).end();
      return true;
    });
    const fault = { kind: 'missing', notSetUp: true };
    await expect(clientFor().hello(siteConfig({ upstream: setUp.upstream }))).rejects.toMatchObject({ fault });
    expect(setUp.seen).toHaveLength(1);
    const cut = await webServer((request) => {
      request.socket.destroy();
      return true;
    });
    const lastPage = () => ({ scheme: 'https' as const, host: 'a.example' });
    const forget = clientFor({ lastPage }).forget(siteConfig({ upstream: cut.upstream }));
    await expect(forget).rejects.toMatchObject({ fault: { kind: 'unreachable' } });
    expect(cut.seen).toHaveLength(1);
    expect(connector.commands).toEqual([]);
  });

  it('is sent to the same web server, whatever the target of a redirect', async () => {
    const elsewhere = await webServer(() => false);
    const { upstream } = await webServer((_request, response) => {
      response.writeHead(301, { location: `${elsewhere.upstream}/` }).end();
      return true;
    });
    await expect(clientFor().hello(siteConfig({ upstream }))).rejects.toMatchObject({ fault: { kind: 'unreachable' } });
    expect(elsewhere.seen).toEqual([]);
  });

  it('that is redirected to the same address reports the address and how to fix it', async () => {
    // As with `RewriteCond %{HTTPS} off` behind a server that terminates TLS.
    const { upstream, seen } = await webServer((request, response) => {
      response.writeHead(301, { location: `https://${request.headers.host}${request.url}` }).end();
      return true;
    });
    const facts = toFacts('https://a.example');
    await expect(clientFor({ facts }).hello(siteConfig({ upstream }))).rejects.toMatchObject({
      code: 'connector_redirected',
      fault: { kind: 'unreachable', redirect: { target: 'https://a.example/index.php', to: 'scheme' } },
      detail: expect.stringMatching(
        /redirects guard’s commands to https:\/\/a\.example\/index\.php, .*X-Forwarded-Proto/,
      ),
    });
    expect(seen).toHaveLength(1);
  });
});

describe('a site that serves every host, with another server behind', () => {
  const another: readonly [string, (response: ServerResponse) => void][] = [
    ['responds with a page', (response) => void response.writeHead(200).end('<html>another site</html>')],
    ['responds with 404', (response) => void response.writeHead(404).end('no such page')],
    ['responds with 503', (response) => void response.writeHead(503).end()],
    ['closes the connection', (response) => void response.socket?.destroy()],
    [
      'redirects to its own name',
      (response) => void response.writeHead(301, { location: 'https://other.example/' }).end(),
    ],
  ];

  it.each(another)('that %s: is found by the last page that the connector signed', async (_what, fallback) => {
    const { connector, upstream, seen } = await webServer(forHost('a.example', fallback));
    let lastPage: SiteOrigin | null = null;
    const client = clientFor({ lastPage: () => lastPage });
    const site = siteConfig({ upstream });
    await expect(client.hello(site)).rejects.toMatchObject({ name: 'ConnectorError' });
    lastPage = { scheme: 'https', host: 'a.example' };
    await client.hello(site);
    expect(seen.at(-1)).toBe('https a.example 127.0.0.1 127.0.0.1 true');
    await client.loginData(site);
    expect(connector.commands).toEqual(['hello', 'login-data']);
  });

  it('names the requested host and how to fix it while the site has had no visitors', async () => {
    const { upstream } = await webServer(forHost('a.example', (response) => void response.writeHead(404).end()));
    const { host } = new URL(upstream);
    await expect(clientFor().hello(siteConfig({ upstream }))).rejects.toMatchObject({
      fault: { kind: 'missing', host },
      detail: `What answers for the host ${host} has no connector plugin. If the site has another name, attach it again with --host and that name.`,
    });
    // WordPress has reported this host, so it is the right WordPress.
    const known = clientFor({ facts: toFacts('https://b.example') }).hello(siteConfig({ upstream }));
    await expect(known).rejects.toMatchObject({
      detail: 'WordPress answers, but the connector plugin is missing in it.',
    });
  });
});
