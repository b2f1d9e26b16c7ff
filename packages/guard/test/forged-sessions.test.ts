import { describe, expect, it, onTestFinished } from 'vitest';
import { createConnectorClient } from '../src/wordpress/connector-client.js';
import { RawClient, toStatus } from './raw-client.js';
import { fakeConnector } from './support/fake-connector.js';
import { recordedLog } from './support/logs.js';
import { callApi, dataFolderFor, runningGuard } from './support/running-guard.js';
import { eventually } from './support/scratch.js';
import { siteConfig } from './support/site-config.js';

const FLOOD = 500;
const MEMBER = 'wordpress_logged_in_abc=owner';

/** Guard in front of a WordPress that never responds to session queries for invented cookies. */
async function start() {
  const connector = await fakeConnector();
  connector.users.set(MEMBER, { nonce: 'owner-nonce', can_manage: true, id: 1, login: 'owner' });
  const log = recordedLog();
  const trusted = { trustedProxies: ['127.0.0.1'] };
  const guard = await runningGuard(await dataFolderFor(connector, {}, trusted), log.logger);
  await eventually(() => connector.policy !== null);
  const port = Number(new URL(guard.url).port);
  /** Session queries to WordPress, by their cookies, and the most that were open for invented ones at the same time. */
  const requested: string[] = [];
  let open = 0;
  let max = 0;
  const releases: (() => void)[] = [];
  connector.hold = async (command, cookie = '') => {
    if (command !== 'session') return;
    requested.push(cookie);
    if (!cookie.includes('invented')) return;
    max = Math.max(max, ++open);
    await new Promise<void>((resolve) => releases.push(resolve));
    open--;
  };
  onTestFinished(() => {
    for (const release of releases) release();
  });
  const sendForged = (i: number, address: string): RawClient =>
    new RawClient(port).send(
      [
        'POST /wp-json/security-optimizer/v1/disable-feeds HTTP/1.1',
        'Host: example.com',
        `X-Forwarded-For: ${address}`,
        `Cookie: wordpress_logged_in_abc=invented${i}`,
        'X-WP-Nonce: invented',
        'Content-Length: 0',
        'Connection: close',
        '\r\n',
      ].join('\r\n'),
    );
  const owner = { cookie: MEMBER, 'x-forwarded-for': '203.0.113.7' };
  const call = (suffix: string, body: object, headers = owner) =>
    callApi(guard.url, suffix, { body: JSON.stringify(body), headers });
  return { connector, guard, log, requested, releases, sendForged, call, getMax: () => max };
}

type Site = Awaited<ReturnType<typeof start>>;

/** Sends the flood, and waits until the queue is full and the excess was refused. */
async function flood(site: Site, toAddress: (i: number) => string): Promise<RawClient[]> {
  const room = toAddress === fromMany ? 66 : 17;
  const clients = Array.from({ length: FLOOD }, (_, i) => site.sendForged(i, toAddress(i)));
  await eventually(() => site.getMax() > 0 && clients.filter(({ closed }) => closed).length >= FLOOD - room);
  return clients;
}

const fromOne = () => '198.51.100.9';
const fromOneNetwork = (i: number) => `2001:db8:7:7::${i.toString(16)}`;
const fromMany = (i: number) => `198.51.${100 + Math.floor(i / 250)}.${i % 250}`;

