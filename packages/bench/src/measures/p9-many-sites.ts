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
/** What is forwarded to one of the sites meanwhile. */
const FORWARDED = { perSecond: 1000, connections: 16, priority: 'probe' } as const;
/** At its start guard looks at every site. */
const SETTLING_MS = 30_000;
/** Between two tries, milliseconds. */
const TRY_MS = 5;
const ADDED_WITHIN_MS = 30_000;

/** How guard starts with ten thousand sites, and what the others feel when one is added. */
export const manySites: Measure = {
  id: 'p9',
  title: '10,000 sites',
  async run(bench) {
    const upstream = await startNodeProgram(bench, 'page-server');
    bench.say(`Setting up ${SITES} sites.`);
    let guard = await startGuard(bench, { upstream: upstream.url, sites: SITES });
    const starts: number[] = [];
    for (let round = 1; round <= bench.rounds; round++) {
      bench.say(`p9, start ${round} of ${bench.rounds}`);
      process.kill(guard.pid, 'SIGKILL');
      await guard.stop();
      const began = performance.now();
      const answered = firstAnswer(guard.url, host(SITES - 1));
      guard = await serve(bench, guard.dataDir);
      starts.push(((await answered) - began) / 1000);
    }
    await sleep(SETTLING_MS);
    const adding = new AddedSites(guard, upstream.url);
    const turns = await alternate<'quiet' | 'adding', Turn>(
      {
        quiet: (seconds) => forwarded(guard, seconds, async () => 0),
        adding: (seconds) => forwarded(guard, seconds, () => adding.addOne()),
      },
      {
        rounds: bench.rounds,
        // A hundredth of the requests decides: the usual turn holds too few.
        seconds: 2 * bench.seconds,
        onTurn: (name, round) => bench.say(`p9, round ${round} of ${bench.rounds}: ${name}`),
      },
    );
    return report(starts, turns);
  },
};

interface Turn {
  readonly load: EvenResult;
  /** Seconds from the signal until the new site was served; 0 when none was added. */
  readonly seconds: number;
}

const host = (number: number) => `site-${number}.example.com`;

async function forwarded({ url }: GuardServer, seconds: number, meanwhile: () => Promise<number>): Promise<Turn> {
  const [load, took] = await Promise.all([
    evenLoad({ url, seconds, ...FORWARDED, headers: { Host: host(0) }, expect: 'allowed' }),
    // In the middle of the turn.
    sleep((seconds * 1000) / 2).then(meanwhile),
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

  /** @returns seconds until it was served */
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
    const began = performance.now();
    process.kill(pid, 'SIGHUP');
    return ((await firstAnswer(url, site.hosts[0] as string)) - began) / 1000;
  }
}

/** Asks until a site is served. @returns when it was, as `performance.now` tells it */
async function firstAnswer(url: string, name: string): Promise<number> {
  const end = performance.now() + ADDED_WITHIN_MS;
  while (performance.now() < end) {
    if ((await getStatus(url, { Host: name }).catch(() => null)) === 200) return performance.now();
    await sleep(TRY_MS);
  }
  throw new Error(`${name} was not served in time`);
}

function report(starts: readonly number[], { quiet, adding }: Record<'quiet' | 'adding', Turn[]>): Line[] {
  const p99 = (turns: readonly Turn[]) => turns.map(({ load }) => load.p99);
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
