import {
  type Attacker,
  type Attackers,
  type AttackGoal,
  attackGoals,
} from '@security-optimizer/contract/activity/attackers';
import { parseAddress } from '../lib/address.js';
import { isWithin, parseRange } from '../lib/address-set.js';
import type { Clock } from '../lib/clock.js';
import { localDate, localDaysFrom } from '../lib/time-zone.js';
import type { Actor } from '../settings/audit-store.js';
import type { SiteId } from '../site.js';
import type { ActivityStore, AttackerDay, AttackFacts } from './activity-store.js';
import type { CurrentBlocks } from './blocklist/current-blocks.js';
import { type ProtectedAddresses, reasonNotToBlockAddress } from './blocklist/protected-visitors.js';
import { GUESSES, readFailedLogins } from './failed-logins.js';
import { toAttackNetwork } from './store/attack-counters.js';

const DAYS = 7;
const PASSWORDS = attackGoals.indexOf('passwords');
const ENTRIES = 5;
const ALL_ENTRIES = 100;
const RANKED = 5;

/** An attacker as counted: an address, or a network with several. */
export interface CountedAttacker {
  readonly address: string;
  /** Number of counted addresses in it. */
  readonly addresses: number;
  readonly goal: AttackGoal;
  readonly target: string;
  readonly days: readonly number[];
  readonly blocked: number;
}

/**
 * Returns the attackers of a site in the last seven days, today included.
 * @returns the response, and the addresses in it whose host names are unknown
 */
export async function readAttackers(
  deps: {
    readonly store: Parameters<typeof readFailedLogins>[0] &
      Pick<ActivityStore, 'attacks' | 'readAttackedLogins' | 'readVisitors' | 'getAddressVisitor' | 'verifiedBotIn'>;
    readonly blocks: CurrentBlocks;
    readonly protectedAddresses: (site: SiteId) => ProtectedAddresses;
    readonly timeZone: (site: SiteId) => string;
    /** Whether addresses are stored anonymised. */
    readonly isAnonymized: (site: SiteId) => boolean;
    readonly clock: Clock;
  },
  { site, caller, all }: { readonly site: SiteId; readonly caller: Actor; readonly all: boolean },
): Promise<{ readonly data: Attackers; readonly unnamed: readonly string[] }> {
  const { store, clock } = deps;
  const timeZone = deps.timeZone(site);
  const now = Math.floor(clock() / 1000);
  const days = Array.from({ length: DAYS }, (_, i) => localDate(timeZone, localDaysFrom(timeZone, now, i + 1 - DAYS)));
  const from = localDaysFrom(timeZone, now, 1 - DAYS);
  const period = [days[0] as string, days.at(-1) as string] as const;
  const [facts, failed] = await Promise.all([
    store.attacks(site, ...period),
    readFailedLogins(store, site, { from, to: now + 1, days: period }),
  ]);
  const attackers = groupAttackers(facts.attackers, days);
  const shown = attackers.slice(0, all ? ALL_ENTRIES : ENTRIES);
  const singles = shown.filter(({ addresses }) => addresses === 1).map(({ address }) => address);
  const [visitors, blocks, logins] = await Promise.all([
    store.readVisitors(site, singles),
    deps.blocks.find(
      site,
      shown.map(({ address }) => address),
    ),
    countLogins(deps, site, facts),
  ]);
  const entries = await Promise.all(
    shown.map(async (attacker): Promise<Attacker> => {
      const { address, addresses } = attacker;
      const isSingle = addresses === 1;
      const visitor = isSingle ? (visitors.get(address) ?? (await store.getAddressVisitor(site, address))) : null;
      const block = blocks.get(address) ?? null;
      const range = parseRange(toBlocked(address));
      const verifiedBot = range === null ? null : await store.verifiedBotIn(site, range);
      const why =
        range === null
          ? null
          : reasonNotToBlockAddress({ range, verifiedBot }, caller.address, deps.protectedAddresses(site));
      const own = caller.address === null ? null : parseRange(caller.address);
      return {
        ...attacker,
        days: [...attacker.days],
        hostname: visitor?.hostname ?? '',
        visitor_id: visitor?.id ?? 0,
        block,
        do_not_block: why !== null && (block === null || block.by === 'lock') ? 1 : 0,
        own: own !== null && range !== null && isWithin(own, range) ? 1 : 0,
      };
    }),
  );
  const data: Attackers = {
    from,
    blocked: facts.totals.reduce((sum, total) => sum + total.refused + total.failed, 0),
    failed: failed.attempts,
    failed_addresses: failed.addresses,
    locked: failed.locked,
    addresses: countAddresses(facts),
    ...logins,
    entries,
    targets: facts.targets
      .filter(({ count }) => count > 0)
      .slice(0, RANKED)
      .map(({ value, count }) => ({ target: value, blocked: count })),
    goals: attackGoals
      .map((goal) => ({ goal, blocked: toTotal(facts, goal) }))
      .filter(({ blocked }) => blocked > 0)
      .sort((a, b) => b.blocked - a.blocked),
  };
  const unnamed = entries
    .filter((entry) => entry.addresses === 1 && entry.hostname === '')
    .map(({ address }) => address);
  return { data, unnamed };
}

