import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { alternate } from '../load/alternate.js';
import { getStatus } from '../load/requests.js';
import { median, medianOfPairs } from '../load/statistics.js';
import type { Bench, Measure } from '../measure.js';
import { type Line, line } from '../report/report.js';
import { ATTACKER, blockedAddresses } from '../rivals/blocked-addresses.js';
import { type GuardServer, serve, startGuard } from '../rivals/guard.js';
import { startNodeProgram } from '../rivals/node-program.js';

const MILLION = 1_000_000;
/** One of so many blocked addresses is checked after a restart. */
const SAMPLED = 1000;
/** An address that is not blocked. */
const ANONYMOUS = '203.0.113.9';
/** Pause between two attempts to connect. */
const RETRY_MS = 2;

/** The header in which a trusted proxy reports a visitor's address. */
const from = (address: string) => ({ 'X-Forwarded-For': address });

/** Time from the start of guard to its first decision, and whether its blocklist survives a kill. */
export const starts: Measure = {
  id: 'p8',
  title: 'start of guard',
  async run(bench) {
    const upstream = await startNodeProgram(bench, 'page-server');
    const restarts = async (entries: number) => {
      const settings = { upstream: upstream.url, trustedProxies: ['127.0.0.1'], blocked: blockedAddresses(entries) };
      const restarted = new Restarted(bench, await startGuard(bench, settings));
      return restarted;
    };
    bench.log('Filling the lists of blocked addresses.');
    const one = await restarts(1);
    const million = await restarts(MILLION);
    const seconds = await alternate(
      { one: () => one.restart(), million: () => million.restart() },
      {
        rounds: bench.rounds,
        seconds: 0,
        onRound: (name, round) => bench.log(`p8, round ${round} of ${bench.rounds}: ${name}`),
      },
    );
    return report(seconds, await countAllowed(million.guard));
  },
};

/** A guard that is killed and started again. */
class Restarted {
  guard: GuardServer;
  readonly #bench: Bench;

  constructor(bench: Bench, guard: GuardServer) {
    this.#bench = bench;
    this.guard = guard;
  }

  /** @returns seconds from the start of the process to the response to a blocked address */
  async restart(): Promise<number> {
    process.kill(this.guard.pid, 'SIGKILL');
    await this.guard.stop();
    const start = performance.now();
    const decided = firstDecision(this.guard.url);
    this.guard = await serve(this.#bench, this.guard.dataDir);
    return ((await decided) - start) / 1000;
  }
}

/** Sends requests until there is a response, which must be a refusal. @returns its time by `performance.now` */
async function firstDecision(url: string): Promise<number> {
  for (;;) {
    const status = await getStatus(url, from(ATTACKER)).catch(() => null);
    if (status === 403) return performance.now();
    if (status !== null) throw new Error(`the first response to a blocked address had the status ${status}`);
    await sleep(RETRY_MS);
  }
}

/** Counts the checked blocked addresses that are allowed. Throws if an address that is not blocked is refused. */
async function countAllowed(guard: GuardServer): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  try {
    if ((await getStatus(guard.url, from(ANONYMOUS), agent)) !== 200)
      throw new Error('guard refuses an address that is not blocked');
    let index = 0;
    let allowed = 0;
    for (const address of blockedAddresses(MILLION)) {
      if (index++ % SAMPLED === 0 && (await getStatus(guard.url, from(address), agent)) !== 403) allowed++;
    }
    return allowed;
  } finally {
    agent.destroy();
  }
}

function report({ one, million }: { one: number[]; million: number[] }, allowed: number): Line[] {
  return [
    line({
      measure: 'p8',
      what: 'start to first decision, 1,000,000 blocked addresses',
      value: median(million),
      unit: 's',
      rival: {
        name: 'guard, 1 blocked address',
        value: median(one),
        ratio: medianOfPairs(million, one, (our, their) => our / their),
      },
      bar: { of: 'value', is: 'at most', limit: 1 },
    }),
    line({
      measure: 'p8',
      what: 'blocked addresses that get through after kill -9 and restart, of 1,000',
      value: allowed,
      unit: '',
      bar: { of: 'value', is: 'at most', limit: 0 },
    }),
  ];
}
