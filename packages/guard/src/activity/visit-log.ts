import type { LateFailure, ObservedRequest, VisitRecorder } from '../hooks.js';
import { toReferenceNumber } from '../http/request-id.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { plainText } from '../lib/plain-text.js';
import type { SiteId } from '../site.js';
import type { ActivityStore, VisitBatch } from './activity-store.js';
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

/** How the visits of a site are recorded. */
export interface VisitRules {
  readonly recording: boolean;
  readonly anonymize: boolean;
  /** Whether requests that WordPress sends to itself are recorded, too. */
  readonly ownCron: boolean;
  /**
   * Whether a URL contains a login address, present or former. Referers that contain one lose their path. Default: all
   * do.
   */
  readonly namesLogin?: (target: string) => boolean;
}

/** One of several processes that do the same work. */
export interface ProcessShare {
  /** From 0 on. */
  readonly index: number;
  readonly count: number;
}

export interface VisitLog extends VisitRecorder {
  /** Sends all visits to the store; resolves when they are stored or counted as dropped. */
  writeAll(): Promise<void>;
  stop(): Promise<void>;
}

/** Time between two batches, milliseconds. */
const BATCH_MS = 100;
/** New visits that complete a batch early, so that sending it does not delay requests. */
const BATCH_VISITS = 1000;
/** Batches after which repeats are sent, too: a second. */
const REPEATS_EVERY = 10;
/**
 * Maximum number of visits that are not stored yet, of a site (besides as many repeats) and of all sites. Each occupies
 * some 200 bytes, at most 900, and as much again for a second or two to recognise its repeats.
 */
const WAITING_MAX = 20_000;
const ALL_WAITING_MAX = 40_000;
/** Memory of a batch besides its visits, in visits: a flood at thousands of sites makes as many batches. */
const BATCH_COST = 4;

/** Visits are numbered up to this number, then from the first one again. */
const NUMBERS = 2 ** 32 - 1;
const TARGET_CHARACTERS = 500;
const AGENT_CHARACTERS = 300;
const REFERER_CHARACTERS = 300;
const ORIGIN_CHARACTERS = 200;
/** WordPress truncates logins to this length. */
const LOGIN_CHARACTERS = 60;

/** Visits of one site. */
interface SiteVisits {
  /** Visits of the current batch that were new. */
  fresh: PackedVisitBuilder;
  /** Repeats, in the current second, of visits of earlier batches. */
  repeats: PackedVisitBuilder;
  /** Second of the last visit, and the number of rows that were begun in it. */
  second: number;
  started: number;
  /** Refused visits of that second that share rows; null when there are none. */
  folds: FoldBuffer | null;
  dropped: number;
  /** Weight of the visits that were sent and are not stored yet. */
  inFlight: number;
  /** Batches since the last visit. */
  idle: number;
}

/** A batch, and the visits that it belongs to. */
interface UnsentBatch {
  readonly from: SiteVisits;
  readonly batch: VisitBatch;
}

/**
 * Collects visits and sends them to the store ten times a second, in a flood more often. Equal visits of a second
 * become one visit with a count. In a flood, refused visits share rows (see `fold-visits`), which are sent at the end
 * of their second. Memory is bounded: visits beyond the limits are counted per site as dropped, and the store gets the
 * count.
 *
 * @param rules called for each visit; must be fast
 * @param onVisit called for each visit that is no repeat, with its agent; must be fast
 * @param seed 32 bits that clients don't know
 * @param share the place of this process among those that record visits: they share the limits of a flood, and no two
 *   visits get the same number. Default: the only one
 */
