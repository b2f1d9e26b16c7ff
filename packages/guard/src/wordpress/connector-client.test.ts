import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fakeConnector, OTHER_SECRET } from '../../test/support/fake-connector.js';
import { siteConfig } from '../../test/support/site-config.js';
import { adminUrl, type SiteConfig, type SiteFacts } from '../site.js';
import { createConnectorClient } from './connector-client.js';
import type { ConnectorError } from './connector-error.js';
import { toSiteFacts } from './connector-responses.js';
import { hashPolicy } from './signature.js';

async function setUp(
  options: {
    now?: () => number;
    facts?: SiteFacts;
    hosts?: string[];
    responseTimeoutMs?: number;
    onNames?: (names: string) => void;
    isInMaintenance?: () => Promise<boolean>;
  } = {},
) {
  const connector = await fakeConnector();
  const site: SiteConfig = siteConfig({ hosts: options.hosts ?? ['*'], upstream: connector.upstream });
  const client = createConnectorClient({
    clock: options.now ?? Date.now,
    facts: () => options.facts ?? null,
    responseTimeoutMs: options.responseTimeoutMs ?? 20_000,
    onNames: (_site, names) => options.onNames?.(names),
    isInMaintenance: options.isInMaintenance ?? (async () => false),
  });
  onTestFinished(() => client.close());
  return { connector, client, site };
}

