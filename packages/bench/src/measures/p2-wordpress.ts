import { join } from 'node:path';
import { attach } from '@security-optimizer/guard/cli/attach';
import { freePort } from '@security-optimizer/sandbox/process/free-port';
import { pairedRequests } from '../load/paired-requests.js';
import { median, medianOfPairs, percentile } from '../load/statistics.js';
import type { Bench } from '../measure.js';
import { type Line, line } from '../report/line.js';
import { serve } from '../rivals/guard.js';
import { startNginxProxy } from '../rivals/nginx.js';
import { startNodeProgram } from '../rivals/node-program.js';
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
  const nginx = await startNginxProxy(bench, site.stack.upstream);
  const node = await startNodeProgram(bench, 'bare-proxy', [new URL(site.stack.upstream).port]);
  const road = (url: string) => ({ url: `${url}/`, headers: { Host: SITE_HOST } });
  const roads = {
    alone: road(alone.url),
    withConnector: road(site.stack.upstream),
    guard: road(guard.url),
    nginx: road(nginx.url),
    node: road(node.url),
  };
  await pairedRequests(roads, 20);
  const rounds: Awaited<ReturnType<typeof pairedRequests<keyof typeof roads>>>[] = [];
  for (let round = 1; round <= bench.rounds; round++) {
    bench.say(`p2, WordPress, round ${round} of ${bench.rounds}`);
    rounds.push(await pairedRequests(roads, bench.seconds * 40));
  }
  await guard.stop();
  await nginx.stop();
  await node.stop();
  await alone.stop();
  return report(rounds);
}

type Road = 'alone' | 'withConnector' | 'guard' | 'nginx' | 'node';

function report(rounds: Record<Road, number[]>[]): Line[] {
  const added = (over: Road, by: Road, pick: (times: readonly number[]) => number) =>
    medianOfPairs(
      rounds.map((round) => pick(round[by])),
      rounds.map((round) => pick(round[over])),
      (slower, bare) => slower - bare,
    );
  const p99 = (times: readonly number[]) => percentile(times, 0.99);
  const byGuard = (what: string, pick: (times: readonly number[]) => number, limit: number) => {
    const value = added('withConnector', 'guard', pick);
    const theirs = added('withConnector', 'nginx', pick);
    return line({
      measure: 'p2',
      what: `added to WordPress's front page, ${what}`,
      value,
      unit: 'ms',
      rival: { name: 'nginx proxy_pass', value: theirs, ratio: null },
      bar: { of: 'value', is: 'at most', limit },
    });
  };
  const page = median(rounds.map((round) => median(round.alone)));
  const beside = (what: string, value: number) =>
    line({
      measure: 'p2',
      what: `added to WordPress's front page by ${what}, p50`,
      value,
      unit: 'ms',
      rival: { name: 'the page alone', value: page, ratio: value / page },
    });
  return [
    byGuard('p50', median, 0.25),
    byGuard('p99', p99, 2),
    beside('a bare node:http proxy', added('withConnector', 'node', median)),
    beside('the connector', added('alone', 'withConnector', median)),
    beside('guard and connector', added('alone', 'guard', median)),
  ];
}
