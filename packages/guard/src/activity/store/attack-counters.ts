import { type AttackGoal, attackGoals } from '@security-optimizer/contract/activity/attackers';
import { parseAddress, toSubnet } from '../../lib/address.js';
import type { Prepare } from '../../storage/sqlite.js';
import type { LeadingTarget } from '../activity-store.js';
import { AddressSketch } from './address-sketch.js';
import { TopCounters } from './top-counters.js';

/** Counters of one day's attacking addresses, and of their networks. */
const ATTACKERS_MAX = 256;
/** Days whose counters are kept in memory. */
const DAYS_MAX = 3;

/** Refused requests of one address, passwords that were wrong, or scans that no rule refused. */
export interface Attack {
  readonly goal: AttackGoal;
  readonly address: string;
  /** Path of all of them; null when they had several. */
  readonly target: string | null;
  readonly refused: number;
  readonly failed: number;
  readonly scanned: number;
  /** Whether they count as failed logins, as the wrong ones do. */
  readonly isFailedLogin: boolean;
  /** Unix seconds. */
  readonly at: number;
}

/** Facts about an attacker besides the number of its requests. */
interface AttackerFacts {
  /** Hits by the index in `attackGoals`. */
  readonly goals: number[];
  /** Hits that are only scans. */
  scans: number;
  /** By the same index; null for none. */
  readonly targets: (LeadingTarget | null)[];
  /** Unix seconds of the first attack. */
  since: number;
}

type Who = 'address' | 'network';
type Sketched = 'attacker' | 'failed-login';

interface Day {
  readonly name: string;
  readonly totals: Map<AttackGoal, { refused: number; failed: number; scanned: number }>;
  readonly counters: Readonly<Record<Who, TopCounters<AttackerFacts>>>;
  readonly sketches: Readonly<Record<Sketched, AddressSketch>>;
}

/** The attacks of one site by day: totals by goal, and bounded counters of the most active addresses and networks. */
export class AttackCounters {
  readonly #prepare: Prepare;
  readonly #site: number;
  readonly #days = new Map<string, Day>();
  readonly #changed = new Set<Day>();
  #lastAddress = '';
  #lastNetwork = '';

  constructor(prepare: Prepare, site: number) {
    this.#prepare = prepare;
    this.#site = site;
  }

