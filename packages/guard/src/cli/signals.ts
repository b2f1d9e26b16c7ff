import { constants } from 'node:os';

/** Signals with which people end a command. */
export const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a task during which SIGINT, SIGTERM and SIGHUP do not end the process at once.
 *
 * @param cleanUp called at such a signal, before the process ends; null when the task, which must be short, has to be
 *   completed
 */
export async function withSignals<Result>(cleanUp: (() => void) | null, task: () => Promise<Result>): Promise<Result> {
  const end = (signal: NodeJS.Signals) => {
    if (cleanUp === null) return;
    cleanUp();
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, end);
  try {
    return await task();
  } finally {
    for (const signal of ENDING_SIGNALS) process.off(signal, end);
  }
}

/**
 * Runs a short task whose parts must not be separated: SIGINT, SIGTERM and SIGHUP take effect when it has ended, whatever
 * its outcome.
 */
export async function delaySignals<Result>(task: () => Promise<Result>): Promise<Result> {
  let delayed: NodeJS.Signals | null = null;
  const note = (signal: NodeJS.Signals) => {
    delayed ??= signal;
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, note);
  try {
    return await task();
  } finally {
    for (const signal of ENDING_SIGNALS) process.off(signal, note);
    if (delayed !== null) process.kill(process.pid, delayed);
  }
}
