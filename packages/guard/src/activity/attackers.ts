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
import type { ActivityStore, AttackerDay, AttackFacts, AttackTotal } from './activity-store.js';
import type { CurrentBlocks } from './blocklist/current-blocks.js';
import { type ProtectedAddresses, reasonNotToBlockAddress } from './blocklist/protected-visitors.js';
import { GUESSES, readFailedLogins } from './failed-logins.js';
import { toAttackNetwork } from './store/attack-counters.js';

const DAYS = 7;
const PASSWORDS = attackGoals.indexOf('passwords');
const ENTRIES = 5;
const ALL_ENTRIES = 100;
const RANKED = 5;
/** Fewer scans than this in seven days, and nothing else, may be a visitor who followed old links. */
const SCANS_MIN = 5;

/** An attacker as counted: an address, or a network with several. */
export interface CountedAttacker {
  readonly address: string;
  /** The counted addresses in it. */
  readonly members: readonly string[];
  /** Their number: at least two for a network, whose addresses may not have counters any more. */
  readonly addresses: number;
  readonly goal: AttackGoal;
  readonly target: string;
  readonly days: readonly number[];
  readonly attempts: number;
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
  const known = new Set(attackers.flatMap(({ members }) => members));
  const [visitors, blocks, logins] = await Promise.all([
    store.readVisitors(site, singles),
    deps.blocks.find(
      site,
      shown.flatMap(({ address, members }) => [address, ...members]),
    ),
    countLogins(deps, site, facts),
  ]);
  const entries = await Promise.all(
    shown.map(async ({ members, ...attacker }): Promise<Attacker> => {
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
        blocked_addresses: isSingle ? 0 : members.filter((member) => blocks.has(member)).length,
        do_not_block: why !== null && (block === null || block.by === 'lock') ? 1 : 0,
        own: own !== null && range !== null && isWithin(own, range) ? 1 : 0,
      };
    }),
  );
  const data: Attackers = {
    from,
    attempts: sumAttempts(facts.totals),
    scanned: facts.totals.reduce((sum, { scanned }) => sum + scanned, 0),
    failed: failed.attempts,
    failed_addresses: failed.addresses,
    locked: failed.locked,
    addresses: facts.attackers.some(isReplacedAddress) ? Math.max(known.size, facts.estimatedAddresses) : known.size,
    ...logins,
    entries,
    targets: facts.targets
      .filter(({ count }) => count > 0)
      .slice(0, RANKED)
      .map(({ value, count }) => ({ target: value, attempts: count })),
    goals: attackGoals
      .map((goal) => ({ goal, attempts: sumAttempts(facts.totals.filter((total) => total.goal === goal)) }))
      .filter(({ attempts }) => attempts > 0)
      .sort((a, b) => b.attempts - a.attempts),
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

function sumAttempts(totals: readonly AttackTotal[]): number {
  return totals.reduce((sum, { refused, failed, scanned }) => sum + refused + failed + scanned, 0);
}

/** Whether an address had a counter that another one had before, so that not every address is known. */
function isReplacedAddress({ who, isReplaced }: AttackerDay): boolean {
  return who === 'address' && isReplaced;
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
  const known = new Map<string, { since: number; passwords: number; scans: number; others: number }>();
  for (const { value, since, hits, goals, scans } of addresses) {
    const passwords = goals[PASSWORDS] ?? 0;
    const before = known.get(value) ?? { since, passwords: 0, scans: 0, others: 0 };
    known.set(value, {
      since: Math.min(since, before.since),
      passwords: before.passwords + passwords,
      scans: before.scans + scans,
      others: before.others + hits - passwords - scans,
    });
  }
  for (const [address, { passwords, scans, others }] of known) {
    if (passwords <= 0 && others <= 0 && scans < SCANS_MIN) known.delete(address);
  }
  const counts = await store.readAttackedLogins(
    site,
    [...known].map(([address, { since }]) => ({ address, since })),
  );
  let logins = 0;
  let mistyped = 0;
  for (const [address, count] of counts) {
    const { passwords, scans, others } = known.get(address) ?? { passwords: 0, scans: 0, others: 0 };
    logins += count;
    if (others <= 0 && scans < SCANS_MIN && passwords < GUESSES) mistyped += count;
  }
  // Logins of addresses whose counters were replaced are unknown.
  if (logins === 0 && addresses.some(isReplacedAddress)) return { logins: null, mistyped: 0 };
  return { logins, mistyped };
}

/**
 * Groups the addresses of one network, most active first. A network's own counters contain only hits that certainly
 * belong to it, so no request is counted twice and the rows never add up to more requests than there were. A few scans
 * alone are not an attack.
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
    .map(([name, { addresses, rows: ofAddresses, own }]) => {
      const members = [...addresses];
      const [only] = members;
      if (only !== undefined && members.length === 1) return toAttacker(only, members, ofAddresses, days);
      return toAttacker(name, members, own, days);
    })
    .filter(({ attempts, scans }) => attempts > 0 && (attempts > scans || scans >= SCANS_MIN))
    .sort((a, b) => b.attempts - a.attempts || (a.address < b.address ? -1 : 1))
    .map(({ scans, ...attacker }) => attacker);
}

function toAttacker(
  address: string,
  members: readonly string[],
  rows: readonly AttackerDay[],
  days: readonly string[],
): CountedAttacker & { readonly scans: number } {
  const byDay = days.map((day) => rows.filter((row) => row.day === day).reduce((sum, { hits }) => sum + hits, 0));
  const goals = attackGoals.map((_, i) => rows.reduce((sum, row) => sum + (row.goals[i] ?? 0), 0));
  const best = goals.indexOf(Math.max(...goals));
  const leads = new Map<string, number>();
  for (const { targets } of rows) {
    const [target, lead] = targets[best] ?? ['', 0];
    if (target !== '') leads.set(target, (leads.get(target) ?? 0) + lead);
  }
  const [target = ''] = [...leads].sort((a, b) => b[1] - a[1]).map(([path]) => path);
  return {
    ...{ address, members, target, days: byDay },
    addresses: members.length === 1 && members[0] === address ? 1 : Math.max(members.length, 2),
    goal: attackGoals[best] ?? 'overload',
    attempts: byDay.reduce((sum, hits) => sum + hits, 0),
    scans: rows.reduce((sum, { scans }) => sum + scans, 0),
  };
}
