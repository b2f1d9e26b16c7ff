import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import type { ActivityStore } from './activity-store.js';
import { anonymizedAddress } from './anonymized-address.js';
import { type VisitFacts, type VisitKey, VisitPack } from './packed-visits.js';
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
  dropped: number;
  /** Handed over and not stored yet. */
  underWay: number;
  /** Batches since there was a visit. */
  idle: number;
}

/**
 * Gathers what visitors asked for and hands it to the store ten times a second, in a flood more often. What is the same
 * within a second becomes one visit with a count. Bounded: what does not fit is counted per site, and the count goes to
 * the store too.
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
  let failing = false;
  let ticks = 0;
  let number = 0;
  let timer: NodeJS.Timeout | undefined;

  function add(site: SiteId, seen: SeenRequest): void {
    const { recording, anonymize } = rules(site);
    if (!recording) return;
    const visits = visitsOf(site);
    visits.idle = 0;
    const address = anonymize ? anonymizedAddress(seen.address) : seen.address.text;
    const target = escaped(cut(seen.target, TARGET_CHARACTERS), TARGET_CHARACTERS);
    const key: VisitKey = { address, status: seen.status, rule: seen.rule, target };
    const hash = visitHash(key, seed);
    const place = recent.find(hash, site, key);
    if (place === -1) begin(site, visits, hash, key, agentOf(seen));
    else repeat(visits, place, key, seen);
    timer ??= setTimeout(tick, BATCH_MS).unref();
  }

  function begin(site: SiteId, visits: SiteVisits, hash: number, key: VisitKey, agent: string | null): void {
    if (!fits(visits, visits.underWay + visits.fresh.rows)) return;
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

  function factsOf(agent: string | null, repeats: number): VisitFacts {
    number = (number % NUMBERS) + 1;
    return { at: clock(), agent, count: 1, number, repeats };
  }

  /** Whether there is room for one row more beside so many. What has none is counted. */
  function fits(visits: SiteVisits, waiting: number): boolean {
    if (waiting < WAITING_MAX && underWay < ALL_WAITING_MAX) return true;
    visits.dropped++;
    return false;
  }

  function visitsOf(site: SiteId): SiteVisits {
    let visits = sites.get(site);
    if (visits === undefined) {
      visits = { fresh: new VisitPack(site), repeats: new VisitPack(site), dropped: 0, underWay: 0, idle: 0 };
      sites.set(site, visits);
    }
    return visits;
  }

  function tick(): void {
    timer = undefined;
    const secondIsOver = ++ticks % REPEATS_EVERY === 0;
    if (secondIsOver) recent.turn();
    for (const [site, visits] of sites) {
      // A count of dropped visits can wait for a better moment; each would be a batch, too.
      if (visits.fresh.rows > 0 || (visits.dropped > 0 && underWay < ALL_WAITING_MAX)) {
        visits.fresh = handOver(site, visits, visits.fresh);
      }
      if (secondIsOver && visits.repeats.rows > 0) visits.repeats = handOver(site, visits, visits.repeats);
      const waits = visits.underWay > 0 || visits.dropped > 0 || visits.repeats.rows > 0;
      // After two turns nothing is known of its visits any more.
      if (++visits.idle > 2 * REPEATS_EVERY && !waits) sites.delete(site);
    }
    if (sites.size > 0) timer = setTimeout(tick, BATCH_MS).unref();
  }

  /** Returns the pack for what comes next. */
  function handOver(site: SiteId, visits: SiteVisits, pack: VisitPack): VisitPack {
    const { dropped } = visits;
    const packed = pack.close();
    const { rows, hits } = packed;
    visits.dropped = 0;
    visits.underWay += rows;
    underWay += rows + BATCH_COST;
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
      visits.underWay -= rows;
      underWay -= rows + BATCH_COST;
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
