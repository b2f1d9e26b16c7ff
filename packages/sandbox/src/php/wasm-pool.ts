import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { PhpRun, WorkerMessage, WorkerSetup } from './wasm-worker.js';

export type PhpResult = Extract<WorkerMessage, { kind: 'done' }>;

export interface PhpPool {
  /** Runs PHP when a permit is free. Rejects if the worker fails. */
  readonly run: (run: PhpRun) => Promise<PhpResult>;
  readonly close: () => void;
}

interface Worker {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  runs: number;
}

/** WebAssembly memory never shrinks, so a worker is replaced when it reaches one of these limits. */
const MAX_RUNS = 500;
const MAX_MEMORY_BYTES = 900e6;

/** Wait after which a further worker starts: the active run may be waiting for the queued one. */
const MAX_WAIT_MS = 1500;

/**
 * Runs PHP sequentially. On a small machine that is as fast as running in parallel, and PHP in WebAssembly waits
 * poorly for locks of SQLite. Pages of WordPress that call the site itself (site health, editors) would block, so a run
 * that waits too long gets a further worker, up to `size` in total.
 */
export function createPhpPool(setup: WorkerSetup, size: number): PhpPool {
  const idle: Worker[] = [];
  const all = new Set<Worker>();
  const queue: (() => void)[] = [];
  let running = 0;

  const addWorker = (): Worker => {
    const worker = startWorker(setup);
    all.add(worker);
    worker.child.once('exit', () => {
      all.delete(worker);
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
    });
    return worker;
  };
  const acquire = (): Promise<void> => {
    if (running === 0) {
      running += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const begin = () => {
        clearTimeout(timer);
        running += 1;
        resolve();
      };
      const startInParallel = () => {
        if (running >= size) return;
        queue.splice(queue.indexOf(begin), 1);
        begin();
      };
      const timer = setTimeout(startInParallel, MAX_WAIT_MS);
      queue.push(begin);
    });
  };
  const release = () => {
    running -= 1;
    if (running === 0) queue.shift()?.();
  };

  return {
    async run(run) {
      await acquire();
      const worker = idle.pop() ?? addWorker();
      try {
        await worker.ready;
        worker.runs += 1;
        const result = await exchange(worker.child, run);
        if (worker.runs >= MAX_RUNS || result.memory > MAX_MEMORY_BYTES) worker.child.kill();
        else idle.push(worker);
        return result;
      } catch (error) {
        worker.child.kill('SIGKILL');
        throw error;
      } finally {
        release();
      }
    },
    close() {
      for (const worker of all) worker.child.kill('SIGKILL');
    },
  };
}

function startWorker(setup: WorkerSetup): Worker {
  const file = fileURLToPath(new URL('./wasm-worker.js', import.meta.url));
  const child = fork(file, [], { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ready = exchange(child, setup).then(() => {});
  // `run` awaits this too. Without a handler an early exit would be an unhandled rejection.
  ready.catch(() => {});
  return { child, ready, runs: 0 };
}

/** Sends a message and waits for its reply. A worker handles one message at a time. */
function exchange(child: ChildProcess, message: WorkerSetup | PhpRun): Promise<PhpResult> {
  return new Promise((resolve, reject) => {
    const clear = () => child.off('message', onMessage).off('exit', onExit);
    const onExit = () => {
      clear();
      reject(new Error('the PHP worker ended'));
    };
    const onMessage = (reply: WorkerMessage) => {
      clear();
      if (reply.kind === 'failed') reject(new Error(reply.error));
      else if (reply.kind === 'done') resolve(reply);
      else resolve({ kind: 'done', status: 200, headers: {}, body: new Uint8Array(), errors: '', memory: 0 });
    };
    child.on('message', onMessage).on('exit', onExit);
    child.send(message, (error) => {
      if (error) onExit();
    });
  });
}
