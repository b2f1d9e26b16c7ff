import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONFIG_FILE, secretFile } from '@security-optimizer/guard/testing';
import { alternate } from '../load/alternate.js';
import { type EvenResult, evenLoad } from '../load/even-load.js';
import { getStatus } from '../load/requests.js';
import { median, medianOfPairs } from '../load/statistics.js';
import type { Measure } from '../measure.js';
import { type Line, line } from '../report/report.js';
import { type GuardServer, SITE, serve, startGuard } from '../rivals/guard.js';
import { startNodeProgram } from '../rivals/node-program.js';

const SITES = 10_000;
/** The requests to one of the sites that are measured. */
const FORWARDED = { perSecond: 1000, connections: 16, priority: 'probe' } as const;
/** Time after the start in which guard contacts every site. */
const SETTLING_MS = 30_000;
/** Pause between two attempts. */
const RETRY_MS = 5;
const ADDED_WITHIN_MS = 30_000;

/** How fast guard starts with ten thousand sites, and how much adding one slows requests to the others. */
export const manySites: Measure = {
  id: 'p9',
  title: '10,000 sites',
  async run(bench) {
    const upstream = await startNodeProgram(bench, 'page-server');
    bench.log(`Setting up ${SITES} sites.`);
    let guard = await startGuard(bench, { upstream: upstream.url, sites: SITES });
    const starts: number[] = [];
    for (let round = 1; round <= bench.rounds; round++) {
      bench.log(`p9, start ${round} of ${bench.rounds}`);
      process.kill(guard.pid, 'SIGKILL');
      await guard.stop();
      const startedAt = performance.now();
      const firstResponseMs = firstResponse(guard.url, host(SITES - 1));
      guard = await serve(bench, guard.dataDir);
      starts.push(((await firstResponseMs) - startedAt) / 1000);
    }
    await sleep(SETTLING_MS);
    const adding = new AddedSites(guard, upstream.url);
    const rounds = await alternate<'quiet' | 'adding', Round>(
      {
        quiet: (seconds) => measureRound(guard, seconds, async () => 0),
        adding: (seconds) => measureRound(guard, seconds, () => adding.addOne()),
      },
      {
        rounds: bench.rounds,
        // The 99th percentile needs more requests than a usual turn has.
        seconds: 2 * bench.seconds,
        onRound: (name, round) => bench.log(`p9, round ${round} of ${bench.rounds}: ${name}`),
      },
    );
    return report(starts, rounds);
  },
};

interface Round {
  readonly load: EvenResult;
  /** Seconds from the signal until the new site was served; 0 if none was added. */
  readonly seconds: number;
}

const host = (number: number) => `site-${number}.example.com`;

async function measureRound({ url }: GuardServer, seconds: number, during: () => Promise<number>): Promise<Round> {
  const [load, took] = await Promise.all([
    evenLoad({ url, seconds, ...FORWARDED, headers: { Host: host(0) }, expect: 'allowed' }),
    // The site is added in the middle of the turn.
    sleep((seconds * 1000) / 2).then(during),
  ]);
  return { load, seconds: took };
}

/** Adds sites to a running guard, as `sites add` does: key, configuration, SIGHUP. */
class AddedSites {
  #count = SITES;
  readonly #guard: GuardServer;
  readonly #upstream: string;

  constructor(guard: GuardServer, upstream: string) {
    this.#guard = guard;
    this.#upstream = upstream;
  }

  /** @returns seconds until the site was served */
  async addOne(): Promise<number> {
    const { dataDir, pid, url } = this.#guard;
    const number = this.#count++;
    const site = { id: `${SITE}-${number}`, upstream: this.#upstream, hosts: [host(number)] };
    const file = join(dataDir, CONFIG_FILE);
    const config = JSON.parse(await readFile(file, 'utf8')) as { sites: object[] };
    config.sites.push(site);
    await writeFile(secretFile(dataDir, site.id), 'ab'.repeat(32), { mode: 0o600 });
    await writeFile(`${file}.new`, JSON.stringify(config), { mode: 0o600 });
    await rename(`${file}.new`, file);
    const startedAt = performance.now();
    process.kill(pid, 'SIGHUP');
    return ((await firstResponse(url, site.hosts[0] as string)) - startedAt) / 1000;
  }
}

/** Sends requests until a site is served. @returns the time of its first response by `performance.now` */
async function firstResponse(url: string, name: string): Promise<number> {
  const end = performance.now() + ADDED_WITHIN_MS;
  while (performance.now() < end) {
    if ((await getStatus(url, { Host: name }).catch(() => null)) === 200) return performance.now();
    await sleep(RETRY_MS);
  }
  throw new Error(`${name} was not served in time`);
}

function report(starts: readonly number[], { quiet, adding }: Record<'quiet' | 'adding', Round[]>): Line[] {
  const p99 = (rounds: readonly Round[]) => rounds.map(({ load }) => load.p99);
  return [
    line({
      measure: 'p9',
      what: 'start to first answer, 10,000 sites',
      value: median(starts),
      unit: 's',
      bar: { of: 'value', is: 'at most', limit: 5 },
    }),
    line({
      measure: 'p9',
      what: 'from the signal to the first answer of a site that is added to 10,000',
      value: median(adding.map(({ seconds }) => seconds)),
      unit: 's',
    }),
    line({
      measure: 'p9',
      what: 'requests to another site while one is added, p99',
      value: median(p99(adding)),
      unit: 'ms',
      rival: {
        name: 'none is added',
        value: median(p99(quiet)),
        ratio: medianOfPairs(p99(adding), p99(quiet), (ours, theirs) => ours / theirs),
      },
      bar: { of: 'ratio', is: 'at most', limit: 1.5 },
    }),
  ];
}
