import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { ConnectorState, SiteConfig, SiteId } from '../site.js';
import { isConnectorMissing } from '../wordpress/connector-error.js';
import type { LoginReport } from '../wordpress/login-headers.js';
import type { PasswordLikelihood } from './concurrency-limiter.js';

/** A response without the connector's signature, or a request without a response. */
export interface UnsignedResponse {
  readonly method: string;
  /**
   * Whether a password check was permitted. Without a permit, the request carries the instruction to refuse password
   * checks.
   */
  readonly allowed: boolean;
  readonly likelihood: PasswordLikelihood;
  /** The password was sent by the login or sign-up form or XML-RPC, not by `Authorization: Basic` alone. */
  readonly byForm: boolean;
  /** The target is a route of the REST API, as far as guard can see. */
  readonly rest: boolean;
  /** Null without a response. */
  readonly status: number | null;
  /** The response sets a session cookie. */
  readonly startsSession: boolean;
}

/**
 * Decides what must be found out about a response without the connector's signature. It shows neither how a password
 * check ended nor whether there was one: the web server may have responded by itself, or WordPress during maintenance.
 * The connector, if it is running, has a record of each check.
 * - `expected`: the request holds a password, and a check is expected unless the connector denies it. This excludes
 *   requests whose response itself shows that the password was correct.
 * - `possible`: a password may have been checked.
 * - `nothing`: the web server responded without WordPress, as it does for files, and the request holds no password.
 */
export function classifyUnsignedResponse(outcome: UnsignedResponse): 'expected' | 'possible' | 'nothing' {
  const { method, allowed, likelihood, byForm, rest, status, startsSession } = outcome;
  if (!allowed) return 'nothing';
  const reads = method === 'GET' || method === 'HEAD';
  const isError = status === null || status >= 500;
  // WordPress checks such credentials in REST and XML-RPC; elsewhere they may belong to the web server.
  if (likelihood === 'certain' && (byForm || rest || !reads)) return byForm && startsSession ? 'nothing' : 'expected';
  if (isError) return 'possible';
  return reads && (likelihood !== 'possible' || !rest) ? 'nothing' : 'possible';
}

/**
 * Decides what is counted, once the result is known or can no longer be determined.
 * - a report: it counts as if it had arrived with the response.
 * - `failure`: one failure at an unknown account.
 * - `none`: no password was checked, which is no guess.
 * - `nothing`: the result is unknown, and the request may hold no password at all.
 *
 * @param expected whether the request holds a password
 */
export function toCountedOutcome(
  found: ReportLookup,
  expected: boolean,
  likelihood: PasswordLikelihood,
): LoginReport | 'failure' | 'none' | 'nothing' {
  if (found === 'none' || typeof found === 'object') return found;
  if (found === 'unknown') return expected ? 'failure' : 'nothing';
  return found === 'lost' && likelihood === 'view' ? 'nothing' : 'failure';
}

/**
 * The connector's knowledge of the password checks in a request whose response had no report.
 * - a report: how they ended. `unfinished`: a check began, and PHP ended before it was over. `none`: there was no
 *   check, and the connector will refuse any that the request still makes.
 * - `unknown`: the result can't be known, since the connector is not running.
 * - `lost`: the connector should have a record, but could not be queried in time.
 */
export type ReportLookup = LoginReport | 'unfinished' | 'none' | 'unknown' | 'lost';

