import { deserialize, serialize } from 'node:v8';
import { defaultSecurityOptions } from '@security-optimizer/contract/settings/protections';
import { describe, expect, it } from 'vitest';
import { english } from '../i18n/language.js';
import { parseAddress } from '../lib/address.js';
import { AddressSet } from '../lib/address-set.js';
import { TimedAddresses } from '../lib/timed-addresses.js';
import { defaultLoginSettings } from '../rules/login-policy.js';
import type { SnapshotInput } from '../rules/rule.js';
import { defaultSitePaths } from '../site.js';
import { listReplicas, packInput, readReplicas, type SiteReplica, unpackInput } from './messages.js';

const input = (change: Partial<SnapshotInput> = {}): SnapshotInput => ({
  options: defaultSecurityOptions,
  paths: defaultSitePaths,
  blocked: AddressSet.empty,
  login: defaultLoginSettings,
  timeZone: 'UTC',
  language: english,
  ...change,
});

const replica = (site: string, change: Partial<SnapshotInput> = {}): SiteReplica => ({
  site,
  input: packInput(input(change)),
  facts: null,
  visits: { recording: true, anonymize: false, ownCron: false },
});

/** What the other process receives. */
const sent = (replicas: readonly SiteReplica[]): SiteReplica[] => [
  ...readReplicas(deserialize(serialize(listReplicas(replicas)))),
];

describe('the copy of a site in a worker', () => {
  it('blocks the same addresses, permanently and for a time', () => {
    const blocked = AddressSet.from(['192.0.2.7', '198.51.100.0/24', '2001:db8::/32']);
    const blockedUntil = TimedAddresses.from([
      { value: '203.0.113.7', until: 1000 },
      { value: '203.0.113.128/25', until: 2000 },
    ]);
    const [copy] = sent([replica('site', { blocked, blockedUntil })]);
    const received = unpackInput(copy as SiteReplica, () => english);
    const isBlocked = (text: string, now: number) => {
      const address = parseAddress(text);
      if (address === null) throw new Error(text);
      return received.blocked.has(address) || received.blockedUntil?.has(address, now) === true;
    };
    const all = ['192.0.2.7', '192.0.2.8', '198.51.100.9', '2001:db8::1', '203.0.113.7', '203.0.113.200'];
    expect(all.map((text) => isBlocked(text, 500))).toEqual([true, false, true, true, true, true]);
    expect(all.map((text) => isBlocked(text, 1500))).toEqual([true, false, true, true, false, true]);
  });

  it('is sent once for all sites with the same settings, and for each site with blocked addresses', () => {
    const blocked = AddressSet.from(['192.0.2.7']);
    const replicas = [
      ...[replica('one'), replica('two'), replica('three', { timeZone: 'Europe/Paris' })],
      ...[replica('four', { blocked }), replica('five', { blocked })],
    ];
    expect(listReplicas(replicas).inputs).toHaveLength(4);
    expect(
      sent(replicas).map(({ site, input: { timeZone, blocked: list } }) => [site, timeZone, list.v4.length]),
    ).toEqual([
      ['one', 'UTC', 0],
      ['two', 'UTC', 0],
      ['three', 'Europe/Paris', 0],
      ['four', 'UTC', 1],
      ['five', 'UTC', 1],
    ]);
  });
});
