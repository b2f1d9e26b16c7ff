import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { ConnectorState, SiteConfig, SiteId } from '../site.js';
import type { LoginReport } from '../wordpress/login-headers.js';
import type { PasswordLikelihood } from './concurrency-limiter.js';

/** A response without the connector's signature, or a request without a response. */
export interface UnsignedResponse {
  readonly method: string;
  /**
   * Whether a password check was permitted. Without a permit, the request carries the order to refuse password checks.
   */
  readonly allowed: boolean;
  readonly likelihood: PasswordLikelihood;
  /** The password came by the login or sign-up form or XML-RPC, not by `Authorization: Basic` alone. */
  readonly byForm: boolean;
  /** The target is a route of the REST API, as far as guard can see. */
  readonly rest: boolean;
  /** Null without a response. */
  readonly status: number | null;
  /** The response sets a session cookie. */
  readonly startsSession: boolean;
}

/**
 * Decides what a response without the connector's signature counts as. It doesn't show how a password check ended.
 * - `failure`: one failure of the address. For routes that certainly check a password, unless the response itself shows
 *   that the password was right.
 * - `ask`: a password may have been checked. The connector, if it is running, has a record of each check.
 * - `nothing`: the web server responded without WordPress, as it does for files, and the request holds no password.
 */
export function classifyUnsignedResponse(outcome: UnsignedResponse): 'failure' | 'ask' | 'nothing' {
  const { method, allowed, likelihood, byForm, rest, status, startsSession } = outcome;
  if (!allowed) return 'nothing';
  const reads = method === 'GET' || method === 'HEAD';
  const isError = status === null || status >= 500;
  // WordPress checks such credentials in REST and XML-RPC; elsewhere they may belong to the web server.
  if (likelihood === 'certain' && (byForm || rest || !reads)) return byForm && startsSession ? 'nothing' : 'failure';
  if (isError) return 'ask';
  return reads && (likelihood !== 'possible' || !rest) ? 'nothing' : 'ask';
}

/**
 * What the connector knows about the password checks in a request whose response came without its report.
 * - a report: how they ended. `unfinished`: a check began, and PHP ended before it was over. `none`: there was no
 *   check.
 * - `unknown`: nobody knows, since the connector is not running.
 * - `lost`: the connector should know, but could not be queried in time.
 */
export type FoundReport = LoginReport | 'unfinished' | 'none' | 'unknown' | 'lost';

