import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { queryObjects } from 'node:v8';
import { expect, it, onTestFinished } from 'vitest';
import { siteConfig } from '../../test/support/site-config.js';
import type { Config } from '../config/config.js';
import { configFile } from '../config/config-file.js';
import type { QuarantinedSite, SiteConfig } from '../site.js';
import type { UpstreamConnection } from '../upstream/upstream-client.js';
import { UpstreamPool } from '../upstream/upstream-pool.js';
import { type RoutedSite, SiteRouter } from './site-router.js';

const named = (name: string, more: Partial<SiteConfig> = {}) =>
  siteConfig({ id: name, hosts: [`${name}.example.com`], upstream: 'http://127.0.0.1:1', ...more });
const none = { served: [], quarantined: [], removed: [], trustedProxies: [] };

function routerFor(sites: readonly SiteConfig[], quarantined: readonly QuarantinedSite[] = []): SiteRouter {
  const { limits } = configFile.parse({});
  const router = new SiteRouter({ limits, sites, quarantined, trustedProxies: [] } as unknown as Config);
  onTestFinished(() => router.destroy());
  return router;
}

const find = (router: SiteRouter, host: string) => router.find(host) as RoutedSite;
const idAt = (router: SiteRouter, host: string) => {
  const found = router.find(host);
  if (found === null) return null;
  return 'quarantined' in found ? `quarantined ${found.quarantined.id}` : found.config.id;
};

it('a change touches only its own sites: the route of every other site stays the same object', () => {
  const router = routerFor([named('a'), named('b')]);
  const [a, b] = [find(router, 'a.example.com'), find(router, 'b.example.com')];
  router.applyChange({ ...none, served: [named('b', { requireGuard: false }), named('new')] });
  expect(find(router, 'a.example.com')).toBe(a);
  expect(idAt(router, 'new.example.com')).toBe('new');
  // Its connections are kept, since its upstream is the same.
  expect(find(router, 'b.example.com')).not.toBe(b);
  expect(find(router, 'b.example.com').pool).toBe(b.pool);
  router.applyChange({ ...none, served: [named('b', { upstream: 'http://127.0.0.1:2' })] });
  expect(find(router, 'b.example.com').pool).not.toBe(b.pool);
});

/** Pools in the memory of this thread, after a garbage collection. */
const countPools = () => queryObjects(UpstreamPool, { format: 'count' });

it('a site has no pool of connections before its first request to WordPress', () => {
  const before = countPools();
  const router = routerFor(Array.from({ length: 1000 }, (_, number) => named(`site-${number}`)));
  expect(router.waiting).toBe(0);
  expect(find(router, 'site-7.example.com').config.id).toBe('site-7');
  expect(countPools() - before).toBe(0);
  const { pool } = find(router, 'site-7.example.com');
  expect([find(router, 'site-7.example.com').pool, countPools() - before]).toEqual([pool, 1]);
});

it('a site with proxies of its own keeps its connections when the machine’s proxies change', () => {
  const router = routerFor([named('a', { trustedProxies: ['192.0.2.0/24'] })]);
  const before = find(router, 'a.example.com');
  router.applyChange({ ...none, trustedProxies: ['198.51.100.1'] });
  const after = find(router, 'a.example.com');
  expect(after.trusted?.size).toBe((before.trusted?.size ?? 0) + 1);
  expect(after.pool).toBe(before.pool);
});

it('a request that needs its first connection after the end of the router gets none', () => {
  const router = routerFor([named('a')]);
  const site = find(router, 'a.example.com');
  router.close();
  const failures: string[] = [];
  const fail = (kind: string) => failures.push(kind);
  site.pool.acquire({ from: '', reuse: 'any', use: () => failures.push('connected'), fail });
  expect(failures).toEqual(['busy']);
});

/** Sends one request through a pool. Resolves with its connection when the response has arrived. */
function sendThrough(pool: UpstreamPool): Promise<UpstreamConnection> {
  return new Promise((resolve, reject) => {
    const ignored = { onInformation() {}, onHead() {}, onBody() {}, onDrain() {} };
    const fail = (_kind: string, cause: unknown) => reject(cause);
    const use = (connection: UpstreamConnection) => {
      const onComplete = () => void setImmediate(resolve, connection);
      const options = { headRequest: false, expectsBody: false, timeoutMs: 10_000 };
      connection.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n', { ...ignored, onComplete, onFailure: fail }, options);
    };
    pool.acquire({ from: '', reuse: 'any', use, fail });
  });
}

it('a request that needs its first connection after its site has moved is sent to the former server', async () => {
  const server = createServer((_request, response) => response.end('page')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const router = routerFor([named('moved', { upstream }), named('same', { upstream })]);
  const [moved, same] = [find(router, 'moved.example.com'), find(router, 'same.example.com')];
  router.applyChange({ ...none, served: [named('moved')] });
  expect(await sendThrough(same.pool)).toBe(await sendThrough(same.pool));
  // Its connection is not kept, since no other request follows.
  expect(await sendThrough(moved.pool)).not.toBe(await sendThrough(moved.pool));
});

it('a host that moves from one site to another leads to the new one, in whatever order they are listed', () => {
  for (const order of [0, 1]) {
    const router = routerFor([named('a'), named('b', { hosts: ['b.example.com', '*.b.example.com'] })]);
    const served = [
      named('a', { hosts: ['b.example.com', '*.b.example.com'] }),
      named('b', { hosts: ['c.example.com'] }),
    ];
    router.applyChange({ ...none, served: order === 0 ? served : served.toReversed() });
    const hosts = ['a.example.com', 'b.example.com', 'www.b.example.com', 'c.example.com'];
    expect(hosts.map((host) => idAt(router, host))).toEqual([null, 'a', 'a', 'b']);
  }
});

it('a quarantined site keeps its hosts from every wildcard, and a removed one does not', () => {
  const router = routerFor([named('net', { hosts: ['*.example.com', '*'] }), named('a')]);
  const quarantined = [{ id: 'a', hosts: ['a.example.com'], cause: 'entry' as const, reason: 'x' }];
  router.applyChange({ ...none, quarantined });
  expect([idAt(router, 'a.example.com'), router.only]).toEqual(['quarantined a', null]);
  router.applyChange({ ...none, removed: ['a'] });
  expect([idAt(router, 'a.example.com'), router.only?.config.id]).toEqual(['net', 'net']);
  router.applyChange({ ...none, removed: ['net'] });
  expect([idAt(router, 'a.example.com'), router.only]).toEqual([null, null]);
});

it('changed proxies of the machine count for sites with proxies of their own', () => {
  const router = routerFor([named('a', { trustedProxies: ['192.0.2.1'] }), named('b')]);
  const b = find(router, 'b.example.com');
  router.applyChange({ ...none, trustedProxies: ['198.51.100.0/24'] });
  expect(find(router, 'a.example.com').trusted?.size).toBe(2);
  expect(find(router, 'b.example.com')).toBe(b);
});
