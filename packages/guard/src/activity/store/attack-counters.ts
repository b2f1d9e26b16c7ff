import { type AttackGoal, attackGoals } from '@security-optimizer/contract/activity/attackers';
import { parseAddress, toSubnet } from '../../lib/address.js';
import type { Prepare } from '../../storage/sqlite.js';
import { AddressSketch } from './address-sketch.js';
import { TopCounters } from './top-counters.js';

/** Counters of one day's attacking addresses, and of their networks. */
const ATTACKERS_MAX = 256;
/** Days whose counters are kept in memory. */
const DAYS_MAX = 3;

/** Refused requests of one address, or passwords that were wrong. */
export interface Attack {
  readonly goal: AttackGoal;
  readonly address: string;
  /** Path of all of them; null when they had several. */
  readonly target: string | null;
  readonly refused: number;
  readonly failed: number;
  /** Whether they count as failed logins, as the wrong ones do. */
  readonly isFailedLogin: boolean;
  /** Unix seconds. */
  readonly at: number;
}

/** Facts about an attacker besides the number of its requests. */
interface AttackerFacts {
  /** Hits by the index in `attackGoals`. */
  readonly goals: number[];
  /** The most frequent path, if one has the majority (Boyer and Moore's vote), and its lead. */
  target: string;
  lead: number;
  /** Unix seconds of the first attack. */
  since: number;
}

type Who = 'address' | 'network';
type Sketched = 'attacker' | 'failed-login';

interface Day {
  readonly name: string;
  readonly totals: Map<AttackGoal, { refused: number; failed: number }>;
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
    const { goal, address, refused, failed, isFailedLogin } = attack;
    let total = found.totals.get(goal);
    if (total === undefined) {
      total = { refused: 0, failed: 0 };
      found.totals.set(goal, total);
    }
    total.refused += refused;
    total.failed += failed;
    found.sketches.attacker.add(address);
    if (isFailedLogin) found.sketches['failed-login'].add(address);
    addTo(found.counters.address, address, attack);
    addTo(found.counters.network, this.#getNetwork(address), attack);
  }

  flush(): void {
    if (this.#changed.size === 0) return;
    const total = this.#prepare(
      `insert into attack_days (site, day, goal, refused, failed) values (?, ?, ?, ?, ?)
       on conflict (site, day, goal) do update set refused = refused + excluded.refused, failed = failed + excluded.failed`,
    );
    const sketch = this.#prepare(
      `insert into address_sketches (site, day, what, registers) values (?, ?, ?, ?)
       on conflict (site, day, what) do update set registers = excluded.registers`,
    );
    for (const { name, totals, counters, sketches } of this.#changed) {
      for (const [goal, { refused, failed }] of totals) total.run(this.#site, name, goal, refused, failed);
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
      `insert into attackers (site, day, who, value, hits, excess, goals, target, lead, since)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (site, day, who, value) do update set hits = excluded.hits,
         excess = excluded.excess, goals = excluded.goals, target = excluded.target, lead = excluded.lead,
         since = excluded.since`,
    );
    const remove = this.#prepare('delete from attackers where site = ? and day = ? and who = ? and value = ?');
    const { changed, removed } = counters.takeChanges();
    for (const value of removed) remove.run(this.#site, day, who, value);
    for (const [value, { hits, excess, more }] of changed) {
      const { goals, target, lead, since } = more ?? newFacts(0);
      put.run(this.#site, day, who, value, hits, excess, goals.join(), target, lead, since);
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
        'select value, hits, excess, goals, target, lead, since from attackers where site = ? and day = ? and who = ?',
      ).all(this.#site, name, who) as unknown as StoredAttacker[];
      return new TopCounters<AttackerFacts>(
        ATTACKERS_MAX,
        rows.map(({ value, hits, excess, goals, target, lead, since }) => [
          value,
          { hits, excess, more: { goals: goals.split(',').map(Number), target, lead, since } },
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
  readonly target: string;
  readonly lead: number;
  readonly since: number;
}

function newFacts(since: number): AttackerFacts {
  return { goals: attackGoals.map(() => 0), target: '', lead: 0, since };
}

function addTo(counters: TopCounters<AttackerFacts>, value: string, attack: Attack): void {
  const { goal, target, refused, failed, at } = attack;
  const hits = refused + failed;
  const count = counters.add(value, hits);
  count.more ??= newFacts(at);
  const facts = count.more;
  const index = attackGoals.indexOf(goal);
  facts.goals[index] = (facts.goals[index] ?? 0) + hits;
  facts.since = Math.min(facts.since, at);
  if (target === null) return;
  if (facts.target === target) facts.lead += hits;
  else if (facts.lead > hits) facts.lead -= hits;
  else {
    facts.lead = hits - facts.lead;
    facts.target = target;
  }
}

/** Returns the network by which attackers are grouped. */
export function toAttackNetwork(text: string): string {
  const address = parseAddress(text);
  return address === null ? text : toSubnet(address);
}
