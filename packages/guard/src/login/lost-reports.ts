import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { ConnectorState, SiteConfig, SiteId } from '../site.js';
import type { LoginReport } from '../wordpress/login-headers.js';

/**
 * What the connector knows of the password checks in a request whose answer came without its report.
 * - a report: they ended so. `unfinished`: one began, and PHP ended before it was over. `none`: there was none.
 * - `unknown`: nobody can say, since the connector is not there.
 * - `lost`: the connector should know and could not be asked for too long.
 */
export type FoundReport = LoginReport | 'unfinished' | 'none' | 'unknown' | 'lost';

export interface LostReportsDeps {
  /** Asks the connector. Requests without a record are left out of the answer. Throws when it can't be asked. */
  ask(site: SiteConfig, requests: readonly string[]): Promise<ReadonlyMap<string, LoginReport | 'unfinished'>>;
  state(site: SiteId): ConnectorState;
  /** Looks how things are with the connector, at most now and then. */
  recheck(site: SiteConfig): void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Where answers go on that lack the connector's report. */
export interface LostReports {
  /** Requests that are not found out about yet. */
  readonly pending: number;
  /**
   * An answer to a request that certainly checks a password lacks the connector's signature. One line in the log for as
   * long as that goes on.
   * @param status null when there was no answer
   */
  note(site: SiteConfig, requestId: string, status: number | null): void;
  /**
   * Finds out what became of the password checks in a request. `then` is called once.
   * @returns resolves when the connector has been asked, whether or not it has answered
   */
  find(site: SiteConfig, requestId: string, then: (found: FoundReport) => void): Promise<void>;
  stop(): void;
}

/** Between two questions about the same site, milliseconds: what gets lost meanwhile is asked for together. */
const PAUSE_MS = 500;
/** After a question that failed, milliseconds. */
const RETRY_MS = 3000;
/** The connector keeps its records for 10 minutes. */
const GIVE_UP_MS = 8 * 60_000;
const AT_ONCE = 500;
/** Of all sites together. Each keeps its request in memory. */
const MOST = 5000;
/** An outage is over when no report has been missing for so long, milliseconds. */
const QUIET_MS = 10 * 60_000;

interface Waiting {
  readonly since: number;
  then(found: FoundReport): void;
  /** It has been asked for once. */
  asked(): void;
}

interface Lane {
  readonly site: SiteConfig;
  readonly waiting: Map<string, Waiting>;
  timer: NodeJS.Timeout | null;
  asking: boolean;
  /** The last question failed. */
  failing: boolean;
}

/**
 * Asks the connector for reports that got lost on their way: the web server found the head of the answer too long, or
 * PHP died. One question is under way for a site at a time, however many are lost.
 */
export function createLostReports(deps: LostReportsDeps): LostReports {
  const { clock, logger } = deps;
  const lanes = new Map<SiteId, Lane>();
  const lastAsked = new Map<SiteId, number>();
  const lastMissing = new Map<SiteId, number>();
  let count = 0;
  let stopped = false;

  function settle(lane: Lane, requestId: string, found: FoundReport): void {
    const waiting = lane.waiting.get(requestId);
    if (waiting === undefined) return;
    lane.waiting.delete(requestId);
    count--;
    waiting.then(found);
    waiting.asked();
  }

  function plan(lane: Lane, pause: number): void {
    if (stopped || lane.timer !== null || lane.asking || lane.waiting.size === 0) return;
    lane.timer = setTimeout(
      () => {
        lane.timer = null;
        void run(lane);
      },
      Math.max(0, Math.min(pause, (lastAsked.get(lane.site.id) ?? 0) + pause - clock())),
    );
  }

  async function run(lane: Lane): Promise<void> {
    const { site } = lane;
    const requests = [...lane.waiting.keys()].slice(0, AT_ONCE);
    lane.asking = true;
    lastAsked.set(site.id, clock());
    let pause = PAUSE_MS;
    try {
      const found = await deps.ask(site, requests);
      lane.failing = false;
      for (const id of requests) settle(lane, id, found.get(id) ?? 'none');
    } catch {
      pause = RETRY_MS;
      lane.failing = true;
      for (const { asked } of lane.waiting.values()) asked();
      deps.recheck(site);
      const { kind } = deps.state(site.id);
      const isGone = kind === 'missing' || kind === 'other_secret';
      for (const [id, { since }] of [...lane.waiting]) {
        if (isGone) settle(lane, id, 'unknown');
        else if (Math.abs(clock() - since) > GIVE_UP_MS) settle(lane, id, 'lost');
      }
    }
    lane.asking = false;
    if (lane.waiting.size === 0) lanes.delete(site.id);
    else plan(lane, pause);
  }

  function note(site: SiteConfig, requestId: string, status: number | null): void {
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

  return {
    get pending() {
      return count;
    },
    note,
    find(site, requestId, then) {
      const { kind } = deps.state(site.id);
      const isGone = stopped || kind === 'missing' || kind === 'other_secret';
      if (isGone || count >= MOST) {
        then(isGone ? 'unknown' : 'lost');
        return Promise.resolve();
      }
      const lane: Lane = lanes.get(site.id) ?? {
        site,
        waiting: new Map(),
        timer: null,
        asking: false,
        failing: false,
      };
      lanes.set(site.id, lane);
      const { promise, resolve } = withResolvers();
      lane.waiting.set(requestId, { since: clock(), then, asked: resolve });
      count++;
      if (lane.failing) resolve();
      plan(lane, PAUSE_MS);
      return promise;
    },
    stop() {
      stopped = true;
      for (const lane of lanes.values()) if (lane.timer !== null) clearTimeout(lane.timer);
      lanes.clear();
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