export interface MissingReportsOptions {
  /** Queries the connector. The result omits requests without a record. Throws when the query fails. */
  query(site: SiteConfig, requests: readonly string[]): Promise<ReadonlyMap<string, LoginReport | 'unfinished'>>;
  state(site: SiteId): ConnectorState;
  /** Checks the connector's state. Calls within a short time count as one. */
  recheck(site: SiteConfig): void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Recovers the login reports of responses that came without one. */
export interface MissingReports {
  /** Requests whose report is not known yet. */
  readonly pending: number;
  /**
   * Records an unsigned response to a request that certainly checks a password. An outage is logged once.
   * @param status null without a response
   */
  recordMissing(site: SiteConfig, requestId: string, status: number | null): void;
  /** Records a response that carries the connector's signature. */
  recordSigned(site: SiteId): void;
  /**
   * Whether the connector is not running, as far as responses of the last seconds and its state show. Nothing is
   * refused inside WordPress then.
   */
  isAway(site: SiteId): boolean;
  /**
   * Finds out how the password checks in a request ended. Calls `then` once.
   * @returns resolves when the connector has been queried, whether or not it has responded
   */
  find(site: SiteConfig, requestId: string, then: (found: FoundReport) => void): Promise<void>;
  stop(): void;
}

/**
 * Pause between two queries of one site, milliseconds. Reports that go missing during the pause share the next query.
 */
const PAUSE_MS = 500;
/** Pause after a failed query, milliseconds. */
const RETRY_MS = 3000;
/** The connector keeps its records for 10 minutes. */
const GIVE_UP_MS = 8 * 60_000;
const AT_ONCE = 500;
/** Pending requests of all sites together. Each one is held in memory. */
const MOST = 5000;
/** For this long, milliseconds, responses are better evidence that the connector is running than its state is. */
const DOUBT_MS = 10_000;
/** An outage is over when no report has been missing for this long, milliseconds. */
const QUIET_MS = 10 * 60_000;

interface PendingQuery {
  readonly since: number;
  then(found: FoundReport): void;
  /** Called once the first query has ended. */
  asked(): void;
}

interface SiteQueue {
  readonly site: SiteConfig;
  readonly waiting: Map<string, PendingQuery>;
  timer: NodeJS.Timeout | null;
  asking: boolean;
  /** The last query failed. */
  failing: boolean;
}

/**
 * Queries the connector for reports that got lost in transit: the web server rejected the response headers as too long,
 * or PHP died. Each site has at most one query under way, however many reports are missing.
 */
export function createMissingReports(deps: MissingReportsOptions): MissingReports {
  const { clock, logger } = deps;
  const queues = new Map<SiteId, SiteQueue>();
  const lastAsked = new Map<SiteId, number>();
  const lastMissing = new Map<SiteId, number>();
  const lastSigned = new Map<SiteId, number>();
  let count = 0;
  let stopped = false;

  function settle(queue: SiteQueue, requestId: string, found: FoundReport): void {
    const waiting = queue.waiting.get(requestId);
    if (waiting === undefined) return;
    queue.waiting.delete(requestId);
    count--;
    waiting.then(found);
    waiting.asked();
  }

  function plan(queue: SiteQueue, pause: number): void {
    if (stopped || queue.timer !== null || queue.asking || queue.waiting.size === 0) return;
    queue.timer = setTimeout(
      () => {
        queue.timer = null;
        void run(queue);
      },
      Math.max(0, Math.min(pause, (lastAsked.get(queue.site.id) ?? 0) + pause - clock())),
    );
  }

  async function run(queue: SiteQueue): Promise<void> {
    const { site } = queue;
    const requests = [...queue.waiting.keys()].slice(0, AT_ONCE);
    queue.asking = true;
    lastAsked.set(site.id, clock());
    let pause = PAUSE_MS;
    try {
      const found = await deps.query(site, requests);
      queue.failing = false;
      for (const id of requests) settle(queue, id, found.get(id) ?? 'none');
    } catch {
      pause = RETRY_MS;
      queue.failing = true;
      for (const { asked } of queue.waiting.values()) asked();
      deps.recheck(site);
      const { kind } = deps.state(site.id);
      const isGone = kind === 'missing' || kind === 'other_secret';
      for (const [id, { since }] of [...queue.waiting]) {
        if (isGone) settle(queue, id, 'unknown');
        else if (Math.abs(clock() - since) > GIVE_UP_MS) settle(queue, id, 'lost');
      }
    }
    queue.asking = false;
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
    if (missing !== undefined && Math.abs(now - missing) < DOUBT_MS) return true;
    // A web server that asks for a password may refuse guard's queries and accept visitors.
    const signed = lastSigned.get(site);
    if (signed !== undefined && Math.abs(now - signed) < DOUBT_MS) return false;
    const { kind } = deps.state(site);
    return kind === 'missing' || kind === 'other_secret';
  }

  return {
    isAway,
    recordSigned: (site) => void lastSigned.set(site, clock()),
    get pending() {
      return count;
    },
    recordMissing,
    find(site, requestId, then) {
      const { kind } = deps.state(site.id);
      const isGone = stopped || kind === 'missing' || kind === 'other_secret';
      if (isGone || count >= MOST) {
        then(isGone ? 'unknown' : 'lost');
        return Promise.resolve();
      }
      const queue: SiteQueue = queues.get(site.id) ?? {
        site,
        waiting: new Map(),
        timer: null,
        asking: false,
        failing: false,
      };
      queues.set(site.id, queue);
      const { promise, resolve } = withResolvers();
      queue.waiting.set(requestId, { since: clock(), then, asked: resolve });
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

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
