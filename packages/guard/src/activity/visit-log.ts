import type { LateFailure, ObservedRequest, VisitRecorder } from '../hooks.js';
import { toReferenceNumber } from '../http/request-id.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { plainText } from '../lib/plain-text.js';
import type { SiteId } from '../site.js';
import type { ActivityStore } from './activity-store.js';
import { type FoldableVisit, FoldBuffer, isFlood, type VisitTexts } from './fold-visits.js';
import { cleanReferer, maskSecrets } from './mask-secrets.js';
import {
  NOT_FOLDED,
  PackedVisitBuilder,
  RecentVisits,
  type VisitFacts,
  type VisitKey,
  visitHash,
} from './packed-visits.js';
import { anonymizeAddress } from './visit.js';

/** What a site wants of its log. */
export interface VisitRules {
  readonly recording: boolean;
  readonly anonymize: boolean;
  /** Whether the calls that WordPress makes to itself are visits too. */
  readonly ownCron: boolean;
  /** Whether an address holds one of the login, present or former: it is not kept in referers. Hides all without it. */
  readonly namesLogin?: (target: string) => boolean;
}

export interface VisitLog extends VisitRecorder {
  /** Hands over what waits, and resolves when all of it is stored or counted as dropped. */
  /** Resolves when all visits so far are stored, or can't be. */
  writeAll(): Promise<void>;
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
const REFERER_CHARACTERS = 300;
const ORIGIN_CHARACTERS = 200;
/** WordPress cuts logins at as many. */
const LOGIN_CHARACTERS = 60;

/** Visits of one site. */
interface SiteVisits {
  /** Of the present batch, what was not seen in the last second. */
  fresh: PackedVisitBuilder;
  /** Of the present second, what was handed over before. */
  repeats: PackedVisitBuilder;
  /** Second of the clock of the last visit, and the rows that were begun in it. */
  second: number;
  started: number;
  /** Refused visits of that second that share rows; null when there are none. */
  folds: FoldBuffer | null;
  dropped: number;
  /** Handed over and not stored yet, weighed. */
  inFlight: number;
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
  let inFlight = 0;
  let droppedInAll = 0;
  /** What the folds of all sites weigh. */
  let folding = 0;
  /** The present second, and the rows that all sites have begun in it. */
  let second = 0;
  let started = 0;
  let failing = false;
  let ticks = 0;
  let number = 0;
  let timer: NodeJS.Timeout | undefined;

  function add(site: SiteId, seen: ObservedRequest): void {
    const siteRules = rules(site);
    const { recording, anonymize, ownCron } = siteRules;
    if (!recording || (seen.isOwnCron === true && !ownCron)) return;
    const visits = getSiteVisits(site);
    visits.idle = 0;
    const at = clock();
    startSecond(visits, at);
    const address = anonymize ? anonymizeAddress(seen.address) : seen.address.text;
    const { status, rule, method = '', failedLogins = 0 } = seen;
    const target = toStoredTarget(seen.target);
    const tried = seen.tried === undefined ? '' : toStoredLogin(seen.tried);
    const key: VisitKey = { address, status, rule, target, method, failedLogins, tried };
    const hash = visitHash(key, seed);
    const position = recent.find(hash, site, key);
    if (position !== -1 && !beginsRow(position)) repeat(visits, position, key, seen, siteRules);
    else if (seen.rule !== null && isFlood(visits.started, started)) {
      const reference = readReference(seen);
      fold(site, visits, { key, address: seen.address, anonymized: anonymize, reference }, seen, siteRules, at);
    } else if (position === -1) begin(site, visits, hash, key, seen, siteRules);
    else {
      countRow(visits);
      repeat(visits, position, key, seen, siteRules);
    }
    timer ??= setTimeout(tick, BATCH_MS).unref();
  }

  /** What was folded in an earlier second is complete. */
  function startSecond(visits: SiteVisits, at: number): void {
    const now = Math.floor(at / 1000);
    if (now !== second) {
      second = now;
      started = 0;
    }
    if (visits.second === now) return;
    endSecond(visits);
    visits.second = now;
    visits.started = 0;
  }

  function endSecond(visits: SiteVisits): void {
    const { folds } = visits;
    if (folds === null) return;
    for (const { key, texts, at, more, moreBits, others, reference, lastReference } of folds.folds) {
      const count = moreBits === null ? 1 + more : 1;
      const tally = others?.bytes() ?? NOT_FOLDED.others;
      const counted = { at, count, number: nextNumber(), repeats: 0, more, moreBits, others: tally };
      visits.fresh.append(key, { ...texts, ...counted, reference, lastReference });
    }
    folding -= folds.weight;
    visits.folds = null;
  }