export function createVisitLog(deps: {
  readonly store: Pick<ActivityStore, 'write'>;
  readonly rules: (site: SiteId) => VisitRules;
  readonly onVisit?: (site: SiteId, address: string, agent: string | null) => void;
  readonly seed: number;
  readonly share?: ProcessShare;
  readonly clock: Clock;
  readonly logger: Logger;
}): VisitLog {
  const { store, rules, onVisit, seed, share = { index: 0, count: 1 }, clock, logger } = deps;
  const sites = new Map<SiteId, SiteVisits>();
  const recent = new RecentVisits();
  const writes = new Set<Promise<void>>();
  /** Batches for the next call of the store. */
  let unsent: UnsentBatch[] = [];
  let inFlight = 0;
  let droppedInAll = 0;
  /** Weight of the folded visits of all sites. */
  let folding = 0;
  /** The current second, and the number of rows that all sites have begun in it. */
  let second = 0;
  let started = 0;
  let failing = false;
  let ticks = 0;
  let number = share.index + 1 - share.count;
  let timer: NodeJS.Timeout | undefined;

  function add(site: SiteId, observed: ObservedRequest): void {
    const siteRules = rules(site);
    const { recording, anonymize, ownCron } = siteRules;
    if (!recording || (observed.isOwnCron === true && !ownCron)) return;
    const visits = getSiteVisits(site);
    visits.idle = 0;
    const at = clock();
    startSecond(visits, at);
    const address = anonymize ? anonymizeAddress(observed.address) : observed.address.text;
    const { status, rule, method = '', failedLogins = 0 } = observed;
    const target = toStoredTarget(observed.target);
    const tried = observed.tried === undefined ? '' : toStoredLogin(observed.tried);
    const key: VisitKey = { address, status, rule, target, method, failedLogins, tried };
    const hash = visitHash(key, seed);
    const position = recent.find(hash, site, key);
    if (position !== -1 && !beginsRow(position)) repeat(visits, position, key, observed, siteRules);
    else if (observed.rule !== null && isFlood(visits.started * share.count, started * share.count)) {
      const reference = readReference(observed);
      fold(site, visits, { key, address: observed.address, anonymized: anonymize, reference }, observed, siteRules, at);
    } else if (position === -1) begin(site, visits, hash, key, observed, siteRules);
    else {
      countRow(visits);
      repeat(visits, position, key, observed, siteRules);
    }
    timer ??= setTimeout(tick, BATCH_MS).unref();
  }

  /** Completes the folded visits of an earlier second. */
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

  /** Whether a repeat of this visit begins a new row, because the visit was packed in another second. */
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
    observed: ObservedRequest,
    siteRules: VisitRules,
  ): void {
    if (!fits(visits, visits.inFlight + visits.fresh.rows)) return;
    countRow(visits);
    const facts = toFacts(observed, siteRules, 0);
    recent.put(hash, visits.fresh, visits.fresh.append(key, facts));
    onVisit?.(site, key.address, facts.agent);
    if (visits.fresh.rows < BATCH_VISITS) return;
    visits.fresh = closePack(site, visits, visits.fresh);
    send();
  }

  function repeat(
    visits: SiteVisits,
    position: number,
    key: VisitKey,
    observed: ObservedRequest,
    siteRules: VisitRules,
  ): void {
    const pack = recent.packAt(position);
    const offset = recent.offsetAt(position);
    if (pack.isOpen) pack.addHit(offset, isShownReference(observed) ? readReference(observed) : 0);
    else if (fits(visits, visits.repeats.rows)) {
      const facts = toFacts(observed, siteRules, pack.numberAt(offset));
      recent.move(position, visits.repeats, visits.repeats.append(key, facts));
    }
  }

  function fold(
    site: SiteId,
    visits: SiteVisits,
    visit: FoldableVisit,
    observed: ObservedRequest,
    siteRules: VisitRules,
    at: number,
  ): void {
    visits.folds ??= new FoldBuffer();
    const { folds } = visits;
    const before = folds.weight;
    if (!fits(visits, visits.inFlight + visits.fresh.rows + before)) return;
    if (!folds.join(visit)) {
      const texts = readTexts(observed, siteRules);
      folds.begin(visit, texts, at);
      onVisit?.(site, visit.key.address, texts.agent);
    }
    folding += folds.weight - before;
  }

  function toFacts(observed: ObservedRequest, siteRules: VisitRules, repeats: number): VisitFacts {
    const texts = readTexts(observed, siteRules);
    const reference = readReference(observed);
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
    number += share.count;
    if (number > NUMBERS) number = share.index + 1;
    return number;
  }

  /** Whether the limits allow another visit besides this many. If not, it is counted as dropped. */
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
      // A count of dropped visits waits while the store is busy, since it would be a batch, too.
      if (visits.fresh.rows > 0 || (visits.dropped > 0 && inFlight < ALL_WAITING_MAX)) {
        visits.fresh = closePack(site, visits, visits.fresh);
      }
      if (secondIsOver && visits.repeats.rows > 0) visits.repeats = closePack(site, visits, visits.repeats);
      const written = visits.inFlight === 0 && visits.dropped === 0 && visits.repeats.rows === 0;
      // After two rotations none of its visits can be found any more.
      if (++visits.idle > 2 * REPEATS_EVERY && written && visits.folds === null) sites.delete(site);
    }
    send();
    if (sites.size > 0) timer = setTimeout(tick, BATCH_MS).unref();
  }

  /** Makes a batch of a pack. Returns the builder of the next one. */
  function closePack(site: SiteId, visits: SiteVisits, pack: PackedVisitBuilder): PackedVisitBuilder {
    const batch = { site, visits: pack.close(), dropped: visits.dropped };
    visits.dropped = 0;
    visits.inFlight += batch.visits.weight;
    inFlight += batch.visits.weight + BATCH_COST;
    unsent.push({ from: visits, batch });
    // The next batch will hardly need more room than this one.
    return new PackedVisitBuilder(site, pack.used);
  }

  /** Sends all batches to the store in one call: promises for each site would need more memory than its visits. */
  function send(): void {
    const sent = unsent;
    const site = sent[0]?.batch.site;
    if (site === undefined) return;
    unsent = [];
    const write = store.write(sent.map(({ batch }) => batch)).then(
      () => {
        failing = false;
      },
      (error: unknown) => {
        for (const { from, batch } of sent) {
          from.dropped += batch.dropped + batch.visits.hits;
          droppedInAll += batch.visits.hits;
        }
        // Logged once per outage, not for each of ten calls a second.
        if (!failing) logger.error({ event: 'visits-store-failed', site, err: error }, 'Visits can’t be stored.');
        failing = true;
      },
    );
    const done = write.finally(() => {
      for (const { from, batch } of sent) {
        from.inFlight -= batch.visits.weight;
        inFlight -= batch.visits.weight + BATCH_COST;
      }
      writes.delete(done);
    });
    writes.add(done);
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
      writeAllPacks();
      await Promise.all(writes);
    },
    async stop() {
      clearTimeout(timer);
      writeAllPacks();
      await Promise.all(writes);
      sites.clear();
    },
  };

  function writeAllPacks(): void {
    for (const [site, visits] of sites) {
      endSecond(visits);
      if (visits.fresh.rows > 0 || visits.dropped > 0) visits.fresh = closePack(site, visits, visits.fresh);
      if (visits.repeats.rows > 0) visits.repeats = closePack(site, visits, visits.repeats);
    }
    send();
  }
}

