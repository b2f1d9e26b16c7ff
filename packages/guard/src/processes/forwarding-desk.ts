import type { Permit } from '../login/attempts.js';
import type { CheckOutcome } from '../login/password-check-queue.js';
import type { ViewDesk } from '../login/remote-views.js';
import type { SiteId } from '../site.js';
import type { Borrower, UpstreamPool } from '../upstream/upstream-pool.js';
import type { Signal } from '../wordpress/signature.js';
import type { SiteOrigin } from '../wordpress/site-origin.js';
import type { ConnectionCount } from './connection-count.js';
import { MessageBatch } from './message-batch.js';
import type { FromForwarding, Question, ToForwarding } from './messages.js';

/** What the primary process does for requests that workers forward. */
export interface ForwardingServices {
  readonly views: ViewDesk;
  readonly connections: ConnectionCount;
  /** The pool of connections to a served site. */
  findPool(site: SiteId): UpstreamPool | null;
  handleSignal(site: SiteId, signal: Signal, origin: SiteOrigin): void;
  handleGuarded(site: SiteId): void;
  handleSilent(site: SiteId): void;
  answer(question: Question): Promise<unknown>;
  /** A worker has seen a session that WordPress confirmed. */
  handleSession(key: string, until: number): void;
  /** A plugin of the site wanted to check a password in a view. */
  handlePasswordInView(site: SiteId): void;
}

/** A request of the worker with permits. */
interface Entry {
  /** Null without a permit of the pool. */
  loan: { readonly pool: UpstreamPool; readonly borrower: Borrower; isGranted: boolean } | null;
  permit: Permit | null;
}

/** The requests that one worker forwards. They hold permits of the primary process. */
export class ForwardingDesk {
  readonly #entries = new Map<number, Entry>();
  readonly #batch: MessageBatch<ToForwarding>;

  constructor(
    private readonly services: ForwardingServices,
    send: (items: readonly ToForwarding[]) => void,
  ) {
    this.#batch = new MessageBatch(send);
  }

  receive(items: readonly FromForwarding[]): void {
    for (const item of items) this.#handle(item);
  }

  /** Tells the worker something that another process has seen. */
  tell(item: ToForwarding): void {
    this.#batch.add(item);
  }

  /** Called when the worker has ended: nobody else releases its permits. */
  close(): void {
    // The outcome of a password check under way is not known.
    for (const id of [...this.#entries.keys()]) this.#end(id, 'wrong');
    this.services.connections.forget(this);
  }

  #handle(item: FromForwarding): void {
    const { views } = this.services;
    switch (item[0]) {
      case 'enter': {
        const [, id, site, from, key] = item;
        const { login, permit } = views.enter(site, from, key);
        this.#acquire(id, site, from, permit, (isGranted) => this.#batch.add(['entered', id, isGranted, login]));
        break;
      }
      case 'acquire': {
        const [, id, site, from] = item;
        this.#acquire(id, site, from, null, (isGranted) => this.#batch.add(['entered', id, isGranted, null]));
        break;
      }
      case 'cancel':
        this.#end(item[1], 'none');
        break;
      case 'left':
      case 'responded':
        this.#recordProgress(item[0], item[1]);
        break;
      case 'released':
        this.#endLoan(item[1]);
        break;
      case 'checked': {
        const [, id, outcome] = item;
        const entry = this.#entries.get(id);
        entry?.permit?.release(outcome);
        if (entry !== undefined) entry.permit = null;
        this.#tidy(id);
        break;
      }
      case 'failure':
        views.recordFailure(item[1]);
        break;
      case 'throttled':
        views.recordThrottled(item[1], item[2]);
        break;
      case 'success':
        views.recordSuccess(item[1], item[2], item[3]);
        break;
      case 'missing':
        views.recordMissing(item[1], item[2], item[3]);
        break;
      case 'password-in-view':
        this.services.handlePasswordInView(item[1]);
        break;
      case 'signed':
        views.recordSigned(item[1]);
        break;
      case 'signal':
        this.services.handleSignal(item[1], item[2], { scheme: item[3], host: item[4] });
        break;
      case 'guarded':
        this.services.handleGuarded(item[1]);
        break;
      case 'silent':
        this.services.handleSilent(item[1]);
        break;
      case 'session':
        this.services.handleSession(item[1], item[2]);
        break;
      case 'opened': {
        const excess = this.services.connections.open(this, item[1]);
        if (excess !== undefined) this.#batch.add(['shed', excess]);
        break;
      }
      case 'closed':
        this.services.connections.close(this, item[1]);
        break;
      case 'ask': {
        const [, id, question] = item;
        void this.services.answer(question).then((value) => this.#batch.add(['answer', id, value]));
        break;
      }
    }
  }

  #acquire(id: number, site: SiteId, from: string, permit: Permit | null, answer: (isGranted: boolean) => void): void {
    const entry: Entry = { loan: null, permit };
    this.#entries.set(id, entry);
    const pool = this.services.findPool(site);
    if (pool === null) {
      answer(false);
      this.#tidy(id);
      return;
    }
    const borrower: Borrower = {
      from,
      granted() {
        loan.isGranted = true;
        answer(true);
      },
      refused: () => {
        entry.loan = null;
        answer(false);
        this.#tidy(id);
      },
    };
    const loan = { pool, borrower, isGranted: false };
    entry.loan = loan;
    pool.lend(borrower);
  }

  #recordProgress(what: 'left' | 'responded', id: number): void {
    const loan = this.#entries.get(id)?.loan;
    if (loan === undefined || loan === null) return;
    if (what === 'left') loan.pool.recordLeft(loan.borrower);
    else loan.pool.recordResponse(loan.borrower);
  }

  #endLoan(id: number): void {
    const entry = this.#entries.get(id);
    const loan = entry?.loan;
    if (entry === undefined || loan === undefined || loan === null) return;
    entry.loan = null;
    if (loan.isGranted) loan.pool.endLoan(loan.borrower);
    else loan.pool.cancel(loan.borrower);
    this.#tidy(id);
  }

  #end(id: number, outcome: CheckOutcome): void {
    const entry = this.#entries.get(id);
    entry?.permit?.release(outcome);
    if (entry !== undefined) entry.permit = null;
    this.#endLoan(id);
    this.#tidy(id);
  }

  #tidy(id: number): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined && entry.loan === null && entry.permit === null) this.#entries.delete(id);
  }
}