  /** Whether a repeat of this visit is a new row: it was written down in another second. */
  function beginsRow(position: number): boolean {
    const pack = recent.packAt(position);
    return !pack.isOpen && Math.floor(pack.timeAt(recent.offsetAt(position)) / 1000) !== second;
  }

  function countRow(visits: SiteVisits): void {
    visits.started++;
    started++;
  }

  function begin(
    site: SiteId,
    visits: SiteVisits,
    hash: number,
    key: VisitKey,
    seen: ObservedRequest,
    siteRules: VisitRules,
  ): void {
    if (!fits(visits, visits.inFlight + visits.fresh.rows)) return;
    countRow(visits);
    const facts = toFacts(seen, siteRules, 0);
    recent.put(hash, visits.fresh, visits.fresh.append(key, facts));
    onVisit?.(site, key.address, facts.agent);
    if (visits.fresh.rows >= BATCH_VISITS) visits.fresh = handOver(site, visits, visits.fresh);
  }

  function repeat(
    visits: SiteVisits,
    position: number,
    key: VisitKey,
    seen: ObservedRequest,
    siteRules: VisitRules,
  ): void {
    const pack = recent.packAt(position);
    const offset = recent.offsetAt(position);
    if (pack.isOpen) pack.addHit(offset, isShownReference(seen) ? readReference(seen) : 0);
    else if (fits(visits, visits.repeats.rows)) {
      const facts = toFacts(seen, siteRules, pack.numberAt(offset));
      recent.move(position, visits.repeats, visits.repeats.append(key, facts));
    }
  }

  function fold(
    site: SiteId,
    visits: SiteVisits,
    visit: FoldableVisit,
    seen: ObservedRequest,
    siteRules: VisitRules,
    at: number,
  ): void {
    visits.folds ??= new FoldBuffer();
    const { folds } = visits;
    const before = folds.weight;
    if (!fits(visits, visits.inFlight + visits.fresh.rows + before)) return;
    if (!folds.join(visit)) {
      const texts = readTexts(seen, siteRules);
      folds.begin(visit, texts, at);
      onVisit?.(site, visit.key.address, texts.agent);
    }
    folding += folds.weight - before;
  }

  function toFacts(seen: ObservedRequest, siteRules: VisitRules, repeats: number): VisitFacts {
    const texts = readTexts(seen, siteRules);
    const reference = readReference(seen);
    return { ...texts, at: clock(), count: 1, number: nextNumber(), repeats, ...NOT_FOLDED, reference };
  }

  function addFailedLogins(site: SiteId, { address, target, failedLogins }: LateFailure): void {
    const { recording, anonymize } = rules(site);
    if (!recording) return;
    const visits = getSiteVisits(site);
    visits.idle = 0;
    const key: VisitKey = {
      ...{ address: anonymize ? anonymizeAddress(address) : address.text, target: toStoredTarget(target) },
      ...{ status: 0, rule: null, failedLogins },
    };
    const facts = { at: clock(), agent: null, count: 0, number: 0, repeats: 0, ...NOT_FOLDED };
    if (fits(visits, visits.inFlight + visits.fresh.rows)) visits.fresh.append(key, facts);
    timer ??= setTimeout(tick, BATCH_MS).unref();
  }

  function nextNumber(): number {
    number = (number % NUMBERS) + 1;
    return number;
  }

  /** Whether there is room for one row more beside so many. What has none is counted. */
  function fits(visits: SiteVisits, waiting: number): boolean {
    if (waiting < WAITING_MAX && inFlight + folding < ALL_WAITING_MAX) return true;
    visits.dropped++;
    droppedInAll++;
    return false;
  }

  function getSiteVisits(site: SiteId): SiteVisits {
    let visits = sites.get(site);
    if (visits === undefined) {
      const packs = { fresh: new PackedVisitBuilder(site), repeats: new PackedVisitBuilder(site) };
      visits = { ...packs, second: 0, started: 0, folds: null, dropped: 0, inFlight: 0, idle: 0 };
      sites.set(site, visits);
    }
    return visits;
  }

