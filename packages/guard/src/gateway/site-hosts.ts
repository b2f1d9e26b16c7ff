/**
 * Determines which hosts are names of a site that accepts every host. Only WordPress can tell: networks map domains in
 * tables and with plugins, and shops have a host for each language. So guard probes the upstream web server, once for
 * each host, to see whether this site responds there; see docs/decisions/0045-hosts-are-proved.md.
 */

import type { Address } from '../lib/address.js';
import { toClientKey } from '../lib/address.js';
import type { Clock } from '../lib/clock.js';
import { setBounded } from '../lib/collections.js';
import { Limiter } from '../lib/limiter.js';
import type { Logger } from '../lib/logger.js';
import { plainText } from '../lib/plain-text.js';
import type { SiteConfig, SiteFacts } from '../site.js';
import type { HostProbe } from '../wordpress/host-probe.js';
import { isSameOrigin, type SiteOrigin, toSiteOrigin } from '../wordpress/site-origin.js';
import { toHostName } from './machine-hosts.js';

/**
 * `proved`: the site responds there. `foreign`: something else responds, and requests for the host are refused. `open`:
 * the connector does not run in the site itself, so no host can be proved, and the request is forwarded. `busy`: not
 * known now, since the site does not answer or too many hosts are being probed. A flood must not open what is closed,
 * so such a request has to be sent again.
 */
export type HostStatus = 'proved' | 'foreign' | 'open' | 'busy';

export interface SiteHosts {
  /** The cached state of a host; null when it has to be probed. @param name without port, in lower case */
  find(site: SiteConfig, name: string): 'proved' | 'foreign' | 'open' | null;
  /**
   * Probes the upstream web server, once for all requests that wait for the same host. Never rejects.
   *
   * @param origin as the client sent it
   * @param client the client that is charged for the probe, since each one starts a WordPress
   * @param isNamed whether a host certainly belongs to the site
   */
  check(question: HostQuestion): Promise<HostStatus>;
}

export interface HostQuestion {
  readonly site: SiteConfig;
  readonly facts: SiteFacts;
  readonly name: string;
  readonly origin: SiteOrigin;
  readonly client: Address;
  isNamed(host: string): boolean;
}

/** How long a result is valid, milliseconds. */
const PROVED_MS = 6 * 3600_000;
const FOREIGN_MS = 60_000;
const OPEN_MS = 5000;
/** How long the state of the site itself is valid, milliseconds. */
const HOME_MS = { runs: 30_000, missing: OPEN_MS, silent: 2000 };
/** Clients choose hosts, so the caches are bounded. A network may have thousands. */
const MAX_PROVED = 10_000;
const MAX_OTHERS = 1000;
/** Simultaneous probes of one site, in total and for one client. */
const AT_ONCE = 3;
const AT_ONCE_OF_CLIENT = 2;
const WAITING = 100;
const WAITING_OF_CLIENT = 20;
/** Longest wait for a permit, milliseconds. */
const WAIT_MS = 10_000;
/** Foreign hosts that are probed in a minute: for one client, and in total. Hosts of the site do not count. */
const FOREIGN_OF_CLIENT = 10;
const FOREIGN_OF_ALL = 60;
const MAX_CLIENTS = 1000;
/** Log lines about foreign hosts in an hour. */
const LINES = 20;
/** Maximum number of redirects that are followed. */
const MAX_REDIRECTS = 3;

interface Known {
  readonly status: 'proved' | 'foreign' | 'open';
  readonly time: number;
}

interface Waiter {
  start(): void;
  refuse(): void;
}

/** Counts events in windows of a fixed length, milliseconds, for a bounded number of keys. */
class WindowCounts {
  readonly #counts = new Map<string, { readonly since: number; count: number }>();
  constructor(private readonly windowMs: number) {}

  get(key: string, now: number): number {
    const entry = this.#counts.get(key);
    return entry === undefined || Math.abs(now - entry.since) >= this.windowMs ? 0 : entry.count;
  }