export interface MissingReportsOptions {
  /** Queries the connector. The result omits requests without a record. Throws when the query fails. */
  query(site: SiteConfig, requests: readonly string[]): Promise<ReadonlyMap<string, LoginReport | 'unfinished'>>;
  state(site: SiteId): ConnectorState;
  /** Checks the connector's state. Calls within a short time count as one. */
  recheck(site: SiteConfig): void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Recovers the login reports of responses that had none. */
export interface MissingReports {
  /** Number of requests whose report is not known yet. */
  readonly pending: number;
  /**
   * Records an unsigned response to a request that certainly checks a password. An outage is logged once.
   * @param status null without a response
   */
  recordMissing(site: SiteConfig, requestId: string, status: number | null): void;
  /** Records a response with the connector's signature. Pending requests are queried now. */
  recordSigned(site: SiteId): void;
  /**
   * Whether the connector is not running, by the responses of the last seconds and its state. In that case nothing is
   * refused inside WordPress.
   */
  isAway(site: SiteId): boolean;
  /**
   * Finds out how the password checks in a request ended. Calls `then` once.
   * @returns resolves when the connector has been queried, whether or not it has responded
   */
  find(site: SiteConfig, requestId: string, onFound: (found: ReportLookup) => void): Promise<void>;
  /**
   * How long the connector must keep its records of checks, seconds, so that no record of a pending request is deleted
   * before the query. Null while its default time is long enough.
   */
  getRetention(site: SiteId): number | null;
  stop(): void;
}

/**
 * Pause between two queries of one site, milliseconds. Reports that go missing during the pause share the next query.
 */
const PAUSE_MS = 500;
/** Pause after a failed query, milliseconds. */
const RETRY_MS = 3000;
/** How long the connector keeps its records by default, milliseconds: 10 minutes. */
const LIFETIME_MS = 10 * 60_000;
/**
 * When the oldest pending request is older than this, the connector is instructed to keep its records longer,
 * milliseconds.
 */
const KEEP_LONGER_MS = 5 * 60_000;
/**
 * A connector that signs responses but could not be queried for this long, milliseconds, is given up. While it signs
 * none, as during maintenance, it doesn't run, and its records stay unchanged.
 */
const GIVE_UP_MS = 8 * 60_000;
/** Longest time that a request is pending, milliseconds. */
const PENDING_MAX_MS = 24 * 3600_000;
const BATCH_MAX = 500;
/** Limit of pending requests of all sites together. Each one is held in memory. */
const MAX_REPORTS = 5000;
/** For this long, milliseconds, responses are better evidence of whether the connector is running than its state. */
const SIGNAL_EVIDENCE_MS = 10_000;
/** An outage is over when no report has been missing for this long, milliseconds. */
const QUIET_MS = 10 * 60_000;

interface PendingQuery {
  readonly since: number;
  onFound(found: ReportLookup): void;
  /** Called once the first query has ended. */
  onQueried(): void;
}

interface SiteQueue {
  readonly site: SiteConfig;
  readonly waiting: Map<string, PendingQuery>;
  timer: NodeJS.Timeout | null;
  pending: boolean;
  /** The last query failed. */
  failing: boolean;
  /** The first signed response since queries started to fail, milliseconds since the Unix epoch; null without one. */
  signedSince: number | null;
}

/**
 * Queries the connector for the reports of responses that had none: the web server rejected the response headers as too
 * long, PHP crashed, or no password was checked because WordPress never ran. Each site has at most one query under way,
 * however many reports are missing.
 */
export function createMissingReports(deps: MissingReportsOptions): MissingReports {
  const { clock, logger } = deps;
  const queues = new Map<SiteId, SiteQueue>();
  const lastQueried = new Map<SiteId, number>();
  const lastMissing = new Map<SiteId, number>();
  const lastSigned = new Map<SiteId, number>();
  let count = 0;
  let stopped = false;

  function settle(queue: SiteQueue, requestId: string, found: ReportLookup): void {
    const waiting = queue.waiting.get(requestId);
    if (waiting === undefined) return;
    queue.waiting.delete(requestId);
    count--;
    waiting.onFound(found);
    waiting.onQueried();
  }

  function plan(queue: SiteQueue, pause: number): void {
    if (stopped || queue.timer !== null || queue.pending || queue.waiting.size === 0) return;
    queue.timer = setTimeout(
      () => {
        queue.timer = null;
        void run(queue);
      },
      Math.max(0, Math.min(pause, (lastQueried.get(queue.site.id) ?? 0) + pause - clock())),
    );
  }

  async function run(queue: SiteQueue): Promise<void> {
    const { site } = queue;
    const requests = [...queue.waiting.keys()].slice(0, BATCH_MAX);
    queue.pending = true;
    lastQueried.set(site.id, clock());
    let pause = PAUSE_MS;
    try {
      const found = await deps.query(site, requests);
      queue.failing = false;
      queue.signedSince = null;
      for (const id of requests) settle(queue, id, found.get(id) ?? 'none');
    } catch (error) {
      pause = RETRY_MS;
      queue.failing = true;
      for (const { onQueried } of queue.waiting.values()) onQueried();
      deps.recheck(site);
      const { kind } = deps.state(site.id);
      // A connector that returns later has no record of checks that WordPress made without it.
      const isUnavailable = isConnectorMissing(error) || kind === 'missing' || kind === 'other_secret';
      for (const [id, { since }] of [...queue.waiting]) {
        if (isUnavailable) settle(queue, id, 'unknown');
        else if (isOverdue(since, queue.signedSince, clock())) settle(queue, id, 'lost');
      }
    }
    queue.pending = false;
    if (queue.waiting.size === 0) queues.delete(site.id);
    else plan(queue, pause);
  }

  function recordMissing(site: SiteConfig, requestId: string, status: number | null): void {
    deps.recheck(site);
    const before = lastMissing.get(site.id);
    const now = clock();
    lastMissing.set(site.id, now);
    if (before !== undefined && Math.abs(now - before) < QUIET_MS) return;
    logger.warn(
      { event: 'login-report-missing', site: site.id, status, requestId },
      'An answer to a request with a password lacks the connector’s report; it counts as a failure unless the connector knows better. Is the connector there, and has the web server room for the headers of an answer (nginx: fastcgi_buffer_size 32k)?',
    );
  }

  function isAway(site: SiteId): boolean {
    const now = clock();
    const missing = lastMissing.get(site);
    if (missing !== undefined && Math.abs(now - missing) < SIGNAL_EVIDENCE_MS) return true;
    // A web server that requires a password may refuse guard's queries and accept visitors.
    const signed = lastSigned.get(site);
    if (signed !== undefined && Math.abs(now - signed) < SIGNAL_EVIDENCE_MS) return false;
    const { kind } = deps.state(site);
    return kind === 'missing' || kind === 'other_secret';
  }

  return {
    isAway,
    recordSigned(site) {
      const now = clock();
      lastSigned.set(site, now);
      const queue = queues.get(site);
      if (queue === undefined || !queue.failing || queue.signedSince !== null) return;
      queue.signedSince = now;
      if (queue.timer === null) return;
      clearTimeout(queue.timer);
      queue.timer = null;
      plan(queue, 0);
    },
    getRetention(site) {
      // The first one is the oldest.
      const [oldest] = queues.get(site)?.waiting.values() ?? [];
      const age = oldest === undefined ? 0 : Math.abs(clock() - oldest.since);
      return age < KEEP_LONGER_MS ? null : Math.ceil((age + LIFETIME_MS) / 1000);
    },
    get pending() {
      return count;
    },
    recordMissing,
    find(site, requestId, onFound) {
      const { kind } = deps.state(site.id);
      const isUnavailable = stopped || kind === 'missing' || kind === 'other_secret';
      if (isUnavailable || count >= MAX_REPORTS) {
        onFound(isUnavailable ? 'unknown' : 'lost');
        return Promise.resolve();
      }
      const queue: SiteQueue = queues.get(site.id) ?? {
        site,
        waiting: new Map(),
        timer: null,
        pending: false,
        failing: false,
        signedSince: null,
      };
      queues.set(site.id, queue);
      const { promise, resolve } = withResolvers();
      queue.waiting.set(requestId, { since: clock(), onFound, onQueried: resolve });
      count++;
      if (queue.failing) resolve();
      plan(queue, PAUSE_MS);
      return promise;
    },
    stop() {
      stopped = true;
      for (const queue of queues.values()) if (queue.timer !== null) clearTimeout(queue.timer);
      queues.clear();
    },
  };
}

/** Whether a request whose report can't be queried is given up. The clock may have been set back. */
function isOverdue(since: number, signedSince: number | null, now: number): boolean {
  if (Math.abs(now - since) > PENDING_MAX_MS) return true;
  return signedSince !== null && Math.abs(now - Math.max(since, signedSince)) > GIVE_UP_MS;
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
