import { randomBytes } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { API_NAMESPACE } from '@security-optimizer/contract/endpoint';
import { alternate } from '../load/alternate.js';
import { type EvenResult, evenLoad } from '../load/even-load.js';
import { setPriority, whileRunning } from '../load/processes.js';
import { median, medianOfPairs } from '../load/statistics.js';
import { type LoadResult, wrk } from '../load/wrk.js';
import type { Bench, Measure } from '../measure.js';
import { type Bar, type Line, line } from '../report/report.js';
import { type GuardServer, SITE, startGuard } from '../rivals/guard.js';
import { startNginxProxy } from '../rivals/nginx.js';
import { type Server, startNodeProgram } from '../rivals/node-program.js';
import { countRows, generateLog, getLogFile } from '../sample-log/generate.js';

const ROWS = 10_000_000;
const FLOOD_PER_SECOND = 10_000;
const FLOOD = { perSecond: FLOOD_PER_SECOND, addresses: 10_000, connections: 64, priority: 'load' } as const;
/** The requests that are forwarded and measured. */
const FORWARDED = { perSecond: 1000, connections: 16, priority: 'probe' } as const;
/** The work of the log starts this long before the paced load and ends this long after it. */
const AROUND_MS = 500;
/** Time in which the deletion of old visits must begin. Guard starts it once a minute. */
const CLEARING_MS = 90_000;

const BAR: Bar = { of: 'ratio', is: 'at most', limit: 1.5 };
/** A slower flood means that the machine, or guard, could not handle more. */
const FLOOD_BAR: Bar = { of: 'value', is: 'at least', limit: 0.95 * FLOOD_PER_SECOND };

type Busy = 'flood' | 'lists' | 'clearing';

/** One turn: a server, and the work of its log during the measurement. */
interface Situation {
  readonly at: Server & Partial<GuardServer>;
  readonly busy: readonly Busy[];
}

interface Round {
  readonly forwarded: EvenResult;
  readonly flood: EvenResult | null;
  readonly lists: LoadResult | null;
}

/** How much the work of the Activity Log slows forwarded requests. */
export const busyLog: Measure = {
  id: 'p4',
  title: 'forwarded requests while the Activity Log is busy',
  async run(bench) {
    const situations = await prepare(bench);
    const turn = (situation: Situation) => (seconds: number) => measure(situation, seconds);
    const entries = Object.entries(situations).map(([name, situation]) => [name, turn(situation)] as const);
    return report(
      await alternate<Name, Round>(Object.fromEntries(entries) as Record<Name, ReturnType<typeof turn>>, {
        rounds: bench.rounds,
        // The 99th percentile needs more requests than a usual turn has.
        seconds: 2 * bench.seconds,
        onRound: (name, round) => bench.log(`p4, round ${round} of ${bench.rounds}: ${name}`),
      }),
    );
  },
};

async function prepare(bench: Bench) {
  const secret = randomBytes(32).toString('hex');
  const upstream = await startNodeProgram(bench, 'owned-site', [secret]);
  setPriority(upstream.pid, 'upstream');
  const logDir = join(bench.dir, 'sample-log');
  await generateLog(bench, { dataDir: logDir, site: SITE, rows: ROWS });
  const copy = join(logDir, 'copy.sqlite');
  await copyFile(getLogFile(logDir), copy);
  const common = { upstream: upstream.url, secret, trustedProxies: ['127.0.0.1'] };
  const clearing = await startGuard(bench, { ...common, log: { file: copy, maxRows: ROWS / 2 } });
  const keeping = await startGuard(bench, { ...common, log: { file: getLogFile(logDir), maxRows: 100 * ROWS } });
  const silent = await startGuard(bench, { ...common, recording: false });
  const nginx = await startNginxProxy(bench, upstream.url);
  bench.log('Waiting for guard to delete old visits.');
  await waitForClearing(clearing);
  for (const { pid } of [clearing, keeping, silent]) process.kill(pid, 'SIGSTOP');
  return {
    quiet: { at: keeping, busy: [] },
    flood: { at: keeping, busy: ['flood'] },
    lists: { at: keeping, busy: ['lists'] },
    clearing: { at: clearing, busy: ['clearing'] },
    everything: { at: clearing, busy: ['flood', 'lists', 'clearing'] },
    silent: { at: silent, busy: ['flood'] },
    nginxQuiet: { at: nginx, busy: [] },
    nginx: { at: nginx, busy: ['flood'] },
  } satisfies Record<string, Situation>;
}

type Name = keyof Awaited<ReturnType<typeof prepare>>;

async function waitForClearing({ dataDir }: GuardServer): Promise<void> {
  const end = performance.now() + CLEARING_MS;
  while (countRows(dataDir) >= ROWS) {
    if (performance.now() > end) throw new Error('guard did not begin to delete old visits');
    await sleep(250);
  }
}

function measure({ at, busy }: Situation, seconds: number): Promise<Round> {
  const around = seconds + Math.ceil((2 * AROUND_MS) / 1000);
  const rows = () => (busy.includes('clearing') && at.dataDir !== undefined ? countRows(at.dataDir) : 0);
  return whileRunning(at.pid, async () => {
    const before = rows();
    const flood = busy.includes('flood') ? sendFlood(at, around) : null;
    const lists = busy.includes('lists') ? readLists(at, around) : null;
    const [forwarded, flooded, listed] = await Promise.all([
      sleep(AROUND_MS).then(() => evenLoad({ url: `${at.url}/`, seconds, ...FORWARDED, expect: 'allowed' })),
      flood,
      lists,
    ]);
    const cleared = before - rows();
    // With a flood the number can't be checked, because new visits are added at the same time.
    if (busy.includes('clearing') && !busy.includes('flood') && cleared <= 0) {
      throw new Error('guard had deleted all old visits before the end of the turn');
    }
    return { forwarded, flood: flooded, lists: listed };
  });
}

