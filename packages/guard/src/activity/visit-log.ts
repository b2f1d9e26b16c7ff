import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import type { ActivityStore } from './activity-store.js';
import { anonymizedAddress } from './anonymized-address.js';
import { type FoldableVisit, isFlood, SecondFolds } from './fold-visits.js';
import { NOT_FOLDED, type VisitFacts, type VisitKey, VisitPack } from './packed-visits.js';
import { RecentVisits, visitHash } from './recent-visits.js';
import type { SeenRequest, VisitSink } from './visit.js';

/** What a site wants of its log. */
export interface VisitRules {
  readonly recording: boolean;
  readonly anonymize: boolean;
}

export interface VisitLog extends VisitSink {
  /** Hands over what waits, and resolves when all of it is stored or counted as dropped. */
  stop(): Promise<void>;
}

/** Time between two batches, milliseconds. */
const BATCH_MS = 100;
/** New visits that make a batch before its time: to hand over so many holds up every request. */
const BATCH_VISITS = 1000;
/** Batches after which repeats are handed over too: a second. */
const REPEATS_EVERY = 10;
/**
 * Most visits of a site that are not stored yet, beside as many repeats, and of all sites together. Some 200 bytes
 * each, at most 900, and for a second or two once more to know their repeats.
 */
const WAITING_MAX = 20_000;
const ALL_WAITING_MAX = 40_000;
/** What a batch on its way takes beside its visits, in visits: a flood at thousands of sites makes as many batches. */
const BATCH_COST = 4;

/** Visits are numbered from 1 to this, again and again. */
const NUMBERS = 2 ** 32 - 1;
const TARGET_CHARACTERS = 500;
const AGENT_CHARACTERS = 300;

/** Visits of one site. */
interface SiteVisits {
  /** Of the present batch, what was not seen in the last second. */
  fresh: VisitPack;
  /** Of the present second, what was handed over before. */
  repeats: VisitPack;
  /** Second of the clock of the last visit, and the rows that were begun in it. */
  second: number;
  begun: number;
  /** Refused visits of that second that share rows; null when there are none. */
  folds: SecondFolds | null;
  dropped: number;
  /** Handed over and not stored yet, weighed. */
  underWay: number;
  /** Batches since there was a visit. */
  idle: number;
}

/**
 * Gathers what visitors asked for and hands it to the store ten times a second, in a flood more often. What is the same
 * within a second becomes one visit with a count; what is refused in a flood shares rows (see `fold-visits`), handed over
 * when their second is over. Bounded: what does not fit is counted per site, and the count goes to the store too.
 *
 * @param rules asked for each visit; must be quick
 * @param onVisit told of each visit that is no repeat, with its agent; must be quick
 * @param seed 32 bits that visitors don't know
 */
