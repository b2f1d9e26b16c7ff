import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { PhpRun, WorkerMessage, WorkerSetup } from './wasm-messages.js';

export type PhpResult = Extract<WorkerMessage, { kind: 'done' }>;

export interface PhpPool {
  /** Runs PHP when its turn comes. Rejects when the worker breaks. */
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

/** Milliseconds after which a waiting run counts as one that the running one waits for. */
const patience = 1500;

/**
 * Runs PHP one run after the other, which is as fast as side by side on a small machine and spares SQLite, whose locks
 * WebAssembly waits for badly. Pages of WordPress call the site itself, though (site health, editors), and would wait
 * for themselves: a run that has to wait too long gets a further worker, up to `size` in all.
 */
export function createPhpPool(setup: WorkerSetup, size: number): PhpPool {
  const idle: Worker[] = [];
  const all = new Set<Worker>();
  const queue: (() => void)[] = [];
  let running = 0;

  const add = (): Worker => {
    const worker = startWorker(setup);
    all.add(worker);
    worker.child.once('exit', () => {
      all.delete(worker);
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
    });
    return worker;
  };
  const turn = (): Promise<void> => {
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
      const impatient = () => {
        if (running >= size) return;
        queue.splice(queue.indexOf(begin), 1);
        begin();
      };
      const timer = setTimeout(impatient, patience);
      queue.push(begin);
    });
  };
  const done = () => {
    running -= 1;
    if (running === 0) queue.shift()?.();
  };

  return {
    async run(run) {
      await turn();
      const worker = idle.pop() ?? add();
      try {
        await worker.ready;
        worker.runs += 1;
        const result = await exchange(worker.child, run);
        if (worker.runs >= maxRuns || result.memory > maxMemory) worker.child.kill();
        else idle.push(worker);
        return result;
      } catch (error) {
        worker.child.kill('SIGKILL');
        throw error;
      } finally {
        done();
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
  // The user of the worker awaits this too; without a handler an early end would count as unhandled.
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
