import { join } from 'node:path';
import { attach } from '@security-optimizer/guard/testing';
import { findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { pairedRequests } from '../load/alternate.js';
import { median, medianOfPairs, percentile } from '../load/statistics.js';
import type { Bench } from '../measure.js';
import { type Bar, type Line, line } from '../report/report.js';
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
    listen: { host: '127.0.0.1', port: await findFreePort() },
    dataDir,
    allowDirect: true,
  });
  const guard = await serve(bench, dataDir);
  const nginx = await startNginxProxy(bench, site.stack.upstream);
  const node = await startNodeProgram(bench, 'bare-proxy', [new URL(site.stack.upstream).port]);
  const route = (url: string) => ({ url: `${url}/`, headers: { Host: SITE_HOST } });
  const routes = {
    alone: route(alone.url),
    withConnector: route(site.stack.upstream),
    guard: route(guard.url),
    nginx: route(nginx.url),
    node: route(node.url),
  };
  await pairedRequests(routes, 20);
  const rounds: Awaited<ReturnType<typeof pairedRequests<keyof typeof routes>>>[] = [];
  for (let round = 1; round <= bench.rounds; round++) {
    bench.log(`p2, WordPress, round ${round} of ${bench.rounds}`);
    rounds.push(await pairedRequests(routes, bench.seconds * 40));
  }
  await guard.stop();
  await nginx.stop();
  await node.stop();
  await alone.stop();
  return report(rounds);
}

type Route = 'alone' | 'withConnector' | 'guard' | 'nginx' | 'node';

function report(rounds: Record<Route, number[]>[]): Line[] {
  const added = (over: Route, by: Route, pick: (times: readonly number[]) => number) =>
    medianOfPairs(
      rounds.map((round) => pick(round[by])),
      rounds.map((round) => pick(round[over])),
      (slower, bare) => slower - bare,
    );
  const p99 = (times: readonly number[]) => percentile(times, 0.99);
  const byGuard = (what: string, pick: (times: readonly number[]) => number, bar?: Bar) => {
    const value = added('withConnector', 'guard', pick);
    const theirs = added('withConnector', 'node', pick);
    return line({
      measure: 'p2',
      what: `added to WordPress's front page, ${what}`,
      value,
      unit: 'ms',
      rival: { name: 'node:http proxy', value: theirs, ratio: value / theirs },
      ...(bar && { bar }),
    });
  };
  const page = median(rounds.map((round) => median(round.alone)));
  const compare = (what: string, value: number) =>
    line({
      measure: 'p2',
      what: `added to WordPress's front page by ${what}, p50`,
      value,
      unit: 'ms',
      rival: { name: 'the page alone', value: page, ratio: value / page },
    });
  return [
    byGuard('p50', median, { of: 'ratio', is: 'at most', limit: 1.4 }),
    byGuard('p99', p99),
    compare('nginx proxy_pass', added('withConnector', 'nginx', median)),
    compare('the connector', added('alone', 'withConnector', median)),
    compare('guard and connector', added('alone', 'guard', median)),
  ];
}
