/**
 * Loaded into guard before its program (`--import`). Each SIGUSR2 sets guard's clock forward by ten minutes, and fires
 * the timers that have expired by then. So no test has to be faster than a time limit, or wait for it. The address of
 * this file may set another step: `?step=5000`, milliseconds.
 */

const STEP_MS = Number(new URL(import.meta.url).searchParams.get('step') ?? 600_000);

const { now } = Date;
const { setTimeout: set, clearTimeout: clear } = globalThis;
/** Callbacks of long timers, by timer, with the time of their end. Short timers are left to Node. */
const long = new Map();
let aheadMs = 0;

Date.now = () => now() + aheadMs;

globalThis.setTimeout = Object.assign((run, ms, ...args) => {
  const timer = set(run, ms, ...args);
  if (ms > STEP_MS / 2) long.set(timer, { end: Date.now() + ms, run: () => run(...args) });
  return timer;
}, set);

globalThis.clearTimeout = (timer) => {
  long.delete(timer);
  clear(timer);
};

process.on('SIGUSR2', () => {
  aheadMs += STEP_MS;
  for (const [timer, { end, run }] of [...long]) {
    if (end > Date.now()) continue;
    globalThis.clearTimeout(timer);
    run();
  }
});
