import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { lstat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

/** What root has created for a command before it gave up its rights. */
export interface HeldOutput {
  readonly kind: 'file' | 'folder';
  /** Absolute. */
  readonly path: string;
  /** Decimal digits. */
  readonly inode: string;
  readonly device: string;
}

const held: ChildProcess[] = [];

/**
 * Makes sure that a file or folder that root has just created is removed again unless the command succeeds: a process
 * that keeps root's rights waits for the end of this one. Called before root's rights are given up.
 */
export async function holdOutput(kind: HeldOutput['kind'], path: string): Promise<void> {
  const { ino, dev } = await lstat(path, { bigint: true });
  const output: HeldOutput = { kind, path: resolve(path), inode: String(ino), device: String(dev) };
  const program = createRequire(import.meta.url).resolve('@security-optimizer/guard/program/unfinished');
  const child = fork(program, [JSON.stringify(output)], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // Out of reach of the signals that a terminal sends to the command.
    detached: true,
  });
  held.push(child);
  // A child that could not start ends without a message.
  await Promise.race([once(child, 'message'), once(child, 'exit')]);
  child.unref();
  child.channel?.unref();
}

/** Keeps the outputs of a command that has succeeded; removes those of another one, and waits until it is done. */
export async function settleOutputs(isFinished: boolean): Promise<void> {
  for (const child of held.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, 'exit');
    child.ref();
    child.send(isFinished, () => undefined);
    await ended;
  }
}
