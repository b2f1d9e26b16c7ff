/**
 * Loaded into guard before its program (`--import`): with each SIGUSR2 its clock is ten minutes further on, and timers that
 * have run out by then run out. So no test has to be faster than a time limit, or wait for it. Other steps than ten
 * minutes are named in the address of this file: `?step=5000`, milliseconds.
 */

const STEP_MS = Number(new URL(import.meta.url).searchParams.get('step') ?? 600_000);

const { now } = Date;
const { setTimeout: set, clearTimeout: clear } = globalThis;
/** What long timers do, by timer, with the time of their end. Short ones are left to Node. */
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
