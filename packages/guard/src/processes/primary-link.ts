import type { ServerResponse } from 'node:http';
import type { SharedConnectionCount } from '../gateway/connection-table.js';
import type { Exchange } from '../hooks.js';
import type { Clock } from '../lib/clock.js';
import { setBounded } from '../lib/collections.js';
import type { AttemptEntry } from '../login/lockout-rule.js';
import type { ReportLookup } from '../login/missing-reports.js';
import type { AdmittedView, LoginLink } from '../login/remote-views.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { ConnectionWaiter, SharedPermits } from '../upstream/upstream-pool.js';
import type { Signal } from '../wordpress/signature.js';
import type { SiteOrigin } from '../wordpress/site-origin.js';
import { MessageBatch } from './message-batch.js';
import type { FromForwarding, Question, ToForwarding } from './messages.js';

/** The same report about a site is sent again after this time at the earliest, milliseconds. */
const REPEAT_MS = 250;
const REPEATS_MAX = 20_000;

type Entered = (isGranted: boolean, login: AdmittedView['login'] | null) => void;

/** What a worker asks and reports about the requests that it forwards itself. */
export class PrimaryLink implements Omit<LoginLink, 'beginSecondFactor'> {
  readonly #batch: MessageBatch<FromForwarding>;
  readonly #entering = new Map<number, Entered>();
  readonly #asking = new Map<number, (value: unknown) => void>();
  /** Waiters of pools, by id of their question. */
  readonly #waiting = new Map<ConnectionWaiter, number>();
  /** When each report about a site was sent last. */
  readonly #sent = new Map<string, number>();
  /** Locks of Login Security, by site and key. The primary process bounds them. */
  readonly #locks = new Map<string, AttemptEntry>();
  /** Sites with a plugin that reads passwords in views. */
  readonly #withPasswords = new Set<SiteId>();
  #last = 0;
  /** The permit of the view that is being admitted in this turn, until its connection takes it. */
  #held: { readonly site: SiteId; readonly id: number; readonly isGranted: boolean } | null = null;

  constructor(
    send: (items: readonly FromForwarding[]) => void,
    private readonly clock: Clock,
    private readonly handlers: {
      /** Another process has seen a session. */
      onSession(key: string, until: number): void;
      /** All processes together have too many connections. */
      onShed(address: string | null): void;
    },
  ) {
    this.#batch = new MessageBatch(send);
  }

  receive(items: readonly ToForwarding[]): void {
    for (const item of items) {
      if (item[0] === 'entered') {
        const entered = this.#entering.get(item[1]);
        this.#entering.delete(item[1]);
        entered?.(item[2], item[3]);
      } else if (item[0] === 'answer') {
        this.#asking.get(item[1])?.(item[2]);
        this.#asking.delete(item[1]);
      } else if (item[0] === 'session') this.handlers.onSession(item[1], item[2]);
      else if (item[0] === 'shed') this.handlers.onShed(item[1]);
      else if (item[0] === 'lock') this.#setLock(`${item[1]} ${item[2]}`, item[3]);
      else this.#withPasswords.add(item[1]);
    }
  }

  ask(question: Question): Promise<unknown> {
    return new Promise((resolve) => {
      const id = ++this.#last;
      this.#asking.set(id, resolve);
      this.#batch.add(['ask', id, question]);
    });
  }

