import { alternate } from '../load/alternate.js';
import { median, medianOfPairs } from '../load/statistics.js';
import { type Load, type LoadResult, wrk } from '../load/wrk.js';
import type { Bench, Measure } from '../measure.js';
import { type Bar, type Line, line } from '../report/report.js';
import { blockedAddresses } from '../rivals/blocked-addresses.js';
import { startGuard } from '../rivals/guard.js';
import { startNginxDeny } from '../rivals/nginx.js';
import { startNodeProgram } from '../rivals/node-program.js';
import { SITE_HOST, wordpress } from '../rivals/wordpress.js';

const MILLION = 1_000_000;
/** Address of a visitor (RFC 5737), as a trusted proxy reports it. */
const VISITOR = '203.0.113.9';
const HTML = { Accept: 'text/html,application/xhtml+xml' };
const CONNECTIONS = 64;

/** Requests refused per second, by one guard process and by its rivals. */
export const refusals: Measure = {
  id: 'p1',
  title: 'requests refused per second',
  async run(bench) {
    return report(
      await alternate(await contenders(bench), {
        rounds: bench.rounds,
        seconds: bench.seconds,
        onRound: (name, round) => bench.log(`p1, round ${round} of ${bench.rounds}: ${name}`),
      }),
    );
  },
};

async function contenders(bench: Bench) {
  const upstream = await startNodeProgram(bench, 'page-server');
  bench.log('Filling the lists of blocked addresses.');
  const guard = (entries: number, trustedProxies: readonly string[] = []) =>
    startGuard(bench, {
      upstream: upstream.url,
      blocked: blockedAddresses(entries, trustedProxies.length === 0 ? undefined : VISITOR),
      trustedProxies,
    });
  const one = await guard(1, ['127.0.0.1']);
  const million = await guard(MILLION, ['127.0.0.1']);
  const oneDirect = await guard(1);
  const millionDirect = await guard(MILLION);
  const nginx = await startNginxDeny(bench, VISITOR);
  const nginxDirect = await startNginxDeny(bench);
  const node = await startNodeProgram(bench, 'refusing-server');
  const site = await wordpress(bench);
  const alone = await site.alone();
  const plugin = await site.withPlugin(1, 'at once');
  const barePlugin = await site.withPlugin(1, 'at once', { opcache: false });
  const initPlugin = await site.withPlugin(1, 'init');
  const bigInitPlugin = await site.withPlugin(50_000, 'init');
  const prepend = await site.withPrepend();

  const load =
    (server: { url: string; pid: number | null }, more: Partial<Load> & { path?: string } = {}) =>
    (seconds: number) =>
      wrk({
        url: `${server.url}${more.path ?? '/'}`,
        pid: server.pid,
        connections: CONNECTIONS,
        expect: 'refused',
        seconds,
        ...more,
      });
  // PHP gets few connections, because more would only queue. Several processes share the work, so their processor time
  // is not measured.
  const php = (server: { url: string }, more: Partial<Load> = {}) =>
    load({ url: server.url, pid: null }, { connections: 4, headers: { Host: SITE_HOST }, ...more });
  const proxied = { 'X-Forwarded-For': VISITOR };
  return {
    'guard, 1 entry': load(one, { headers: proxied }),
    'guard, 1,000,000 entries': load(million, { headers: proxied }),
    'node:http': load(node),
    'guard, 1 entry, HTML': load(one, { headers: { ...proxied, ...HTML } }),
    'guard, 1,000,000 entries, HTML': load(million, { headers: { ...proxied, ...HTML } }),
    'nginx deny': load(nginx, { headers: proxied }),
    'guard direct, 1 entry': load(oneDirect),
    'guard direct, 1,000,000 entries': load(millionDirect),
    'nginx deny, direct': load(nginxDirect),
    'guard, xmlrpc.php': load(million, { path: '/xmlrpc.php' }),
    'PHP auto_prepend_file': php(prepend),
    'WordPress plugin at once, 1 entry': php(plugin),
    'WordPress plugin at once, 1 entry, no opcache': php(barePlugin),
    'WordPress plugin on init, 1 entry': php(initPlugin),
    'WordPress plugin on init, 50,000 entries': php(bigInitPlugin),
    'WordPress alone': php(alone, { expect: 'allowed' }),
  };
}

type Results = Record<keyof Awaited<ReturnType<typeof contenders>>, LoadResult[]>;

const atLeast = (limit: number): Bar => ({ of: 'ratio', is: 'at least', limit });

function report(results: Results): Line[] {
  const speeds = (name: keyof Results) => results[name].map((result) => result.requestsPerSecond);
  const against = (ours: keyof Results, theirs: keyof Results, bar?: Bar) =>
    line({
      measure: 'p1',
      what: ours,
      value: median(speeds(ours)),
      unit: '/s',
      rival: {
        name: theirs,
        value: median(speeds(theirs)),
        ratio: medianOfPairs(speeds(ours), speeds(theirs), (our, their) => our / their),
      },
      ...(bar && { bar }),
    });
  return [
    against('guard, 1 entry', 'WordPress plugin on init, 1 entry', atLeast(100)),
    against('guard, 1,000,000 entries', 'WordPress plugin on init, 50,000 entries', atLeast(500)),
    against('guard, 1 entry', 'node:http', atLeast(0.5)),
    against('guard, 1,000,000 entries', 'node:http', atLeast(0.5)),
    against('guard, 1,000,000 entries', 'guard, 1 entry', atLeast(0.95)),
    against('guard, 1,000,000 entries', 'nginx deny'),
    against('guard, 1 entry, HTML', 'node:http'),
    against('guard, 1,000,000 entries, HTML', 'guard, 1 entry, HTML', atLeast(0.95)),
    against('guard direct, 1 entry', 'node:http'),
    against('guard direct, 1,000,000 entries', 'guard direct, 1 entry', atLeast(0.95)),
    against('guard direct, 1,000,000 entries', 'nginx deny, direct'),
    against('guard, 1,000,000 entries', 'WordPress plugin at once, 1 entry'),
    against('guard, 1,000,000 entries', 'WordPress plugin at once, 1 entry, no opcache'),
    against('nginx deny', 'WordPress plugin on init, 1 entry'),
    against('guard, 1,000,000 entries', 'PHP auto_prepend_file'),
    against('guard, 1,000,000 entries', 'WordPress alone'),
    against('guard, xmlrpc.php', 'node:http'),
    cost(results, 'guard, 1,000,000 entries'),
    cost(results, 'guard, 1,000,000 entries, HTML'),
    cost(results, 'guard direct, 1,000,000 entries'),
  ];
}

function cost(results: Results, ours: keyof Results): Line {
  const microseconds = (name: keyof Results) => results[name].map((result) => result.processorMicroseconds as number);
  return line({
    measure: 'p1',
    what: `processor time, ${ours}`,
    value: median(microseconds(ours)),
    unit: 'us',
    rival: {
      name: 'nginx deny',
      value: median(microseconds('nginx deny')),
      ratio: medianOfPairs(microseconds(ours), microseconds('nginx deny'), (our, their) => our / their),
    },
  });
}