describe('a command', () => {
  it('is accepted by the connector and returns its response', async () => {
    const { connector, client, site } = await setUp();
    connector.home = 'https://example.com/Blog';
    expect(toSiteFacts(await client.hello(site))).toEqual({
      homeUrl: 'https://example.com/Blog',
      timeZone: 'Europe/Berlin',
      locale: 'en_US',
      multisite: false,
      signedXmlRpc: [],
      paths: {
        home: '/blog',
        admin: '/blog/wp-admin',
        includes: '/blog/wp-includes',
        content: '/blog/wp-content',
        uploads: '/blog/wp-content/uploads',
        rest: '/wp-json',
      },
    });
  });

  it.each([
    ['its zone, when guard has the same rules', 7200, 'Europe/Berlin'],
    ['its positive offset, when PHP has newer rules', 3600, '+01:00'],
    ['its negative offset', -12_600, '-03:30'],
    ['its zone, when its clock shows an impossible time', 86_400, 'Europe/Berlin'],
  ])('returns the time zone of the site: %s', async (_what, offset, timeZone) => {
    const { connector, client, site } = await setUp();
    connector.names = { clock: { time: Date.UTC(2026, 6, 20, 12) / 1000, offset } };
    expect(toSiteFacts(await client.hello(site)).timeZone).toBe(timeZone);
  });

  it('returns the names that the site has chosen, in lower case and without empty ones', async () => {
    const { connector, client, site } = await setUp();
    connector.names = {
      admin_url: 'https://admin.example.com/wp-admin/',
      also: { admin: ['/Manage'], includes: [], content: [''], uploads: ['/Static/Up'] },
      files: ['/Words', ''],
      cookies: { logged_in: 'member_pass', auth: ['staff', 'wordpress_sec_0a'] },
      languages: ['Latin-America'],
      bases: { text: ['Topics', 'shop/kinds'], feed: ['Topics'] },
      names: '0123456789abcdef',
    };
    const facts = toSiteFacts(await client.hello(site));
    expect(facts).toMatchObject({
      adminUrl: 'https://admin.example.com/wp-admin/',
      sessionCookies: { session: 'member_pass', all: ['member_pass', 'staff'] },
      names: '0123456789abcdef',
      paths: {
        also: { admin: ['/manage'], uploads: ['/static/up'] },
        files: ['/words'],
        languages: ['latin-america'],
        bases: { text: ['topics', 'shop/kinds'], feed: ['topics'] },
      },
    });
    expect(adminUrl(facts, 'admin.php?page=x')).toBe('https://admin.example.com/wp-admin/admin.php?page=x');
    // While WordPress has no rewrite rules, the earlier names stay valid.
    connector.names = { ...connector.names, bases: null };
    expect(toSiteFacts(await client.hello(site), facts).paths.bases).toEqual(facts.paths.bases);
    expect(toSiteFacts(await client.hello(site)).paths.bases).toBeUndefined();
  });

  it('ignores names that have an invalid form and accepts the others', async () => {
    const { connector, client, site } = await setUp();
    connector.names = {
      admin_url: 'javascript:alert(1)',
      also: { admin: 'x', includes: ['/lib', 'no-slash', 7], content: [], uploads: ['/a?b', '/up'] },
      files: ['no-slash', '/a b', null, '/words'],
      cookies: { logged_in: 'x'.repeat(201), auth: [] },
      languages: ['', 'x'.repeat(201), 'de', ['en']],
      bases: { text: 'topics', feed: [] },
      names: 7,
    };
    const facts = toSiteFacts(await client.hello(site));
    expect(facts.paths).toMatchObject({
      also: { includes: ['/lib'], uploads: ['/up'] },
      files: ['/words'],
      languages: ['de'],
    });
    expect(facts).not.toHaveProperty('adminUrl');
    expect(facts).not.toHaveProperty('sessionCookies');
    expect(facts).not.toHaveProperty('names');
    connector.names = { bases: null, languages: Array(900).fill('de') };
    expect(toSiteFacts(await client.hello(site)).paths.languages).toHaveLength(200);
  });

  it('reports the hash of the names when it fetches events', async () => {
    const reported: string[] = [];
    const { connector, client, site } = await setUp({ onNames: (names) => reported.push(names) });
    await client.events(site, { ack: [], limit: 1 });
    connector.names = { names: 'fedcba9876543210' };
    await client.events(site, { ack: [], limit: 1 });
    expect(reported).toEqual(['', 'fedcba9876543210']);
  });

  it('returns the results of password checks', async () => {
    const { connector, client, site } = await setUp();
    const report = { failed: [{ user: 'owner', id: 1, route: 'form' }], refused: 0, ok: null, factor: null };
    connector.checks.set('00112233445566ff', report).set('ff66554433221100', null);
    expect([...(await client.loginReports(site, ['00112233445566ff', 'ff66554433221100', 'none']))]).toEqual([
      ['00112233445566ff', report],
      ['ff66554433221100', 'unfinished'],
    ]);
  });

  it('that sends a policy fails when the connector stored another one', async () => {
    const { connector, client, site } = await setUp();
    const policy = { disable_feed: 1 };
    const push = { hash: hashPolicy(policy), policy };
    connector.sentPolicy = '0123456789abcdef';
    await expect(client.policy(site, push)).rejects.toMatchObject({ code: 'wordpress_unreachable' });
    connector.sentPolicy = null;
    expect(await client.policy(site, push)).toEqual({});
    expect(connector.policy).toEqual(push);
  });

  it('is sent to the host by which WordPress names itself', async () => {
    const paths = createHomeFacts();
    const facts = {
      homeUrl: 'https://example.com',
      paths,
      timeZone: 'UTC',
      locale: 'en_US',
      multisite: false,
      signedXmlRpc: [],
    };
    const { connector, client, site } = await setUp({ facts });
    await client.hello(site);
    expect(connector.hosts).toEqual(['example.com']);
  });

  it('is sent to the first named host while the facts of the site are unknown', async () => {
    const { connector, client, site } = await setUp({ hosts: ['*', 'www.example.com'] });
    await client.hello(site);
    expect(connector.hosts).toEqual(['www.example.com']);
  });

  it('follows the redirect of a network of sites, which serves only its own host', async () => {
    const { connector, client, site } = await setUp();
    connector.onlyHost = 'network.example';
    await client.hello(site);
    expect(connector.hosts).toEqual(['network.example']);
  });

  it('follows a network once to another host, and never when it is sent for a visitor', async () => {
    const { connector, client, site } = await setUp();
    // No request matches this host, so each one is redirected again.
    connector.onlyHost = 'network.example:80';
    const redirect = { from: new URL(site.upstream).host, target: 'http://network.example/', to: 'host' };
    await expect(client.hello(site)).rejects.toMatchObject({ fault: { kind: 'unreachable', redirect } });
    await expect(client.identify(site, visitor)).rejects.toMatchObject({
      code: 'connector_redirected',
      fault: { kind: 'unreachable', redirect: { from: 'example.com', target: 'http://network.example/', to: 'host' } },
    });
    expect(connector.hosts).toEqual([]);
  });

  it.each([
    ['the connector is missing', { mode: 'gone' as const }, { kind: 'missing' }],
    ['the connector has another secret', { secret: OTHER_SECRET }, { kind: 'other_secret' }],
    ['PHP is down', { mode: 'broken' as const }, { kind: 'unreachable', cause: 'it answered with HTTP status 502' }],
    ['WordPress hangs', { mode: 'slow' as const }, { kind: 'unreachable', cause: 'no answer within the time allowed' }],
  ])('fails with the cause when %s', async (_what, fault, expected) => {
    const { connector, client, site } = await setUp(
      'mode' in fault && fault.mode === 'slow' ? { responseTimeoutMs: 300 } : {},
    );
    Object.assign(connector, fault);
    await expect(client.hello(site)).rejects.toMatchObject({ fault: expected });
  });

  it('does not report the connector as missing while WordPress is in maintenance mode', async () => {
    let maintained = true;
    const { connector, client, site } = await setUp({ isInMaintenance: async () => maintained });
    connector.mode = 'gone';
    await expect(client.hello(site)).rejects.toMatchObject({
      fault: { kind: 'unreachable', cause: 'WordPress is in maintenance mode' },
    });
    maintained = false;
    await expect(client.hello(site)).rejects.toMatchObject({ fault: { kind: 'missing' } });
  });

  it('checks for maintenance mode only when a response has no signature', async () => {
    let calls = 0;
    const { connector, client, site } = await setUp({
      isInMaintenance: async () => {
        calls++;
        return true;
      },
    });
    await client.hello(site);
    connector.secret = OTHER_SECRET;
    await expect(client.hello(site)).rejects.toMatchObject({ fault: { kind: 'other_secret' } });
    connector.mode = 'broken';
    await expect(client.hello(site)).rejects.toMatchObject({ fault: { cause: 'it answered with HTTP status 502' } });
    expect(calls).toBe(0);
  });

  it.each([
    [403, '<h1>Forbidden</h1>', 'unreachable'],
    [403, 'Access denied', 'unreachable'],
    [403, ' {"code":"rest_forbidden"}', 'missing'],
    [408, '', 'unreachable'],
    [413, '<html><h1>413 Request Entity Too Large</h1></html>', 'unreachable'],
    [429, '{"error":"slow down"}', 'unreachable'],
    [431, '', 'unreachable'],
    [500, '{}', 'unreachable'],
    [503, '', 'unreachable'],
    [200, '<html>a page</html>', 'missing'],
    [404, '{"code":"rest_no_route"}', 'missing'],
    [401, '', 'missing'],
  ])('with the response status %i and the body %j reports the connector as %s', async (status, text, kind) => {
    const server = createServer((_request, response) => void response.writeHead(status).end(text));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { client } = await setUp();
    const fault = client.hello(siteConfig({ upstream })).catch((error: ConnectorError) => error.fault);
    expect(await fault).toMatchObject({ kind });
  });

  it('fails with the cause when no server listens', async () => {
    const { connector, client, site } = await setUp();
    await connector.close();
    await expect(client.hello(site)).rejects.toMatchObject({
      code: 'wordpress_unreachable',
      fault: { kind: 'unreachable', cause: 'connection refused' },
    });
  });

  it('fails with the clocks as the cause when they differ by more than a minute', async () => {
    const { client, site } = await setUp({ now: () => Date.now() - 90_000 });
    await expect(client.hello(site)).rejects.toMatchObject({
      fault: { kind: 'unreachable', cause: expect.stringContaining('clocks') },
    });
  });
});