  enter(
    { allowed, response }: Exchange,
    { own, key }: { readonly own: string; readonly key: string },
    handlers: { admitted(view: AdmittedView): void; clientClosed(): void },
  ): void {
    const site = allowed.site.config.id;
    const id = ++this.#last;
    const onClose = (): void => {
      // The answer may be on its way: then it is released when it arrives.
      this.#batch.add(['cancel', id]);
      this.#entering.delete(id);
      handlers.clientClosed();
    };
    (response as ServerResponse).once('close', onClose);
    this.#entering.set(id, (isGranted, login) => {
      response.removeListener('close', onClose);
      this.#held = { site, id, isGranted };
      handlers.admitted({
        login: login ?? NO_LOGIN,
        releasePermit: (outcome) => this.#batch.add(['checked', id, outcome]),
      });
      // Guard has responded itself, so the request needs no connection.
      if (this.#held !== null && isGranted) this.#batch.add(['released', id]);
      this.#held = null;
    });
    this.#batch.add(['enter', id, site, own, key]);
  }

  /** Permits for the connections to a site. */
  permits(site: SiteId): SharedPermits {
    return {
      acquire: (waiter, answer) => {
        const held = this.#held;
        if (held !== null && held.site === site) {
          this.#held = null;
          if (held.isGranted) answer.granted(held.id);
          else answer.refused();
          return;
        }
        const id = ++this.#last;
        this.#waiting.set(waiter, id);
        this.#entering.set(id, (isGranted) => {
          this.#waiting.delete(waiter);
          if (isGranted) answer.granted(id);
          else answer.refused();
        });
        this.#batch.add(['acquire', id, site, waiter.from]);
      },
      cancel: (waiter) => {
        const id = this.#waiting.get(waiter);
        if (id === undefined) return;
        this.#waiting.delete(waiter);
        this.#entering.delete(id);
        this.#batch.add(['cancel', id]);
      },
      recordLeft: (id) => this.#batch.add(['left', id]),
      recordResponse: (id) => this.#batch.add(['responded', id]),
      release: (id) => this.#batch.add(['released', id]),
    };
  }

  findLock: LoginLink['findLock'] = (site, { own, key }, now) => {
    if (this.#locks.size === 0) return null;
    for (const each of [own, key]) {
      const full = `${site} ${each}`;
      const entry = this.#locks.get(full);
      if (entry === undefined) continue;
      if (entry.lockedUntil > now) return { key: each, entry };
      this.#locks.delete(full);
    }
    return null;
  };
  readsPasswordsInViews: LoginLink['readsPasswordsInViews'] = (site) => this.#withPasswords.has(site);
  reportPasswordInView: LoginLink['reportPasswordInView'] = (site) => {
    this.#withPasswords.add(site);
    this.#batch.add(['password-in-view', site]);
  };
  recordFailure: LoginLink['recordFailure'] = (failure) => this.#batch.add(['failure', failure]);
  recordThrottled: LoginLink['recordThrottled'] = (site, user) => this.#batch.add(['throttled', site, user]);
  recordSuccess: LoginLink['recordSuccess'] = (site, key, user) => this.#batch.add(['success', site, key, user]);
  recordMissing: LoginLink['recordMissing'] = (site, requestId, status) =>
    this.#batch.add(['missing', site, requestId, status]);
  recordSigned: LoginLink['recordSigned'] = (site) => this.#report('signed', site, '', ['signed', site]);
  findReport: LoginLink['findReport'] = async (site, requestId) =>
    (await this.ask({ name: 'find-report', site, requestId })) as ReportLookup;
  whenStored: LoginLink['whenStored'] = async (site) => void (await this.ask({ name: 'when-stored', site }));

  reportSignal({ id }: SiteConfig, signal: Signal, { scheme, host }: SiteOrigin): void {
    this.#report('signal', id, JSON.stringify(signal), ['signal', id, signal, scheme, host]);
  }

  reportGuarded({ id }: SiteConfig): void {
    this.#report('guarded', id, '', ['guarded', id]);
  }

  reportSilent({ id }: SiteConfig): void {
    this.#report('silent', id, '', ['silent', id]);
  }

  /** Counts the connections of clients of all processes. */
  readonly connections: SharedConnectionCount = {
    opened: (address) => this.#batch.add(['opened', address]),
    closed: (address) => this.#batch.add(['closed', address]),
  };

  reportSession(key: string, until: number): void {
    this.#batch.add(['session', key, until]);
  }

  #setLock(full: string, entry: AttemptEntry | null): void {
    if (entry === null) this.#locks.delete(full);
    else this.#locks.set(full, entry);
  }

  #report(name: string, site: SiteId, content: string, item: FromForwarding): void {
    const now = this.clock();
    const key = `${name} ${site} ${content}`;
    const before = this.#sent.get(key);
    if (before !== undefined && Math.abs(now - before) < REPEAT_MS) return;
    this.#sent.delete(key);
    setBounded(this.#sent, key, now, REPEATS_MAX);
    this.#batch.add(item);
  }
}

const NO_LOGIN: AdmittedView['login'] = { hasPermit: false, lock: null, keep: null };
