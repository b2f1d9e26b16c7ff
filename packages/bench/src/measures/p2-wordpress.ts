import { join } from 'node:path';
import { attach } from '@security-optimizer/guard/cli/attach';
import { freePort } from '@security-optimizer/sandbox/process/free-port';
import { pairedRequests } from '../load/paired-requests.js';
import { median, medianOfPairs, percentile } from '../load/statistics.js';
import type { Bench } from '../measure.js';
import { type Line, line } from '../report/line.js';
import { serve } from '../rivals/guard.js';
import { SITE_HOST, wordpress } from '../rivals/wordpress.js';

/** What guard adds to the front page of a real WordPress, and what its connector adds inside WordPress. */
export async function frontPage(bench: Bench): Promise<Line[]> {
  const site = await wordpress(bench);
  const alone = await site.alone();
  const dataDir = join(bench.dir, 'guard-wordpress');
  await attach({
    wordpressDir: site.stack.wordpressDir,
    upstream: site.stack.upstream,
    listen: { host: '127.0.0.1', port: await freePort() },
    dataDir,
    allowDirect: true,
  });
  const guard = await serve(bench, dataDir);
  const road = (url: string) => ({ url: `${url}/`, headers: { Host: SITE_HOST } });
  const roads = {
    alone: road(alone.url),
    withConnector: road(site.stack.upstream),
    guard: road(guard.url),
  };
  await pairedRequests(roads, 20);
  const rounds: Awaited<ReturnType<typeof pairedRequests<keyof typeof roads>>>[] = [];
  for (let round = 1; round <= bench.rounds; round++) {
    bench.say(`p2, WordPress, round ${round} of ${bench.rounds}`);
    rounds.push(await pairedRequests(roads, bench.seconds * 40));
  }
  await guard.stop();
  await alone.stop();
  return report(rounds);
}

function report(rounds: Record<'alone' | 'withConnector' | 'guard', number[]>[]): Line[] {
  const added = (
    over: 'alone' | 'withConnector',
    by: 'withConnector' | 'guard',
    pick: (times: readonly number[]) => number,
  ) =>
    medianOfPairs(
      rounds.map((round) => pick(round[by])),
      rounds.map((round) => pick(round[over])),
      (slower, bare) => slower - bare,
    );
  const p99 = (times: readonly number[]) => percentile(times, 0.99);
  const page = median(rounds.map((round) => median(round.alone)));
  const entry = (what: string, value: number, limit?: number) =>
    line({
      measure: 'p2',
      what: `added to WordPress's front page by ${what}`,
      value,
      unit: 'ms',
      rival: { name: 'the page alone', value: page, ratio: value / page },
      ...(limit !== undefined && { bar: { of: 'value', is: 'at most', limit } }),
    });
  return [
    entry('guard, p50', added('withConnector', 'guard', median), 0.25),
    entry('guard, p99', added('withConnector', 'guard', p99), 2),
    entry('the connector, p50', added('alone', 'withConnector', median)),
    entry('guard and connector, p50', added('alone', 'guard', median)),
  ];
}
