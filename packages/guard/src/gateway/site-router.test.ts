import { expect, it, onTestFinished } from 'vitest';
import { siteConfig } from '../../test/support/site-config.js';
import type { Config } from '../config/config.js';
import { configFile } from '../config/config-file.js';
import type { QuarantinedSite, SiteConfig } from '../site.js';
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