function readAgent(observed: ObservedRequest): string | null {
  const agent = observed.agent();
  return agent === null ? null : escaped(cut(agent, AGENT_CHARACTERS), AGENT_CHARACTERS);
}

/** Returns the texts of a request that are stored with its row. */
function readTexts(observed: ObservedRequest, { namesLogin = () => true }: VisitRules): VisitTexts {
  const referer = observed.referer?.() ?? null;
  const cleaned = referer === null ? null : cleanReferer(cut(referer, REFERER_CHARACTERS), namesLogin);
  return {
    agent: readAgent(observed),
    referer: cleaned === null ? '' : escaped(cut(cleaned, REFERER_CHARACTERS), REFERER_CHARACTERS),
    origin: escaped(cut(observed.origin?.() ?? '', ORIGIN_CHARACTERS), ORIGIN_CHARACTERS),
  };
}

function readReference({ requestId }: ObservedRequest): number {
  return requestId === undefined ? 0 : toReferenceNumber(requestId);
}

/** Whether the response contained a reference. */
function isShownReference({ rule, status }: ObservedRequest): boolean {
  return rule !== null || status >= 500;
}

function toStoredTarget(target: string): string {
  const shown = escaped(cut(target, TARGET_CHARACTERS), TARGET_CHARACTERS);
  return cut(maskSecrets(shown), TARGET_CHARACTERS);
}

/** Converts a login to UTF-8 with one character per byte, the format of stored visits. */
function toStoredLogin(login: string): string {
  return Buffer.from(plainText(login, LOGIN_CHARACTERS), 'utf8').toString('latin1').slice(0, 255);
}

function cut(text: string, maxLength: number): string {
  return text.length > maxLength ? text.slice(0, maxLength) : text;
}

const UNSAFE = /[^\x20-\x7e]/;

/**
 * Escapes bytes that are not printable ASCII as `%0A`, so that no program that reads a visit can be deceived by them.
 */
function escaped(text: string, maxLength: number): string {
  if (!UNSAFE.test(text)) return text;
  return cut(text.replace(/[^\x20-\x7e]/g, escapedCharacter), maxLength);
}

function escapedCharacter(character: string): string {
  const hex = character.charCodeAt(0).toString(16).toUpperCase();
  return hex.length > 2 ? '%3F' : `%${hex.padStart(2, '0')}`;
}