  /** @param day `YYYY-MM-DD` in the time zone of the site */
  count(day: string, attack: Attack): void {
    const found = this.#days.get(day) ?? this.#read(day);
    this.#changed.add(found);
    const { goal, address, refused, failed, scanned, isFailedLogin } = attack;
    let total = found.totals.get(goal);
    if (total === undefined) {
      total = { refused: 0, failed: 0, scanned: 0 };
      found.totals.set(goal, total);
    }
    total.refused += refused;
    total.failed += failed;
    total.scanned += scanned;
    // Most addresses with scans alone are visitors who followed an old link.
    if (refused + failed > 0) found.sketches.attacker.add(address);
    if (isFailedLogin) found.sketches['failed-login'].add(address);
    addTo(found.counters.address, address, attack);
    addTo(found.counters.network, this.#getNetwork(address), attack);
  }

  flush(): void {
    if (this.#changed.size === 0) return;
    const total = this.#prepare(
      `insert into attack_days (site, day, goal, refused, failed, scanned) values (?, ?, ?, ?, ?, ?)
       on conflict (site, day, goal) do update set refused = refused + excluded.refused,
         failed = failed + excluded.failed, scanned = scanned + excluded.scanned`,
    );
    const sketch = this.#prepare(
      `insert into address_sketches (site, day, what, registers) values (?, ?, ?, ?)
       on conflict (site, day, what) do update set registers = excluded.registers`,
    );
    for (const { name, totals, counters, sketches } of this.#changed) {
      for (const [goal, { refused, failed, scanned }] of totals) {
        total.run(this.#site, name, goal, refused, failed, scanned);
      }
      totals.clear();
      for (const what of ['attacker', 'failed-login'] as const) {
        const registers = sketches[what].takeChanges();
        if (registers !== null) sketch.run(this.#site, name, what, registers);
      }
      for (const who of ['address', 'network'] as const) this.#flushAttackers(name, who, counters[who]);
    }
    this.#changed.clear();
  }

  #flushAttackers(day: string, who: Who, counters: TopCounters<AttackerFacts>): void {
    const put = this.#prepare(
      `insert into attackers (site, day, who, value, hits, excess, goals, scans, targets, since)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (site, day, who, value) do update set hits = excluded.hits,
         excess = excluded.excess, goals = excluded.goals, scans = excluded.scans, targets = excluded.targets,
         since = excluded.since`,
    );
    const remove = this.#prepare('delete from attackers where site = ? and day = ? and who = ? and value = ?');
    const { changed, removed } = counters.takeChanges();
    for (const value of removed) remove.run(this.#site, day, who, value);
    for (const [value, { hits, excess, more }] of changed) {
      const { goals, scans, targets, since } = more ?? newFacts(0);
      put.run(this.#site, day, who, value, hits, excess, goals.join(), scans, JSON.stringify(targets), since);
    }
  }

  /** Consecutive calls mostly have the same address. */
  #getNetwork(address: string): string {
    if (address !== this.#lastAddress) {
      this.#lastAddress = address;
      this.#lastNetwork = toAttackNetwork(address);
    }
    return this.#lastNetwork;
  }

  #read(name: string): Day {
    if (this.#days.size >= DAYS_MAX) {
      this.flush();
      this.#days.delete([...this.#days.keys()].sort()[0] as string);
    }
    const readCounters = (who: Who) => {
      const rows = this.#prepare(
        `select value, hits, excess, goals, scans, targets, since from attackers
         where site = ? and day = ? and who = ?`,
      ).all(this.#site, name, who) as unknown as StoredAttacker[];
      return new TopCounters<AttackerFacts>(
        ATTACKERS_MAX,
        rows.map(({ value, hits, excess, goals, scans, targets, since }) => [
          value,
          { hits, excess, more: { goals: goals.split(',').map(Number), scans, targets: JSON.parse(targets), since } },
        ]),
      );
    };
    const readSketch = (what: Sketched) => {
      const row = this.#prepare('select registers from address_sketches where site = ? and day = ? and what = ?').get(
        this.#site,
        name,
        what,
      ) as { registers: Uint8Array } | undefined;
      return new AddressSketch(row?.registers);
    };
    const day: Day = {
      name,
      totals: new Map(),
      counters: { address: readCounters('address'), network: readCounters('network') },
      sketches: { attacker: readSketch('attacker'), 'failed-login': readSketch('failed-login') },
    };
    this.#days.set(name, day);
    return day;
  }
}

interface StoredAttacker {
  readonly value: string;
  readonly hits: number;
  readonly excess: number;
  readonly goals: string;
  readonly scans: number;
  readonly targets: string;
  readonly since: number;
}

function newFacts(since: number): AttackerFacts {
  return { goals: attackGoals.map(() => 0), scans: 0, targets: attackGoals.map(() => null), since };
}

function addTo(counters: TopCounters<AttackerFacts>, value: string, attack: Attack): void {
  const { goal, target, refused, failed, scanned, at } = attack;
  const hits = refused + failed + scanned;
  const count = counters.add(value, hits);
  count.more ??= newFacts(at);
  const facts = count.more;
  const index = attackGoals.indexOf(goal);
  facts.goals[index] = (facts.goals[index] ?? 0) + hits;
  facts.scans += scanned;
  facts.since = Math.min(facts.since, at);
  if (target !== null) facts.targets[index] = vote(facts.targets[index] ?? null, target, hits);
}

function vote(before: LeadingTarget | null, target: string, hits: number): LeadingTarget {
  const [leading, lead] = before ?? [target, 0];
  if (leading === target) return [target, lead + hits];
  return lead > hits ? [leading, lead - hits] : [target, hits - lead];
}

/** Returns the network by which attackers are grouped. */
export function toAttackNetwork(text: string): string {
  const address = parseAddress(text);
  return address === null ? text : toSubnet(address);
}
