import { describe, expect, it } from 'vitest';
import { siteConfig } from '../../test/support/site-config.js';
import type { QuarantinedSite } from '../site.js';
import { compareSites, keepValidEntries, SiteList, withUnusableSettings } from './site-list.js';

const named = (name: string, more: object = {}) => siteConfig({ id: name, hosts: [`${name}.example.com`], ...more });
const invalid = (id: string, hosts = [`${id}.example.com`]): QuarantinedSite => {
  return { id, hosts, cause: 'entry', reason: 'a mistake' };
};
const empty = { served: [], quarantined: [], removed: [], trustedProxies: [] };

function createList(...sites: readonly string[]): SiteList {
  return new SiteList({ sites: sites.map((name) => named(name)), quarantined: [invalid('q')], trustedProxies: [] });
}

describe('a change of the sites', () => {
  it('touches only the sites that it names, and can be undone', () => {
    const list = createList('a', 'b', 'c');
    const [before, a] = [list.configuration, list.find('a')];
    const change = { ...empty, served: [named('q'), named('new')], quarantined: [invalid('b')], removed: ['c'] };
    const undo = list.apply({ ...change, trustedProxies: ['192.0.2.0/24'] });
    expect(list.find('a')).toBe(a);
    expect([...list.servedIds].sort()).toEqual(['a', 'new', 'q']);
    expect(list.quarantined).toEqual([invalid('b')]);
    expect(list.trustedProxies).toEqual(['192.0.2.0/24']);
    list.apply(undo);
    const sort = ({ sites, ...rest }: typeof before) => ({
      ...rest,
      sites: sites.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    });
    expect(sort(list.configuration)).toEqual(sort(before));
  });

  it('is what differs from a configuration', async () => {
    const list = createList('a', 'b', 'c');
    const next = { sites: [named('a'), named('b', { home: '/blog' })], quarantined: [], trustedProxies: [] };
    expect(await compareSites(list, next)).toEqual({
      ...empty,
      served: [named('b', { home: '/blog' })],
      removed: ['c', 'q'],
    });
  });

  it('quarantines sites whose stored settings can’t be used', () => {
    const change = { ...empty, served: [named('a'), named('b')] };
    expect(withUnusableSettings(change, new Map([['b', 'why']]))).toEqual({
      ...empty,
      served: [named('a')],
      quarantined: [{ id: 'b', hosts: ['b.example.com'], cause: 'settings', reason: 'why' }],
    });
  });
});

describe('a mistake in the entry of a served site', () => {
  it('leaves its last valid entry in force, unlike a mistake in a new entry or in a key', () => {
    const key: QuarantinedSite = { ...invalid('b'), cause: 'key' };
    const quarantined = [invalid('a'), key, invalid('new'), invalid('q')];
    const { change, kept } = keepValidEntries(createList('a', 'b'), { ...empty, quarantined });
    expect(kept).toEqual([invalid('a')]);
    expect(change.quarantined).toEqual([key, invalid('new'), invalid('q')]);
  });

  it('quarantines it when another site has one of its hosts now', () => {
    const served = [named('new', { hosts: ['a.example.com'] })];
    const { change, kept } = keepValidEntries(createList('a'), { ...empty, served, quarantined: [invalid('a', [])] });
    expect(kept).toEqual([]);
    expect(change.quarantined).toEqual([invalid('a', [])]);
  });
});