/** Returns what is blocked with an attacker: an IPv6 address with its /64. */
function toBlocked(address: string): string {
  return parseAddress(address)?.family === 6 ? toAttackNetwork(address) : address;
}

function toTotal({ totals }: AttackFacts, goal: AttackGoal): number {
  return totals.filter((total) => total.goal === goal).reduce((sum, { refused, failed }) => sum + refused + failed, 0);
}

/** Returns the number of attacking addresses: exact while each of them has a counter of its own, else estimated. */
function countAddresses({ attackers, estimatedAddresses }: AttackFacts): number {
  const addresses = attackers.filter(({ who }) => who === 'address');
  const known = new Set(addresses.map(({ value }) => value)).size;
  return addresses.some(({ isReplaced }) => isReplaced) ? Math.max(known, estimatedAddresses) : known;
}

/**
 * Counts logins of attacking addresses since their first attack (null when that is unknown), and logins of addresses
 * that did no more than a member who mistypes.
 */
async function countLogins(
  { store, isAnonymized }: Pick<Parameters<typeof readAttackers>[0], 'store' | 'isAnonymized'>,
  site: SiteId,
  { attackers }: AttackFacts,
): Promise<Pick<Attackers, 'logins' | 'mistyped'>> {
  if (isAnonymized(site)) return { logins: null, mistyped: 0 };
  const addresses = attackers.filter(({ who }) => who === 'address');
  const known = new Map<string, { since: number; passwords: number; others: number }>();
  for (const { value, since, hits, goals } of addresses) {
    const passwords = goals[PASSWORDS] ?? 0;
    const before = known.get(value) ?? { since, passwords: 0, others: 0 };
    known.set(value, {
      since: Math.min(since, before.since),
      passwords: before.passwords + passwords,
      others: before.others + hits - passwords,
    });
  }
  const counts = await store.readAttackedLogins(
    site,
    [...known].map(([address, { since }]) => ({ address, since })),
  );
  let logins = 0;
  let mistyped = 0;
  for (const [address, count] of counts) {
    const { passwords, others } = known.get(address) ?? { passwords: 0, others: 0 };
    logins += count;
    if (others <= 0 && passwords < GUESSES) mistyped += count;
  }
  // Logins of addresses whose counters were replaced are unknown.
  if (logins === 0 && addresses.some(({ isReplaced }) => isReplaced)) return { logins: null, mistyped: 0 };
  return { logins, mistyped };
}

/**
 * Groups the addresses of one network, most active first. A network's own counters contain only hits that certainly
 * belong to it, so no request is counted twice and the rows never add up to more requests than there were.
 *
 * @param days `YYYY-MM-DD`, oldest first
 */
export function groupAttackers(rows: readonly AttackerDay[], days: readonly string[]): readonly CountedAttacker[] {
  const networks = new Map<string, { addresses: Set<string>; rows: AttackerDay[]; own: AttackerDay[] }>();
  const toNetwork = (name: string) => {
    let network = networks.get(name);
    if (network === undefined) {
      network = { addresses: new Set(), rows: [], own: [] };
      networks.set(name, network);
    }
    return network;
  };
  for (const row of rows) {
    const network = toNetwork(row.who === 'network' ? row.value : toAttackNetwork(row.value));
    if (row.who === 'network') network.own.push(row);
    else {
      network.addresses.add(row.value);
      network.rows.push(row);
    }
  }
  return [...networks]
    .map(([name, { addresses, rows: ofAddresses, own }]): CountedAttacker => {
      const [only] = addresses;
      if (only !== undefined && addresses.size === 1) return toAttacker(only, 1, ofAddresses, days);
      return toAttacker(name, Math.max(addresses.size, 2), own, days);
    })
    .filter(({ blocked }) => blocked > 0)
    .sort((a, b) => b.blocked - a.blocked || (a.address < b.address ? -1 : 1));
}

function toAttacker(
  address: string,
  addresses: number,
  rows: readonly AttackerDay[],
  days: readonly string[],
): CountedAttacker {
  const byDay = days.map((day) => rows.filter((row) => row.day === day).reduce((sum, { hits }) => sum + hits, 0));
  const goals = attackGoals.map((_, i) => rows.reduce((sum, row) => sum + (row.goals[i] ?? 0), 0));
  const best = goals.indexOf(Math.max(...goals));
  const leads = new Map<string, number>();
  for (const { target, lead } of rows) if (target !== '') leads.set(target, (leads.get(target) ?? 0) + lead);
  const [target = ''] = [...leads].sort((a, b) => b[1] - a[1]).map(([path]) => path);
  return {
    ...{ address, addresses, target, days: byDay },
    goal: attackGoals[best] ?? 'overload',
    blocked: byDay.reduce((sum, hits) => sum + hits, 0),
  };
}