function sendFlood({ url }: Server, seconds: number): Promise<EvenResult> {
  return evenLoad({ url: `${url}/xmlrpc.php`, seconds, ...FLOOD, expect: 'refused' });
}

/** Requests the first page of the list again and again, with a short pause after each response. */
function readLists(server: Server, seconds: number): Promise<LoadResult> {
  const url = `${server.url}/wp-json/${API_NAMESPACE}/activity-unknown`;
  const headers = { Cookie: 'wordpress_logged_in_x=owner', 'X-WP-Nonce': 'nonce' };
  return wrk({ url, seconds, pid: null, connections: 1, paced: true, priority: 'load', headers, expect: 'allowed' });
}

/** The turns that are compared with guard's quiet turn. */
type Compared = Exclude<Name, 'quiet' | 'nginx' | 'nginxQuiet'>;

const LABELS: Readonly<Record<Compared, string>> = {
  flood: 'while 10,000 visits a second are logged',
  lists: 'while the list is read',
  clearing: 'while half of 10 M rows are deleted',
  everything: 'while all of that happens at once',
  silent: 'while as many are refused and none is logged',
};

function report(turns: Record<Name, Round[]>): Line[] {
  const figures = (name: Name, pick: (round: Round) => number) => turns[name].map(pick);
  const p99 = ({ forwarded }: Round) => forwarded.p99;
  const p50 = ({ forwarded }: Round) => forwarded.p50;
  const against = (name: Compared, what: string, pick: (round: Round) => number, bar?: Bar) =>
    ratio(`${what} of a forwarded request ${LABELS[name]}`, name, 'quiet', pick, bar);
  const ratio = (what: string, name: Name, quiet: Name, pick: (round: Round) => number, bar?: Bar) =>
    line({
      ...{ measure: 'p4', what, unit: 'ms' },
      value: median(figures(name, pick)),
      rival: {
        name: 'quiet',
        value: median(figures(quiet, pick)),
        ratio: medianOfPairs(figures(name, pick), figures(quiet, pick), (busy, rest) => busy / rest),
      },
      ...(bar && { bar }),
    });
  const plain = (what: string, value: number, unit: string) => line({ measure: 'p4', what, value, unit });
  const times = (name: Name, quiet: Name) =>
    turns[name].map((turn, round) => p99(turn) / p99(turns[quiet][round] as Round));
  /**
   * The slowdown of guard beside the slowdown of nginx under the same flood. The load, the refusals and the forwarding
   * share one machine, so a part of the slowdown is not guard's.
   */
  const compareToNginx = (name: Compared) => {
    const [own, nginx] = [times(name, 'quiet'), times('nginx', 'nginxQuiet')];
    return line({
      ...{ measure: 'p4', what: `p99 of a forwarded request ${LABELS[name]}, against quiet`, unit: 'x', bar: BAR },
      value: median(own),
      rival: {
        name: 'nginx that refuses as many, against quiet',
        value: median(nginx),
        ratio: medianOfPairs(own, nginx, (ours, theirs) => ours / theirs),
      },
    });
  };
  const busy = ['flood', 'lists', 'clearing', 'everything'] as const;
  return [
    ...(['lists', 'clearing'] as const).map((name) => against(name, 'p99', p99, BAR)),
    ...(['flood', 'everything'] as const).map((name) => compareToNginx(name)),
    line({
      ...{ measure: 'p4', what: `p50 of a forwarded request ${LABELS.flood}`, unit: 'ms', bar: BAR },
      value: median(figures('flood', p50)),
      rival: {
        name: 'the same flood, not logged',
        value: median(figures('silent', p50)),
        ratio: medianOfPairs(figures('flood', p50), figures('silent', p50), (logged, silent) => logged / silent),
      },
    }),
    ...(['flood', 'everything'] as const).map((name) => against(name, 'p99', p99)),
    against('silent', 'p99', p99),
    ratio('p99 of a request that nginx forwards while it refuses as many', 'nginx', 'nginxQuiet', p99),
    ...busy.map((name) => against(name, 'p50', p50)),
    against('silent', 'p50', p50),
    ...(['flood', 'everything', 'silent'] as const).map((name) =>
      line({
        ...{ measure: 'p4', what: `visits ${LABELS[name]}`, unit: '/s', bar: FLOOD_BAR },
        value: median(figures(name, ({ flood }) => flood?.requestsPerSecond ?? 0)),
      }),
    ),
    plain(
      'visits at once, in the busiest hundredth of all milliseconds',
      median(figures('flood', ({ flood }) => flood?.mostInMillisecond ?? 0)),
      '',
    ),
    plain('lists read meanwhile', median(figures('lists', ({ lists }) => lists?.requestsPerSecond ?? 0)), '/s'),
    plain('p99 of a list', median(figures('lists', ({ lists }) => lists?.p99 ?? 0)), 'ms'),
    plain('p99 of a list while all happens', median(figures('everything', ({ lists }) => lists?.p99 ?? 0)), 'ms'),
  ];
}