  add(key: string, now: number): void {
    const count = this.get(key, now);
    if (count > 0) (this.#counts.get(key) as { count: number }).count++;
    else {
      this.#counts.delete(key);
      setBounded(this.#counts, key, { since: now, count: 1 }, MAX_CLIENTS);
    }
  }
}

/** Whether two hosts differ only in `www.` or in their ports. */
function isSameDomain(one: string, other: string): boolean {
  const [a, b] = [one, other].map((host) => toHostName(host).replace(/^www\./, ''));
  return a === b;
}

/** State of the hosts of one site. */
class HostsOfSite {
  readonly #proved = new Map<string, Known>();
  readonly #others = new Map<string, Known>();
  readonly #running = new Map<string, Promise<HostStatus>>();
  readonly #foreign = new WindowCounts(60_000);
  readonly #lines = new WindowCounts(3600_000);
  readonly #permits = new Limiter<Waiter>({
    permits: AT_ONCE,
    waiting: WAITING,
    waitingPerKey: WAITING_OF_CLIENT,
    toGroup: (key) => key,
    grant: (waiter) => waiter.start(),
    refuse: (waiter) => waiter.refuse(),
  });
  #home: { readonly state: keyof typeof HOME_MS; readonly time: number } | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly probe: HostProbe,
    private readonly logger: Logger,
  ) {}

  find(name: string): Known['status'] | null {
    const known = this.#proved.get(name) ?? this.#others.get(name);
    if (known === undefined) return null;
    const lasts = { proved: PROVED_MS, foreign: FOREIGN_MS, open: OPEN_MS }[known.status];
    // The clock may have been set back.
    return Math.abs(this.clock() - known.time) < lasts ? known.status : null;
  }

  check(question: HostQuestion): Promise<HostStatus> {
    const { name } = question;
    const known = this.find(name);
    if (known !== null) return Promise.resolve(known);
    const running = this.#running.get(name);
    if (running !== undefined) return running;
    const client = toClientKey(question.client);
    const now = this.clock();
    if (this.#foreign.get(client, now) >= FOREIGN_OF_CLIENT || this.#foreign.get('', now) >= FOREIGN_OF_ALL) {
      return Promise.resolve('busy');
    }
    const check = this.#probeHost(question, client).finally(() => this.#running.delete(name));
    this.#running.set(name, check);
    return check;
  }

  async #probeHost(question: HostQuestion, client: string): Promise<HostStatus> {
    if (!(await this.#acquire(client))) return 'busy';
    const { name, site } = question;
    try {
      const found = await this.#follow(question);
      const home = found.kind === 'site' ? 'runs' : await this.#probeHome(question);
      if (home === 'silent') return 'busy';
      if (found.kind === 'silent' && home === 'runs') {
        // A host without a response counts toward the limit of foreign hosts.
        this.#foreign.add(client, this.clock());
        return 'busy';
      }
      const status = found.kind === 'site' ? 'proved' : home === 'missing' ? 'open' : 'foreign';
      this.#store(name, status);
      if (status === 'foreign') {
        const now = this.clock();
        this.#foreign.add(client, now);
        this.#foreign.add('', now);
        if (this.#lines.get('', now) < LINES) {
          this.#lines.add('', now);
          const host = plainText(name, 253);
          const fields = { event: 'foreign-host', site: site.id, host, cause: found.cause };
          this.logger.info(fields, 'A host that the site does not answer to is not passed on.');
        }
      }
      return status;
    } finally {
      this.#permits.release(client);
      this.#permits.serveAll(AT_ONCE_OF_CLIENT);
    }
  }

  /** @returns false when other clients used all permits, or the wait took too long */
  #acquire(client: string): Promise<boolean> {
    if (this.#permits.tryAcquire(client, AT_ONCE_OF_CLIENT)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const end = (isGranted: boolean): void => {
        clearTimeout(timer);
        resolve(isGranted);
      };
      const waiter: Waiter = { start: () => end(true), refuse: () => end(false) };
      const timer = setTimeout(() => this.#permits.cancel(client, waiter) && end(false), WAIT_MS);
      if (!this.#permits.enqueue(client, waiter)) end(false);
    });
  }

  #store(name: string, status: Known['status']): void {
    this.#proved.delete(name);
    this.#others.delete(name);
    const [known, max] = status === 'proved' ? [this.#proved, MAX_PROVED] : [this.#others, MAX_OTHERS];
    setBounded(known, name, { status, time: this.clock() }, max);
  }

  /** Whether the connector runs in the site itself, at the address that WordPress reports. */
  async #probeHome(question: HostQuestion): Promise<keyof typeof HOME_MS> {
    const { state, time } = this.#home ?? { state: 'silent', time: Number.NEGATIVE_INFINITY };
    if (Math.abs(this.clock() - time) < HOME_MS[state]) return state;
    const origin = toSiteOrigin(question.site, question.facts);
    const { kind } = await this.#follow({ ...question, origin, isNamed: () => false });
    const found = ({ site: 'runs', other: 'missing', silent: 'silent' } as const)[kind];
    this.#home = { state: found, time: this.clock() };
    return found;
  }

  /**
   * Follows redirects only within a domain: the server that accepts all other hosts would respond for any host that a
   * redirect names, for example the login of an internal service.
   *
   * @returns `cause`: what responds there, in plain English
   */
  async #follow(
    question: HostQuestion,
  ): Promise<{ readonly kind: 'site' | 'other' | 'silent'; readonly cause: string }> {
    let { origin } = question;
    for (let hop = 0; ; hop++) {
      const response = await this.probe(question.site, question.facts, origin);
      if (response.kind === 'signed') return { kind: 'site', cause: '' };
      if (response.kind !== 'redirect') return response;
      const { to } = response;
      if (question.isNamed(to.host)) return { kind: 'site', cause: '' };
      if (hop >= MAX_REDIRECTS || isSameOrigin(to, origin) || !isSameDomain(to.host, origin.host)) {
        return { kind: 'other', cause: `a redirect to ${plainText(`${to.scheme}://${to.host}`, 200)}` };
      }
      origin = to;
    }
  }
}

/** @param deps `probe`: sends a request to an upstream web server. Never rejects. */
export function createSiteHosts(deps: {
  readonly clock: Clock;
  readonly probe: HostProbe;
  readonly logger: Logger;
}): SiteHosts {
  // A site whose configuration has changed is another object, for which nothing is cached.
  const sites = new WeakMap<SiteConfig, HostsOfSite>();
  const of = (site: SiteConfig): HostsOfSite => {
    const known = sites.get(site) ?? new HostsOfSite(deps.clock, deps.probe, deps.logger);
    sites.set(site, known);
    return known;
  };
  return {
    find: (site, name) => sites.get(site)?.find(name) ?? null,
    check: (question) => of(question.site).check(question),
  };
}
