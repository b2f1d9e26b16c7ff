import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { AddressSet, type PackedAddresses } from '../lib/address-set.js';
import type { Logger } from '../lib/logger.js';
import { StorageError, type StorageFault } from './storage-error.js';

interface PendingCall<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: StorageError) => void;
}

interface WorkerInstance<Result> {
  /** Number of the start; a transaction belongs to the instance in which it began. */
  readonly number: number;
  readonly worker: Worker;
  readonly waiting: Map<number, PendingCall<Result>>;
  readonly opened: Promise<void>;
  /** Whether it is closing because it was idle. */
  isClosing: boolean;
}

/**
 * Limit of the young generation of the worker's heap, megabytes. Node's default is three times as much and has no
 * benefit.
 */
const YOUNG_GENERATION_MB = 8;

/** The program of a storage thread. */
export interface ThreadProgram {
  /** The compiled worker file, also when tests run this module from its source. */
  readonly file: string;
  readonly settings: unknown;
  /**
   * Time without calls after which the worker ends, milliseconds; the next call restarts it. Default: it never ends.
   */
  readonly idleTimeoutMs?: number;
}

/**
 * The main thread's side of a worker that owns a database connection. It starts the worker with the first call, and
 * restarts it after a crash: pending calls fail with `worker_died`, and an open transaction is rolled back.
 */
export class StorageThread<Call, Result> {
  readonly #program: ThreadProgram;
  readonly #logger: Logger;
  #instance: WorkerInstance<Result> | undefined;
  #starts = 0;
  #nextId = 1;
  #closed = false;
  /** Whether the last worker ended unexpectedly. */
  #died = false;
  #idleTimer: NodeJS.Timeout | undefined;
  /** Resolves when idle workers have ended. */
  #idleClosed: Promise<unknown> = Promise.resolve();

  constructor(program: ThreadProgram, logger: Logger) {
    this.#program = program;
    this.#logger = logger;
  }

  /**
   * Returns the number of the running worker instance; starts one if there is none.
   * @throws StorageError
   */
  async open(): Promise<number> {
    const instance = this.#current();
    await instance.opened;
    return instance.number;
  }

  /**
   * Sends one call to the worker.
   * @param instanceNumber if given, the call fails unless this instance still runs
   */
  async call(call: Call, instanceNumber?: number): Promise<Result> {
    if (instanceNumber !== undefined && this.#instance?.number !== instanceNumber) {
      throw new StorageError('worker_died', 'The storage worker was restarted in the middle of a transaction.');
    }
    const instance = this.#current();
    await instance.opened;
    return new Promise((resolve, reject) => {
      if (this.#instance !== instance) {
        reject(new StorageError('worker_died', 'The storage worker stopped before the statement ran.'));
        return;
      }
      const request: WorkerRequest<Call> = { id: this.#nextId++, call };
      instance.waiting.set(request.id, { resolve, reject });
      try {
        instance.worker.postMessage(request);
      } catch (error) {
        instance.waiting.delete(request.id);
        reject(new StorageError('other', 'A value can’t be handed to the storage worker.', { cause: error }));
      }
    });
  }

  /** Calls that the worker has not completed. */
  get waiting(): number {
    return this.#instance?.waiting.size ?? 0;
  }

  /** Closes the file once the worker has finished its calls. Later calls fail with `closed`. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    const instance = this.#instance;
    await Promise.all([this.#idleClosed, instance && end(instance)]);
  }

  /** Crashes the worker, for tests; the next call restarts it. */
  async simulateCrash(): Promise<void> {
    const worker = this.#instance?.worker;
    if (!worker) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    worker.postMessage('crash');
    await ended;
  }

  /** Ends the worker once it is idle: its memory is worth more than the time to restart it. */
  #closeWhenIdle(instance: WorkerInstance<Result>): void {
    const { idleTimeoutMs } = this.#program;
    clearTimeout(this.#idleTimer);
    if (idleTimeoutMs === undefined || this.#closed) return;
    this.#idleTimer = setTimeout(() => {
      if (this.#instance !== instance || instance.waiting.size > 0) return;
      this.#instance = undefined;
      instance.isClosing = true;
      this.#idleClosed = Promise.all([this.#idleClosed, end(instance)]);
    }, idleTimeoutMs).unref();
  }

  #current(): WorkerInstance<Result> {
    if (this.#closed) throw new StorageError('closed', 'The storage is closed.');
    this.#instance ??= this.#start();
    return this.#instance;
  }

  #start(): WorkerInstance<Result> {
    const number = ++this.#starts;
    const { file, settings } = this.#program;
    const worker = new Worker(file, {
      workerData: settings,
      name: 'storage',
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    const waiting = new Map<number, PendingCall<Result>>();
    let settle: { resolve: () => void; reject: (error: StorageError) => void } | undefined;
    const opened = new Promise<void>((resolve, reject) => {
      settle = { resolve, reject };
    });
    opened.catch(() => undefined);
    const instance: WorkerInstance<Result> = { number, worker, waiting, opened, isClosing: false };
    const isRestart = this.#died;
    let cause: unknown;
    let couldOpen = true;
    worker.on('message', (reply: WorkerReply<Result>) => {
      if (reply.kind === 'ready') {
        this.#died = false;
        if (isRestart) this.#logger.warn({ event: 'storage-worker-restarted' }, 'The storage worker runs again.');
        settle?.resolve();
      } else if (reply.kind === 'not_opened') {
        couldOpen = false;
        settle?.reject(new StorageError(reply.fault, reply.message));
      } else if (reply.kind === 'note') this.#logger.warn({ event: reply.event }, reply.message);
      else {
        this.#settle(waiting, reply);
        this.#closeWhenIdle(instance);
      }
    });
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      if (this.#instance === instance) this.#instance = undefined;
      const died = new StorageError('worker_died', 'The storage worker stopped.', { cause });
      settle?.reject(died);
      for (const { reject } of waiting.values()) reject(died);
      waiting.clear();
      if (this.#closed || instance.isClosing) return;
      this.#died = true;
      if (couldOpen) this.#logger.error({ event: 'storage-worker-died', err: cause }, died.detail);
    });
    return instance;
  }

  #settle(waiting: Map<number, PendingCall<Result>>, reply: Extract<WorkerReply<Result>, { id: number }>): void {
    const caller = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.kind === 'done') caller?.resolve(reply.result);
    else caller?.reject(new StorageError(reply.fault, reply.message));
  }
}

