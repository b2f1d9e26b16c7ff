import { Worker } from 'node:worker_threads';
import type { Logger } from '../../lib/logger.js';
import { StorageError } from '../storage-error.js';
import type { WorkerReply, WorkerRequest } from './messages.js';

interface Waiting<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: StorageError) => void;
}

interface Life<Result> {
  /** Counts the starts; a transaction belongs to the life in which it began. */
  readonly number: number;
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting<Result>>;
  readonly opened: Promise<void>;
  /** It was told to end, because nobody needed it. */
  resting: boolean;
}

/** Room for what lives shortly: rows on their way. Three times as much, as Node gives, is only memory. */
const YOUNG_MEGABYTES = 8;

/** What a storage thread runs. */
export interface ThreadProgram {
  /** The compiled worker: a thread starts from a file of its own, also when this module runs from its source in tests. */
  readonly file: string;
  readonly settings: unknown;
  /** The worker ends when nobody has called it for so long, milliseconds, and the next call starts it. Else it stays. */
  readonly restAfterMs?: number;
}

/**
 * Main-thread side of a worker that owns a database connection. Starts the worker with the first call and again after
 * it died; calls that were under way then fail with `worker_died`, and nothing of an open transaction is kept.
 */
export class StorageThread<Call, Result> {
  readonly #program: ThreadProgram;
  readonly #logger: Logger;
  #life: Life<Result> | undefined;
  #starts = 0;
  #nextId = 1;
  #closed = false;
  /** The last worker ended without being told to. */
  #died = false;
  #restTimer: NodeJS.Timeout | undefined;
  /** Resolves when the workers that rest are gone. */
  #rested: Promise<unknown> = Promise.resolve();

  constructor(program: ThreadProgram, logger: Logger) {
    this.#program = program;
    this.#logger = logger;
  }

  /** Number of the worker's present life; starts the worker when there is none. Rejects with StorageError. */
  async open(): Promise<number> {
    const life = this.#current();
    await life.opened;
    return life.number;
  }

  /**
   * Hands over one call.
   * @param inLife when given, refuse unless the worker still lives the life of that number
   */
  async call(call: Call, inLife?: number): Promise<Result> {
    if (inLife !== undefined && this.#life?.number !== inLife) {
      throw new StorageError('worker_died', 'The storage worker was restarted in the middle of a transaction.');
    }
    const life = this.#current();
    await life.opened;
    return new Promise((resolve, reject) => {
      if (this.#life !== life) {
        reject(new StorageError('worker_died', 'The storage worker stopped before the statement ran.'));
        return;
      }
      const request: WorkerRequest<Call> = { id: this.#nextId++, call };
      life.waiting.set(request.id, { resolve, reject });
      try {
        life.worker.postMessage(request);
      } catch (error) {
        life.waiting.delete(request.id);
        reject(new StorageError('other', 'A value can’t be handed to the storage worker.', { cause: error }));
      }
    });
  }

  /** Lets the worker finish what it has and closes the file. Later calls fail with `closed`. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#restTimer);
    const life = this.#life;
    await Promise.all([this.#rested, life && end(life)]);
  }

  /** Makes the worker fail as a fault of its own would; the next call starts it again. For tests of that. */
  async crash(): Promise<void> {
    const worker = this.#life?.worker;
    if (!worker) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    worker.postMessage('crash');
    await ended;
  }

  /** Lets a worker end that nobody has called for a while: its memory is worth more than the time to start it. */
  #restLater(life: Life<Result>): void {
    const { restAfterMs } = this.#program;
    clearTimeout(this.#restTimer);
    if (restAfterMs === undefined || this.#closed) return;
    this.#restTimer = setTimeout(() => {
      if (this.#life !== life || life.waiting.size > 0) return;
      this.#life = undefined;
      life.resting = true;
      this.#rested = Promise.all([this.#rested, end(life)]);
    }, restAfterMs).unref();
  }

  #current(): Life<Result> {
    if (this.#closed) throw new StorageError('closed', 'The storage is closed.');
    this.#life ??= this.#start();
    return this.#life;
  }

  #start(): Life<Result> {
    const number = ++this.#starts;
    const { file, settings } = this.#program;
    const worker = new Worker(file, {
      workerData: settings,
      name: 'storage',
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
    });
    const waiting = new Map<number, Waiting<Result>>();
    let settle: { resolve: () => void; reject: (error: StorageError) => void } | undefined;
    const opened = new Promise<void>((resolve, reject) => {
      settle = { resolve, reject };
    });
    opened.catch(() => undefined);
    const life: Life<Result> = { number, worker, waiting, opened, resting: false };
    const isAgain = this.#died;
    let cause: unknown;
    let couldOpen = true;
    worker.on('message', (reply: WorkerReply<Result>) => {
      if (reply.kind === 'ready') {
        this.#died = false;
        if (isAgain) this.#logger.warn({ event: 'storage-worker-restarted' }, 'The storage worker runs again.');
        settle?.resolve();
      } else if (reply.kind === 'not_opened') {
        couldOpen = false;
        settle?.reject(new StorageError(reply.fault, reply.message));
      } else if (reply.kind === 'note') this.#logger.warn({ event: reply.event }, reply.message);
      else {
        this.#settle(waiting, reply);
        this.#restLater(life);
      }
    });
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      if (this.#life === life) this.#life = undefined;
      const died = new StorageError('worker_died', 'The storage worker stopped.', { cause });
      settle?.reject(died);
      for (const { reject } of waiting.values()) reject(died);
      waiting.clear();
      if (this.#closed || life.resting) return;
      this.#died = true;
      if (couldOpen) this.#logger.error({ event: 'storage-worker-died', err: cause }, died.detail);
    });
    return life;
  }

  #settle(waiting: Map<number, Waiting<Result>>, reply: Extract<WorkerReply<Result>, { id: number }>): void {
    const caller = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.kind === 'done') caller?.resolve(reply.result);
    else caller?.reject(new StorageError(reply.fault, reply.message));
  }
}

/** Lets a worker finish what it has; resolves when it is gone. */
function end({ worker }: Pick<Life<unknown>, 'worker'>): Promise<void> {
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.postMessage('close');
  return ended;
}