  function tick(): void {
    timer = undefined;
    const secondIsOver = ++ticks % REPEATS_EVERY === 0;
    if (secondIsOver) recent.rotate();
    const now = Math.floor(clock() / 1000);
    for (const [site, visits] of sites) {
      if (visits.second !== now) endSecond(visits);
      // A count of dropped visits can wait for a better moment; each would be a batch, too.
      if (visits.fresh.rows > 0 || (visits.dropped > 0 && inFlight < ALL_WAITING_MAX)) {
        visits.fresh = handOver(site, visits, visits.fresh);
      }
      if (secondIsOver && visits.repeats.rows > 0) visits.repeats = handOver(site, visits, visits.repeats);
      const written = visits.inFlight === 0 && visits.dropped === 0 && visits.repeats.rows === 0;
      // After two turns nothing is known of its visits any more.
      if (++visits.idle > 2 * REPEATS_EVERY && written && visits.folds === null) sites.delete(site);
    }
    if (sites.size > 0) timer = setTimeout(tick, BATCH_MS).unref();
  }

  /** Returns the pack for what comes next. */
  function handOver(site: SiteId, visits: SiteVisits, pack: PackedVisitBuilder): PackedVisitBuilder {
    const { dropped } = visits;
    const packed = pack.close();
    const { weight, hits } = packed;
    visits.dropped = 0;
    visits.inFlight += weight;
    inFlight += weight + BATCH_COST;
    const write = store.write({ site, visits: packed, dropped }).then(
      () => {
        failing = false;
      },
      (error: unknown) => {
        visits.dropped += dropped + hits;
        droppedInAll += hits;
        // Once per outage: ten lines a second would bury the log.
        if (!failing) logger.error({ event: 'visits-store-failed', site, err: error }, 'Visits can’t be stored.');
        failing = true;
      },
    );
    const done = write.finally(() => {
      visits.inFlight -= weight;
      inFlight -= weight + BATCH_COST;
      writes.delete(done);
    });
    writes.add(done);
    // It will hardly need more than the last one.
    return new PackedVisitBuilder(site, pack.used);
  }

  return {
    add,
    addFailedLogins,
    getCounts() {
      let waiting = inFlight + folding;
      for (const { fresh, repeats } of sites.values()) waiting += fresh.rows + repeats.rows;
      return { dropped: droppedInAll, waiting };
    },
    async writeAll() {
      handOverAll();
      await Promise.all(writes);
    },
    async stop() {
      clearTimeout(timer);
      handOverAll();
      await Promise.all(writes);
      sites.clear();
    },
  };

  function handOverAll(): void {
    for (const [site, visits] of sites) {
      endSecond(visits);
      if (visits.fresh.rows > 0 || visits.dropped > 0) handOver(site, visits, visits.fresh);
      if (visits.repeats.rows > 0) handOver(site, visits, visits.repeats);
    }
  }
}

function readAgent(seen: ObservedRequest): string | null {
  const agent = seen.agent();
  return agent === null ? null : escaped(cut(agent, AGENT_CHARACTERS), AGENT_CHARACTERS);
}

/** The texts of a request that are stored with its row. */
function readTexts(seen: ObservedRequest, { namesLogin = () => true }: VisitRules): VisitTexts {
  const referer = seen.referer?.() ?? null;
  const cleaned = referer === null ? null : cleanReferer(cut(referer, REFERER_CHARACTERS), namesLogin);
  return {
    agent: readAgent(seen),
    referer: cleaned === null ? '' : escaped(cut(cleaned, REFERER_CHARACTERS), REFERER_CHARACTERS),
    origin: escaped(cut(seen.origin?.() ?? '', ORIGIN_CHARACTERS), ORIGIN_CHARACTERS),
  };
}

function readReference({ requestId }: ObservedRequest): number {
  return requestId === undefined ? 0 : toReferenceNumber(requestId);
}

/** Whether the visitor was told a reference. */
function isShownReference({ rule, status }: ObservedRequest): boolean {
  return rule !== null || status >= 500;
}

function toStoredTarget(target: string): string {
  const shown = escaped(cut(target, TARGET_CHARACTERS), TARGET_CHARACTERS);
  return cut(maskSecrets(shown), TARGET_CHARACTERS);
}

/** UTF-8 with one character per byte, as records of visits hold it. */
function toStoredLogin(login: string): string {
  return Buffer.from(plainText(login, LOGIN_CHARACTERS), 'utf8').toString('latin1').slice(0, 255);
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