/** Ends a worker after its calls; resolves when it has ended. */
function end({ worker }: Pick<WorkerInstance<unknown>, 'worker'>): Promise<void> {
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.postMessage('close');
  return ended;
}

/** Options of the worker for opening its file. */
export interface WorkerSettings {
  /** Absolute path of the database file. */
  readonly file: string;
  /** How long a statement waits for a lock of another process, milliseconds. */
  readonly busyTimeoutMs: number;
  /** Read only, in addition to a writing connection of another thread. */
  readonly readOnly?: boolean;
  /** See `SqliteOptions`. */
  readonly immutableAtRest?: boolean;
}

/** One call of a worker. Calls run in the order of their arrival. */
export interface WorkerRequest<Call> {
  readonly id: number;
  readonly call: Call;
}

export interface StatementCall {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Reads a long list of addresses and ranges in the thread; the result is `PackedAddresses`. */
export interface AddressListCall {
  /**
   * Each query reads the next values of its list. After its own parameters it takes the last value that was read (''
   * for the first query) and the maximum number of rows. It returns one row, `last` and `lines` (values joined by line
   * feeds), or nulls.
   */
  readonly addressLists: readonly StatementCall[];
}

export interface StatementResult {
  readonly rows: Record<string, unknown>[];
  readonly changes: number;
  readonly lastInsertRowid: number | bigint;
}

export type WorkerReply<Result> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'not_opened'; readonly fault: StorageFault; readonly message: string }
  | { readonly kind: 'done'; readonly id: number; readonly result: Result }
  | { readonly kind: 'failed'; readonly id: number; readonly fault: StorageFault; readonly message: string }
  /** A log message that belongs to no call. */
  | { readonly kind: 'note'; readonly event: string; readonly message: string };

const workerFile = createRequire(import.meta.url).resolve('@security-optimizer/guard/program/sqlite-thread');

/** The main thread's side of the SQLite worker, which runs one statement after another. */
export class SqliteThread extends StorageThread<StatementCall | AddressListCall, StatementResult | PackedAddresses> {
  readonly kind = 'sqlite';

  /** @param idleTimeoutMs see ThreadProgram */
  constructor(settings: WorkerSettings, logger: Logger, idleTimeoutMs?: number) {
    super({ file: workerFile, settings, ...(idleTimeoutMs !== undefined && { idleTimeoutMs }) }, logger);
  }

  /**
   * Runs one statement.
   * @param instanceNumber if given, the statement fails unless this instance still runs
   */
  async execute(sql: string, parameters: readonly unknown[], instanceNumber?: number): Promise<StatementResult> {
    return (await this.call({ sql, parameters }, instanceNumber)) as StatementResult;
  }

  /** Reads a long list of addresses and ranges. Concurrent statements run in between. */
  async addressList(addressLists: AddressListCall['addressLists']): Promise<AddressSet> {
    return AddressSet.unpack((await this.call({ addressLists })) as PackedAddresses);
  }
}