const visitor = {
  cookie: 'session=owner',
  sender: { host: 'example.com', scheme: 'https' as const, address: '192.0.2.7', requestId: '0123456789abcdef' },
};

describe('the commands of Login Security', () => {
  it('find the signed-in user by the cookie alone', async () => {
    const { client, site } = await setUp();
    expect(await client.identify(site, visitor)).toEqual({ id: 1, login: 'owner', administrator: true });
    expect(await client.identify(site, { ...visitor, cookie: 'session=nobody' })).toBeNull();
  });

  it('create a session and return every cookie', async () => {
    const { client, site, connector } = await setUp();
    const request = {
      user: 1,
      remember: true,
      redirect: '',
      decided: false,
      sitePath: '',
      interim: false,
      stamp: 'stamp',
      newFactor: false,
      sender: visitor.sender,
    };
    expect(await client.issueSession(site, request)).toEqual({
      redirect: 'https://example.com/wp-admin/',
      setCookies: ['first=1; HttpOnly', 'second=2; HttpOnly'],
    });
    expect(connector.hosts).toEqual(['example.com']);
  });

  it('create a session at the site of the network that checked the password, with the decided redirect', async () => {
    const { client, site, connector } = await setUp();
    const requested: (string | undefined)[] = [];
    connector.onRequest = (_command, { url }) => requested.push(url);
    const rest = { user: 1, remember: true, interim: false, stamp: '', newFactor: false, sender: visitor.sender };
    for (const sitePath of ['', '/two/', '/a/b', '/two/../x/', '//evil.example/']) {
      await client.issueSession(site, { ...rest, redirect: '/a', decided: true, sitePath });
    }
    const route = 'rest_route=/security-optimizer-connector/v1/issue-session';
    expect(requested).toEqual(['', '/two', '/a/b', '/x', ''].map((path) => `${path}/index.php?${route}`));
    const { sender: _, newFactor, ...sent } = rest;
    expect(connector.issued).toEqual(
      requested.map(() => ({ ...sent, redirect: '/a', decided: true, new_factor: newFactor })),
    );
    expect(connector.hosts).toEqual(Array.from({ length: 5 }, () => 'example.com'));
  });

  it('find a user by ID, and return null for an unknown ID', async () => {
    const { client, site } = await setUp();
    expect(await client.user(site, 1)).toEqual({
      id: 1,
      login: 'owner',
      needsFactor: true,
      email: 'owner@example.com',
      stamp: '',
    });
    expect(await client.user(site, 99)).toBeNull();
  });

  it('name what uses a path', async () => {
    const { client, site, connector } = await setUp();
    connector.usedPaths.set('about', 'a page');
    expect([await client.pathInUse(site, 'about'), await client.pathInUse(site, 'door')]).toEqual(['a page', null]);
  });

  it('rename all users, or return the fault', async () => {
    const { client, site } = await setUp();
    expect(await client.renameUsers(site, [{ ID: 2, user_login: 'Owner' }], visitor)).toEqual({
      faults: { 2: 'exists' },
      setCookies: [],
    });
    expect(await client.renameUsers(site, [{ ID: 2, user_login: 'writer' }], visitor)).toEqual({
      faults: null,
      setCookies: ['renamed=1; HttpOnly'],
    });
    expect((await client.loginData(site)).users).toEqual(['owner', 'writer']);
  });

  it('return the events of the outbox, users, and whether a mail was sent', async () => {
    const { connector, client, site } = await setUp();
    connector.outbox = [{ uid: 'a' }, { uid: 'b' }, { uid: 'c' }];
    expect(await client.events(site, { ack: ['a'], limit: 1 })).toEqual({
      events: [{ id: 1, uid: 'b' }],
      more: true,
      held: 0,
      names: '',
    });
    expect(await client.usersInfo(site, { users: [2] })).toEqual({
      users: [{ id: 2, login: 'editor', roles: ['editor'], can_manage: false }],
      administrators: 1,
    });
    expect((await client.usersInfo(site, { search: 'own', limit: 5 })).users.map(({ id }) => id)).toEqual([1]);
    const mail = { to: 'a@example.com', subject: 's', html: '<p>h</p>', text: 't' };
    expect(await client.sendMail(site, mail)).toBeNull();
    expect(connector.mails).toEqual([mail]);
    connector.mailFault = 'No mail server.';
    expect(await client.sendMail(site, mail)).toBe('No mail server.');
  });

  it('fail with the cause when WordPress could not carry them out', async () => {
    const { client, site, connector } = await setUp();
    connector.failing.add('end-sessions');
    await expect(client.endSessions(site, [1])).rejects.toMatchObject({
      fault: { kind: 'unreachable', cause: 'the connector answered the command end-sessions with HTTP status 500' },
    });
  });
});

function createHomeFacts() {
  const content = '/wp-content';
  return {
    home: '',
    admin: '/wp-admin',
    includes: '/wp-includes',
    content,
    uploads: `${content}/uploads`,
    rest: '/wp-json',
  };
}
