import { packVisits } from '../../../activity/packed-visits.js';
import { describeFault } from '../../sqlite-worker/describe-fault.js';
import type { WorkerReply } from '../../sqlite-worker/messages.js';
import { type ActivityWriter, mayPass, type VisitsCall } from './activity-writer.js';
import type { WriterSettings } from './writer-messages.js';

/** Wait before a failed commit is tried again, milliseconds. */
const RETRY_MS = 1000;

/**
 * Batches that wait for the next commit. While nothing can be written (database locked, disk full) it holds a bounded
 * number of visits and counts the others as dropped.
 */
export class VisitQueue {
  readonly #writer: ActivityWriter;
  readonly #settings: WriterSettings;
  readonly #reply: (message: WorkerReply<null>) => void;
  #waiting: { id: number; call: VisitsCall }[] = [];
  #visits = 0;
  #timer: NodeJS.Timeout | undefined;
  #failing = false;

  constructor(writer: ActivityWriter, settings: WriterSettings, reply: (message: WorkerReply<null>) => void) {
    this.#writer = writer;
    this.#settings = settings;
    this.#reply = reply;
  }

  add(id: number, call: VisitsCall): void {
    const size = call.visits.weight;
    const { maxWaiting, commitMs } = this.#settings;
    if (this.#visits + size > maxWaiting && this.#waiting.length > 0) this.#drop(id, call);
    else {
      this.#waiting.push({ id, call });
      this.#visits += size;
    }
    this.#timer ??= setTimeout(() => this.#commit(), this.#failing ? RETRY_MS : commitMs);
  }

  /** Writes what waits, as far as it can be written. */
  close(): void {
    this.#commit();
    clearTimeout(this.#timer);
  }

  #commit(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    try {
      this.#writer.writeVisits(this.#waiting.map(({ call }) => call));
    } catch (error) {
      this.#failed(error);
      return;
    }
    if (this.#failing) this.#note('activity-log-written-again', 'Visits are written again.');
    this.#failing = false;
    const done = this.#waiting;
    this.#waiting = [];
    this.#visits = 0;
    for (const { id } of done) this.#reply({ kind: 'done', id, result: null });
  }

  #failed(error: unknown): void {
    const { fault, message } = describeFault(error);
    if (mayPass(fault)) {
      if (!this.#failing) this.#note('activity-log-not-written', `Visits can’t be written: ${message}`);
      this.#failing = true;
      this.#timer = setTimeout(() => this.#commit(), RETRY_MS);
      return;
    }
    const failed = this.#waiting;
    this.#waiting = [];
    this.#visits = 0;
    for (const { id } of failed) this.#reply({ kind: 'failed', id, fault, message });
  }

  /** Keeps the number of a batch instead of the batch. */
  #drop(id: number, call: VisitsCall): void {
    const last = this.#waiting.findLast((entry) => entry.call.site === call.site);
    const dropped = call.dropped + call.visits.hits;
    if (last) last.call = { ...last.call, dropped: last.call.dropped + dropped };
    else this.#waiting.push({ id, call: { ...call, visits: packVisits([]), dropped } });
    if (last) this.#reply({ kind: 'done', id, result: null });
  }

  #note(event: string, message: string): void {
    this.#reply({ kind: 'note', event, message });
  }
}
