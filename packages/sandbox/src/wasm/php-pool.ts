import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { PhpRun, WorkerMessage, WorkerSetup } from './messages.js';

export type PhpResult = Extract<WorkerMessage, { kind: 'done' }>;

export interface PhpPool {
  /** Runs PHP in the next free worker. Rejects when the worker breaks. */
  readonly run: (run: PhpRun) => Promise<PhpResult>;
  readonly close: () => void;
}

interface Worker {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  runs: number;
}

/** WebAssembly memory never shrinks: a worker that has served this long makes room for a new one. */
const maxRuns = 500;
const maxMemory = 900e6;

/**
 * Keeps PHP workers, starting them as they are needed, up to `size`. Several are needed because pages of WordPress
 * call the site itself (cron, site health): with one alone such a page would wait for itself.
 */
export function createPhpPool(setup: WorkerSetup, size: number): PhpPool {
  const idle: Worker[] = [];
  const waiting: ((worker: Worker) => void)[] = [];
  const all = new Set<Worker>();

  const add = (): Worker => {
    const worker = startWorker(setup);
    all.add(worker);
    worker.child.once('exit', () => {
      all.delete(worker);
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
      const next = waiting.shift();
      if (next) next(add());
    });
    return worker;
  };
  const take = (): Promise<Worker> => {
    const worker = idle.pop() ?? (all.size < size ? add() : null);
    return worker === null ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(worker);
  };
  const giveBack = (worker: Worker, result: PhpResult) => {
    if (worker.runs >= maxRuns || result.memory > maxMemory) {
      worker.child.kill();
      return;
    }
    const next = waiting.shift();
    if (next) next(worker);
    else idle.push(worker);
  };

  return {
    async run(run) {
      const worker = await take();
      try {
        await worker.ready;
        worker.runs += 1;
        const result = await exchange(worker.child, run);
        giveBack(worker, result);
        return result;
      } catch (error) {
        worker.child.kill('SIGKILL');
        throw error;
      }
    },
    close() {
      waiting.length = 0;
      for (const worker of all) worker.child.kill('SIGKILL');
    },
  };
}

function startWorker(setup: WorkerSetup): Worker {
  const file = fileURLToPath(new URL('./php-worker.js', import.meta.url));
  const child = fork(file, [], { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ready = exchange(child, setup).then(() => {});
  // Whoever uses the worker awaits this too; without a handler an early end would count as unhandled.
  ready.catch(() => {});
  return { child, ready, runs: 0 };
}

/** Sends one message and waits for the one that answers it: a worker does one thing at a time. */
function exchange(child: ChildProcess, message: WorkerSetup | PhpRun): Promise<PhpResult> {
  return new Promise((resolve, reject) => {
    const clear = () => child.off('message', onMessage).off('exit', onExit);
    const onExit = () => {
      clear();
      reject(new Error('the PHP worker ended'));
    };
    const onMessage = (answer: WorkerMessage) => {
      clear();
      if (answer.kind === 'failed') reject(new Error(answer.error));
      else if (answer.kind === 'done') resolve(answer);
      else resolve({ kind: 'done', status: 200, headers: {}, body: new Uint8Array(), errors: '', memory: 0 });
    };
    child.on('message', onMessage).on('exit', onExit);
    child.send(message, (error) => {
      if (error) onExit();
    });
  });
}
