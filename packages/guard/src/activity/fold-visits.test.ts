import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress, toAddress } from '../lib/address.js';
import { type Fold, type FoldableVisit, FoldBuffer, isFlood, toFoldedNetwork, toTargetKind } from './fold-visits.js';
import { readAddressCounts } from './packed-visits.js';
import { anonymizeAddress } from './visit.js';

function visit(ip: string, more: { rule?: string; status?: number; target?: string; anonymized?: boolean } = {}) {
  const address = parseAddress(ip);
  if (address === null) throw new Error('not an address');
  const { rule = 'xml-rpc', status = 403, target = '/xmlrpc.php', anonymized = false } = more;
  const text = anonymized ? anonymizeAddress(address) : address.text;
  return { key: { address: text, rule, status, target }, address, anonymized } satisfies FoldableVisit;
}

function foldAll(visits: readonly FoldableVisit[]): FoldBuffer {
  const folds = new FoldBuffer();
  for (const each of visits)
    if (!folds.join(each)) folds.begin(each, { agent: 'Agent', referer: '', origin: '' }, 1000);
  return folds;
}

/** Returns this number of addresses, each in a network of its own. */
const far = (count: number) => Array.from({ length: count }, (_, index) => toAddress([0, 0, 0xffff, index << 8]).text);
/** Returns this number of addresses of one network. */
const createAddresses = (count: number) =>
  Array.from({ length: count }, (_, index) => `2001:db8::${(index + 1).toString(16)}`);

const others = ({ others: tally }: Fold) => (tally === null ? [] : [...readAddressCounts(tally.bytes())]);

describe('a flood', () => {
  it('is more than some hundred new rows of a site in a second, or of all sites, but never the first of a site', () => {
    expect([isFlood(199, 199), isFlood(200, 200)]).toEqual([false, true]);
    expect([isFlood(1, 999), isFlood(1, 1000), isFlood(0, 100_000)]).toEqual([false, true, false]);
  });
});

describe('the kind of a target', () => {
  it.each([
    ['/', '/shop?x=1', '/a/b/c', '/?author=1', '/image.png', '/phpinfo'],
    ['/xmlrpc.php', '//XMLRPC.php?try=1', '/blog/xmlrpc.php/x'],
    ['/wp-login.php', '/wp-login.php?action=register'],
    ['/wp-json', '/wp-json/wp/v2/users', '/?rest_route=/wp/v2/users', '/index.php?a=1&rest_route=/'],
    ['/wp-admin', '/wp-admin/install.php', '/blog/wp-admin/'],
    ['/wp-content/uploads/x.php', '/wp-includes/version.php'],
    ['/.env', '/blog/.git/config', '/.well-known/x'],
    ['/shell.php', '/x.phtml', '/a/b.php7?c', '/index.php/x'],
    ['-'],
  ])('is the same for %s and similar targets, and differs from all others', (...targets) => {
    expect(new Set(targets.map(toTargetKind)).size).toBe(1);
  });

  it('is one of nine, whatever the target', () => {
    const all = ['/', '/xmlrpc.php', '/wp-login.php', '/wp-json', '/wp-admin', '/wp-content/', '/.env', '/x.php', '-'];
    expect(new Set(all.map(toTargetKind)).size).toBe(9);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (target) => {
        expect([0, 1, 2, 3, 4, 5, 6, 7, 8]).toContain(toTargetKind(target));
      }),
    );
  });
});

describe('folded visits', () => {
  it('of one address share a row for each rule, status and kind of target, whatever their paths', () => {
    const paths = Array.from({ length: 5000 }, (_, index) =>
      visit('192.0.2.7', { target: `/xmlrpc.php?try=${index}` }),
    );
    const { folds } = foldAll([
      ...paths,
      visit('192.0.2.7', { target: '/.env' }),
      visit('192.0.2.7', { rule: 'blocked-visitor' }),
      visit('192.0.2.7', { status: 429 }),
    ]);
    expect(folds.map(({ key, more, moreBits }) => [key.target, key.rule, key.status, more, moreBits])).toEqual([
      ['/xmlrpc.php?try=0', 'xml-rpc', 403, 4999, null],
      ['/.env', 'xml-rpc', 403, 0, null],
      ['/xmlrpc.php', 'blocked-visitor', 403, 0, null],
      ['/xmlrpc.php', 'xml-rpc', 429, 0, null],
    ]);
    expect(folds[0]).toMatchObject({ texts: { agent: 'Agent' }, at: 1000 });
  });

  it('of many addresses share the row of their network', () => {
    const { folds } = foldAll(createAddresses(10_000).map((ip) => visit(ip)));
    expect(folds).toHaveLength(33);
    const [network] = folds.slice(-1) as [Fold];
    expect(network).toMatchObject({ more: 9967, moreBits: 64 });
    expect(toFoldedNetwork(network.key.address, network)).toBe('2001:db8::/64');
    expect(others(network)).toHaveLength(9967);
  });

  it('of many networks share one row for any address', () => {
    const { folds } = foldAll(far(10_000).map((ip) => visit(ip)));
    expect(folds).toHaveLength(65);
    const [anywhere] = folds.slice(-1) as [Fold];
    expect(anywhere).toMatchObject({ more: 9935, moreBits: 0 });
    expect(toFoldedNetwork(anywhere.key.address, anywhere)).toBeNull();
  });

  it('name the network of anonymised addresses', () => {
    const ips = Array.from({ length: 40 }, (_, index) => `2001:db8:${(index + 1).toString(16)}:7::1`);
    const { folds } = foldAll(ips.map((ip) => visit(ip, { anonymized: true })));
    const [last] = folds.slice(-1) as [Fold];
    expect(toFoldedNetwork(last.key.address, last)).toBe('2001:db8:28::/48');
  });

  it('are all counted, in total and for each address, in every order', () => {
    const query = fc.record({
      ip: fc.constantFrom(...createAddresses(50), ...far(120), '192.0.2.1', '192.0.2.2'),
      rule: fc.constantFrom('xml-rpc', 'feeds', 'blocked-visitor'),
      target: fc.constantFrom('/xmlrpc.php', '/', '/.env', '/wp-login.php', '/x.php'),
    });
    fc.assert(
      fc.property(fc.array(query, { maxLength: 600, size: 'max' }), (all) => {
        const { folds } = foldAll(all.map(({ ip, ...more }) => visit(ip, more)));
        expect(folds.reduce((sum, { more }) => sum + 1 + more, 0)).toBe(all.length);
        expect(folds.length).toBeLessThanOrEqual(32 + 32 + 3 * 5);
        const counted = new Map<string, number>();
        const count = (address: string, hits: number) => counted.set(address, (counted.get(address) ?? 0) + hits);
        for (const fold of folds) {
          count(fold.key.address, fold.moreBits === null ? 1 + fold.more : 1);
          for (const { address, hits } of others(fold)) count(address, hits);
        }
        const expected = new Map<string, number>();
        for (const { ip } of all) {
          const { text } = visit(ip).address;
          expected.set(text, (expected.get(text) ?? 0) + 1);
        }
        expect(counted).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  it('have the weight of their rows, and more when many addresses are counted', () => {
    expect(foldAll(Array.from({ length: 5000 }, () => visit('192.0.2.7'))).weight).toBe(1);
    const { weight } = foldAll(createAddresses(10_000).map((ip) => visit(ip)));
    expect(weight).toBeGreaterThan(500);
    expect(weight).toBeLessThan(2000);
  });
});
