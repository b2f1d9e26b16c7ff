import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Goes round until its standard input ends, which it does with the process that holds the other side. */
const LOOP = `process.stdin.on('end', () => process.exit()).resume();
const keepBusy = () => { for (const end = Date.now() + 50; Date.now() < end; ); setImmediate(keepBusy); };
keepBusy();`;

/**
 * Keeps the processor busy, so that tests run as on a slow machine.
 *
 * @param loops number of processes that each take as much of a core as they get
 * @returns a function that ends them, and resolves when they are gone
 */
export function keepBusy(loops) {
  const children = Array.from({ length: loops }, () =>
    spawn(process.execPath, ['-e', LOOP], { stdio: ['pipe', 'ignore', 'ignore'] }),
  );
  return async () => {
    const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    const exited = running.map((child) => once(child, 'exit'));
    for (const child of running) child.kill('SIGKILL');
    await Promise.all(exited);
  };
}