describe('500 connections with an invented cookie and nonce', () => {
  it.each([
    ['one address', fromOne],
    ['one /64 of IPv6', fromOneNetwork],
  ])(
    'from %s do not delay an owner who is unknown so far: WordPress is queried, and the API request gets its response',
    async (_from, toAddress) => {
      const site = await start();
      await flood(site, toAddress);
      const { http } = await site.call('/fetch-options', { page: 'security' });
      expect(http).toBe(200);
      // Only one query of the flood was sent, and it has no response yet.
      expect(site.requested.filter((cookie) => cookie !== MEMBER)).toHaveLength(1);
    },
  );

  it.each([
    ['sent an API request before', async (site: Site) => void (await site.call('/rate', {}))],
    [
      'opened a page of wp-admin before',
      async ({ connector, guard }: Site) => {
        connector.flags = 'm';
        await fetch(`${guard.url}/wp-admin/`, { headers: { cookie: MEMBER, 'x-forwarded-for': '203.0.113.7' } });
      },
    ],
  ])('from as many addresses do not delay an owner who has %s', async (_what, known) => {
    const site = await start();
    await known(site);
    await flood(site, fromMany);
    expect((await site.call('/fetch-options', { page: 'security' })).http).toBe(200);
    // A change queries WordPress again and sends it the new policy.
    const changed = await site.call('/disable-feeds', { disable_feed: 1 });
    expect(changed.body.data).toEqual({ disable_feed: 1 });
    expect(site.connector.policy?.policy.disable_feed).toBe(1);
    expect(site.getMax()).toBe(2);
  });

  it('are refused at once when the queue is full, without a log line for each', async () => {
    const site = await start();
    const clients = await flood(site, fromOne);
    const statuses = clients.filter(({ closed }) => closed).map(({ received }) => toStatus(received));
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(FLOOD - 17);
    const many = await start();
    const others = await flood(many, fromMany);
    const responses = others.filter(({ closed }) => closed).map(({ received }) => toStatus(received));
    expect(new Set(responses)).toEqual(new Set([503]));
    expect(many.log.events().filter((event) => event === 'api-failed')).toHaveLength(1);
  });

  it('are no longer queried after they have disconnected', async () => {
    const site = await start();
    const clients = await flood(site, fromMany);
    for (const { socket } of clients) socket.destroy();
    await eventually(() => clients.every(({ closed }) => closed));
    // The next request finds an empty queue behind the two open queries.
    const last = site.sendForged(FLOOD, '192.0.2.77');
    await eventually(() => last.socket.bytesWritten > 0);
    for (const release of site.releases) release();
    await eventually(() => site.requested.some((cookie) => cookie.endsWith(`invented${FLOOD}`)));
    expect(site.requested).toHaveLength(3);
  });
});

describe('session queries to which WordPress never responds', () => {
  it('delay no policy, no session after a second factor, no event and no mail', async () => {
    const connector = await fakeConnector();
    const site = siteConfig({ hosts: ['example.com'], upstream: connector.upstream });
    const client = createConnectorClient({ clock: Date.now, facts: () => null });
    onTestFinished(() => client.close());
    connector.hold = (command) => (command === 'session' ? new Promise(() => undefined) : undefined);
    const sender = { host: 'example.com', scheme: 'https' as const, requestId: '0123456789abcdef' };
    const pending = Array.from({ length: FLOOD }, (_, i) =>
      (i % 2 === 0
        ? client.identify
        : (at: typeof site, visitor: Parameters<typeof client.identify>[1]) =>
            client.session(at, { ...visitor, nonce: 'x' }))(site, {
        cookie: `wordpress_logged_in_a=${i}`,
        sender: { ...sender, address: fromMany(i) },
      }).catch(() => undefined),
    );
    const owner = { ...sender, address: '203.0.113.7' };
    const target = { redirect: '', decided: false, sitePath: '', interim: false };
    const rest = { user: 1, remember: true, ...target, stamp: '', newFactor: false };
    expect((await client.issueSession(site, { ...rest, sender: owner })).setCookies).toHaveLength(2);
    expect((await client.hello(site)).connector).toBe(connector.version);
    expect((await client.events(site, { ack: [], limit: 1 })).events).toEqual([]);
    expect(await client.sendMail(site, { to: 'a@example.com', subject: 's', html: 'h', text: 't' })).toBeNull();
    expect(connector.commands).toEqual(['issue-session', 'hello', 'events', 'send-mail']);
    client.close();
    await Promise.all(pending);
  });
});

describe('a WordPress that is down', () => {
  it('is logged once, however many calls fail', async () => {
    const { connector, log, call } = await start();
    await call('/rate', {});
    await connector.close();
    for (let round = 0; round < 20; round++) {
      expect((await call('/disable-feeds', { disable_feed: 1 })).body.code).toBe('wordpress_unreachable');
    }
    expect(log.events().filter((event) => event === 'api-failed')).toHaveLength(1);
  });
});
