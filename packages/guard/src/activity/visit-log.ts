import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import type { ActivityStore } from './activity-store.js';
import { anonymizedAddress } from './anonymized-address.js';
import type { SeenRequest, Visit, VisitSink } from './visit.js';

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
/** New visits that make a batch before its time: to pack and post a thousand holds up every request for half a millisecond. */
const BATCH_VISITS = 1000;
/** What is the same as before is folded for this many batches: a second. */
const FOLDED_BATCHES = 10;
/**
 * Most visits of a site that may be repeated still, and as many that are not stored yet; and of all sites together.
 * Some 300 bytes each, at most 1.5 KB.
 */
const WAITING_MAX = 20_000;
const ALL_WAITING_MAX = 40_000;
/** What a batch on its way takes beside its visits, in visits: a flood at thousands of sites makes as many batches. */
const BATCH_COST = 4;

const TARGET_CHARACTERS = 500;
const AGENT_CHARACTERS = 300;

/** A visit that may be repeated still. */
interface Folded {
  readonly key: string;
  /** What is not handed over yet. What is, is known by its key alone: in a flood there are thousands of them. */
  open: Visit | null;
}

/** Visits of one site. */
interface SiteVisits {
  readonly byKey: Map<string, Folded>;
  /** Those of the present batch, and of the batches of the last second, oldest first. */
  fresh: Folded[];
  /** How many of the present batch, its first ones, went before its time. */
  handedOver: number;
  readonly aging: Folded[][];
  dropped: number;
  /** Handed over and not stored yet. */
  underWay: number;
}

/**
 * Gathers what visitors asked for and hands it to the store ten times a second, in a flood more often. What is the same
 * within a second becomes one visit with a count. Bounded: what does not fit is counted per site, and the count goes to the store too.
 *
 * @param rules asked for each visit; must be quick
 */
export function createVisitLog(deps: {
  readonly store: Pick<ActivityStore, 'write'>;
  readonly rules: (site: SiteId) => VisitRules;
  readonly clock: Clock;
  readonly logger: Logger;
}): VisitLog {
  const { store, rules, clock, logger } = deps;
  const sites = new Map<SiteId, SiteVisits>();
  const writes = new Set<Promise<void>>();
  let underWay = 0;
  let failing = false;
  let timer: NodeJS.Timeout | undefined;

  function add(site: SiteId, seen: SeenRequest): void {
    const { recording, anonymize } = rules(site);
    if (!recording) return;
    const visits = visitsOf(site);
    const address = anonymize ? anonymizedAddress(seen.address) : seen.address.text;
    const head = `${address} ${seen.status} ${seen.rule} `;
    const key = head + cut(seen.target, TARGET_CHARACTERS);
    const known = visits.byKey.get(key);
    if (known === undefined) begin(site, visits, key, head.length, address, seen);
    else if (known.open === null) known.open = visitOf(known.key, head.length, address, seen);
    else known.open.count++;
    timer ??= setTimeout(tick, BATCH_MS).unref();
  }

  function begin(
    site: SiteId,
    visits: SiteVisits,
    key: string,
    targetAt: number,
    address: string,
    seen: SeenRequest,
  ): void {
    if (visits.byKey.size >= WAITING_MAX || visits.underWay >= WAITING_MAX || underWay >= ALL_WAITING_MAX) {
      visits.dropped++;
      return;
    }
    const folded = { key, open: visitOf(key, targetAt, address, seen) };
    visits.byKey.set(key, folded);
    visits.fresh.push(folded);
    if (visits.fresh.length - visits.handedOver >= BATCH_VISITS) handOver(site, visits, takeFresh(visits));
  }

  function visitOf(key: string, targetAt: number, address: string, seen: SeenRequest): Visit {
    const { status, rule } = seen;
    // The target is cut out of the key: out of a request head it would keep the whole head in memory.
    const target = escaped(key.slice(targetAt), TARGET_CHARACTERS);
    return { at: clock(), address, target, status, rule, agent: agentOf(seen), count: 1 };
  }

  function visitsOf(site: SiteId): SiteVisits {
    let visits = sites.get(site);
    if (visits === undefined) {
      visits = { byKey: new Map(), fresh: [], handedOver: 0, aging: [], dropped: 0, underWay: 0 };
      sites.set(site, visits);
    }
    return visits;
  }

  function tick(): void {
    timer = undefined;
    for (const [site, visits] of sites) {
      const oldest = visits.aging.length === FOLDED_BATCHES ? visits.aging.shift() : undefined;
      const batch = takeFresh(visits);
      // What was repeated goes on for another second; what was not is forgotten.
      const repeated: Folded[] = [];
      for (const folded of oldest ?? []) {
        if (folded.open === null) visits.byKey.delete(folded.key);
        else repeated.push(folded);
      }
      for (const visit of take(repeated)) batch.push(visit);
      visits.aging.push(repeated.length === 0 ? visits.fresh : visits.fresh.concat(repeated));
      visits.fresh = [];
      visits.handedOver = 0;
      // A count of dropped visits can wait for a better moment; each would be a batch, too.
      if (batch.length > 0 || underWay < ALL_WAITING_MAX) handOver(site, visits, batch);
      if (visits.byKey.size === 0 && visits.underWay === 0 && visits.dropped === 0) sites.delete(site);
    }
    if (sites.size > 0) timer = setTimeout(tick, BATCH_MS).unref();
  }

  function handOver(site: SiteId, visits: SiteVisits, batch: Visit[]): void {
    const { dropped } = visits;
    if (batch.length === 0 && dropped === 0) return;
    visits.dropped = 0;
    visits.underWay += batch.length;
    underWay += batch.length + BATCH_COST;
    const write = store.write({ site, visits: batch, dropped }).then(
      () => {
        failing = false;
      },
      (error: unknown) => {
        visits.dropped += dropped + batch.reduce((sum, visit) => sum + visit.count, 0);
        // Once per outage: ten lines a second would bury the log.
        if (!failing) logger.error({ event: 'visits-not-stored', site, err: error }, 'Visits can’t be stored.');
        failing = true;
      },
    );
    const done = write.finally(() => {
      visits.underWay -= batch.length;
      underWay -= batch.length + BATCH_COST;
      writes.delete(done);
    });
    writes.add(done);
  }

  return {
    add,
    async stop() {
      clearTimeout(timer);
      for (const [site, visits] of sites) {
        handOver(site, visits, take([...visits.byKey.values()]));
        visits.byKey.clear();
      }
      await Promise.all(writes);
      sites.clear();
    },
  };
}

/** What is new. Repeats of what went before its time wait for their second. */
function takeFresh(visits: SiteVisits): Visit[] {
  const batch = take(visits.fresh.slice(visits.handedOver));
  visits.handedOver = visits.fresh.length;
  return batch;
}

/** What is not handed over yet. */
function take(all: readonly Folded[]): Visit[] {
  const batch: Visit[] = [];
  for (const folded of all) {
    if (folded.open === null) continue;
    batch.push(folded.open);
    folded.open = null;
  }
  return batch;
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