export function createVisitLog(deps: {
  readonly store: Pick<ActivityStore, 'write'>;
  readonly rules: (site: SiteId) => VisitRules;
  readonly onVisit?: (site: SiteId, address: string, agent: string | null) => void;
  readonly seed: number;
  readonly clock: Clock;
  readonly logger: Logger;
}): VisitLog {
  const { store, rules, onVisit, seed, clock, logger } = deps;
  const sites = new Map<SiteId, SiteVisits>();
  const recent = new RecentVisits();
  const writes = new Set<Promise<void>>();
  let underWay = 0;
  /** What the folds of all sites weigh. */
  let folding = 0;
  /** The present second, and the rows that all sites have begun in it. */
  let second = 0;
  let begun = 0;
  let failing = false;
  let ticks = 0;
  let number = 0;
  let timer: NodeJS.Timeout | undefined;

  function add(site: SiteId, seen: SeenRequest): void {
    const { recording, anonymize } = rules(site);
    if (!recording) return;
    const visits = visitsOf(site);
    visits.idle = 0;
    const at = clock();
    startSecond(visits, at);
    const address = anonymize ? anonymizedAddress(seen.address) : seen.address.text;
    const target = escaped(cut(seen.target, TARGET_CHARACTERS), TARGET_CHARACTERS);
    const key: VisitKey = { address, status: seen.status, rule: seen.rule, target };
    const hash = visitHash(key, seed);
    const place = recent.find(hash, site, key);
    if (place !== -1 && !beginsRow(place)) repeat(visits, place, key, seen);
    else if (seen.rule !== null && isFlood(visits.begun, begun)) {
      fold(site, visits, { key, address: seen.address, anonymized: anonymize }, seen, at);
    } else if (place === -1) begin(site, visits, hash, key, agentOf(seen));
    else {
      countRow(visits);
      repeat(visits, place, key, seen);
    }
    timer ??= setTimeout(tick, BATCH_MS).unref();
  }

  /** What was folded in an earlier second is complete. */
  function startSecond(visits: SiteVisits, at: number): void {
    const now = Math.floor(at / 1000);
    if (now !== second) {
      second = now;
      begun = 0;
    }
    if (visits.second === now) return;
    endSecond(visits);
    visits.second = now;
    visits.begun = 0;
  }

  function endSecond(visits: SiteVisits): void {
    const { folds } = visits;
    if (folds === null) return;
    for (const { key, agent, at, more, moreBits, others } of folds.folds) {
      const count = moreBits === null ? 1 + more : 1;
      const tally = others?.bytes() ?? NOT_FOLDED.others;
      visits.fresh.append(key, { at, agent, count, number: nextNumber(), repeats: 0, more, moreBits, others: tally });
    }
    folding -= folds.weight;
    visits.folds = null;
  }

  /** Whether a repeat of this visit is a new row: it was written down in another second. */
  function beginsRow(place: number): boolean {
    const pack = recent.packAt(place);
    return !pack.isOpen && Math.floor(pack.timeAt(recent.offsetAt(place)) / 1000) !== second;
  }

  function countRow(visits: SiteVisits): void {
    visits.begun++;
    begun++;
  }

  function begin(site: SiteId, visits: SiteVisits, hash: number, key: VisitKey, agent: string | null): void {
    if (!fits(visits, visits.underWay + visits.fresh.rows)) return;
    countRow(visits);
    recent.put(hash, visits.fresh, visits.fresh.append(key, factsOf(agent, 0)));
    onVisit?.(site, key.address, agent);
    if (visits.fresh.rows >= BATCH_VISITS) visits.fresh = handOver(site, visits, visits.fresh);
  }

  function repeat(visits: SiteVisits, place: number, key: VisitKey, seen: SeenRequest): void {
    const pack = recent.packAt(place);
    const offset = recent.offsetAt(place);
    if (pack.isOpen) pack.addHit(offset);
    else if (fits(visits, visits.repeats.rows)) {
      const facts = factsOf(agentOf(seen), pack.numberAt(offset));
      recent.move(place, visits.repeats, visits.repeats.append(key, facts));
    }
  }

  function fold(site: SiteId, visits: SiteVisits, visit: FoldableVisit, seen: SeenRequest, at: number): void {
    visits.folds ??= new SecondFolds();
    const { folds } = visits;
    const before = folds.weight;
    if (!fits(visits, visits.underWay + visits.fresh.rows + before)) return;
    if (!folds.join(visit)) {
      const agent = agentOf(seen);
      folds.begin(visit, agent, at);
      onVisit?.(site, visit.key.address, agent);
    }
    folding += folds.weight - before;
  }

  function factsOf(agent: string | null, repeats: number): VisitFacts {
    return { at: clock(), agent, count: 1, number: nextNumber(), repeats, ...NOT_FOLDED };
  }

  function nextNumber(): number {
    number = (number % NUMBERS) + 1;
    return number;
  }

  /** Whether there is room for one row more beside so many. What has none is counted. */
  function fits(visits: SiteVisits, waiting: number): boolean {
    if (waiting < WAITING_MAX && underWay + folding < ALL_WAITING_MAX) return true;
    visits.dropped++;
    return false;
  }

  function visitsOf(site: SiteId): SiteVisits {
    let visits = sites.get(site);
    if (visits === undefined) {
      const packs = { fresh: new VisitPack(site), repeats: new VisitPack(site) };
      visits = { ...packs, second: 0, begun: 0, folds: null, dropped: 0, underWay: 0, idle: 0 };
      sites.set(site, visits);
    }
    return visits;
  }

  function tick(): void {
    timer = undefined;
    const secondIsOver = ++ticks % REPEATS_EVERY === 0;
    if (secondIsOver) recent.turn();
    const now = Math.floor(clock() / 1000);
    for (const [site, visits] of sites) {
      if (visits.second !== now) endSecond(visits);
      // A count of dropped visits can wait for a better moment; each would be a batch, too.
      if (visits.fresh.rows > 0 || (visits.dropped > 0 && underWay < ALL_WAITING_MAX)) {
        visits.fresh = handOver(site, visits, visits.fresh);
      }
      if (secondIsOver && visits.repeats.rows > 0) visits.repeats = handOver(site, visits, visits.repeats);
      const written = visits.underWay === 0 && visits.dropped === 0 && visits.repeats.rows === 0;
      // After two turns nothing is known of its visits any more.
      if (++visits.idle > 2 * REPEATS_EVERY && written && visits.folds === null) sites.delete(site);
    }
    if (sites.size > 0) timer = setTimeout(tick, BATCH_MS).unref();
  }

  /** Returns the pack for what comes next. */
  function handOver(site: SiteId, visits: SiteVisits, pack: VisitPack): VisitPack {
    const { dropped } = visits;
    const packed = pack.close();
    const { weight, hits } = packed;
    visits.dropped = 0;
    visits.underWay += weight;
    underWay += weight + BATCH_COST;
    const write = store.write({ site, visits: packed, dropped }).then(
      () => {
        failing = false;
      },
      (error: unknown) => {
        visits.dropped += dropped + hits;
        // Once per outage: ten lines a second would bury the log.
        if (!failing) logger.error({ event: 'visits-not-stored', site, err: error }, 'Visits can’t be stored.');
        failing = true;
      },
    );
    const done = write.finally(() => {
      visits.underWay -= weight;
      underWay -= weight + BATCH_COST;
      writes.delete(done);
    });
    writes.add(done);
    // It will hardly need more than the last one.
    return new VisitPack(site, pack.used);
  }

  return {
    add,
    async stop() {
      clearTimeout(timer);
      for (const [site, visits] of sites) {
        endSecond(visits);
        if (visits.fresh.rows > 0 || visits.dropped > 0) handOver(site, visits, visits.fresh);
        if (visits.repeats.rows > 0) handOver(site, visits, visits.repeats);
      }
      await Promise.all(writes);
      sites.clear();
    },
  };
}

function agentOf(seen: SeenRequest): string | null {
  const agent = seen.agent();
  return agent === null ? null : escaped(cut(agent, AGENT_CHARACTERS), AGENT_CHARACTERS);
}

function cut(text: string, most: number): string {
  return text.length > most ? text.slice(0, most) : text;
}

const UNSAFE = /[^\x20-\x7e]/;

/** Bytes that are not printable ASCII stand as `%0A`, so that nothing that reads a visit can be tricked by them. */
function escaped(text: string, most: number): string {
  if (!UNSAFE.test(text)) return text;
  return cut(text.replace(/[^\x20-\x7e]/g, escapedCharacter), most);
}

function escapedCharacter(character: string): string {
  const hex = character.charCodeAt(0).toString(16).toUpperCase();
  return hex.length > 2 ? '%3F' : `%${hex.padStart(2, '0')}`;
}
