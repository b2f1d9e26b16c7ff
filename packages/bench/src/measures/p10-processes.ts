import { alternate } from '../load/alternate.js';
import { whenIdle } from '../load/processes.js';
import { ProcessorQuota } from '../load/processor-quota.js';
import { median, medianOfPairs } from '../load/statistics.js';
import { type LoadResult, wrk } from '../load/wrk.js';
import type { Bench, Measure } from '../measure.js';
import { type Line, line } from '../report/report.js';
import { blockedAddresses } from '../rivals/blocked-addresses.js';
import { startGuard } from '../rivals/guard.js';
import { startNginxDeny, startNginxFile, startNginxProxy } from '../rivals/nginx.js';
import type { Server } from '../rivals/node-program.js';

/** Address of a blocked visitor (RFC 5737), as a trusted proxy reports it. */
const BLOCKED = '203.0.113.9';
const CONNECTIONS = 64;
const VISITORS = 10_000;
/**
 * The part of a core that each process of a server gets in limited turns, and a server for each of its workers. Then the
 * load is never short of a core.
 */
const PART = 0.2;

const WORKS = ['refused', 'forwarded'] as const;
const CONTENDERS = ['guard', 'nginx'] as const;
type Work = (typeof WORKS)[number];
type Contender = (typeof CONTENDERS)[number];
/** Turns are `shared`, where the load has the same cores, or `limited` to `PART`. The latter may be missing. */
type Name = `${Contender} ${1 | 2} ${Work} ${'shared' | 'limited'}`;

/** What a second process is worth, for guard and for nginx. */
export const processes: Measure = {
  id: 'p10',
  title: 'one process and two',
  async run(bench) {
    return report(
      await alternate(await contenders(bench), {
        rounds: bench.rounds,
        seconds: bench.seconds,
        onRound: (name, round) => bench.log(`p10, round ${round} of ${bench.rounds}: ${name}`),
      }),
    );
  },
};

async function contenders(bench: Bench): Promise<Record<string, (seconds: number) => Promise<LoadResult>>> {
  const upstream = await startNginxFile(bench);
  const guard = (count: 1 | 2) =>
    startGuard(bench, {
      upstream: upstream.url,
      processes: count,
      blocked: blockedAddresses(1, BLOCKED),
      trustedProxies: ['127.0.0.1'],
    });
  const [one, two] = [await guard(1), await guard(2)];
  const nginx = async (count: 1 | 2) => ({
    refused: await startNginxDeny(bench, BLOCKED, count),
    forwarded: await startNginxProxy(bench, upstream.url, count),
  });
  const servers: Record<Contender, Record<1 | 2, Record<Work, Server>>> = {
    guard: { 1: { refused: one, forwarded: one }, 2: { refused: two, forwarded: two } },
    nginx: { 1: await nginx(1), 2: await nginx(2) },
  };
  const quotas = new Map<Server, ProcessorQuota>();
  const turns: Record<string, (seconds: number) => Promise<LoadResult>> = {};
  const add = (name: Name, turn: (seconds: number) => Promise<LoadResult>): void => {
    turns[name] = turn;
  };
  for (const work of WORKS) {
    for (const contender of CONTENDERS) {
      for (const count of [1, 2] as const) {
        const server = servers[contender][count][work];
        const load = async (seconds: number): Promise<LoadResult> => {
          await whenIdle(server.pid);
          return wrk({
            ...{ url: `${server.url}/`, pid: server.pid, connections: CONNECTIONS, seconds },
            ...(work === 'refused'
              ? { expect: 'refused', headers: { 'X-Forwarded-For': BLOCKED } }
              : { expect: 'allowed', visitors: VISITORS }),
          });
        };
        add(`${contender} ${count} ${work} shared`, load);
        const quota = quotas.get(server) ?? ProcessorQuota.create(server.pid);
        if (quota === null) continue;
        if (!quotas.has(server)) bench.stopAtEnd(quota);
        quotas.set(server, quota);
        add(`${contender} ${count} ${work} limited`, async (seconds) => {
          await whenIdle(server.pid);
          return quota.whileLimited({ each: PART, all: PART * count }, () => load(seconds));
        });
      }
    }
  }
  if (quotas.size === 0) bench.log('p10: processes can only be limited to a part of a core as root, on Linux.');
  return turns;
}

function report(results: Readonly<Record<string, LoadResult[]>>): Line[] {
  const compare = (
    name: (count: 1 | 2) => Name,
    labels: { readonly contender: Contender; readonly what: string; readonly unit: string },
    pick: (result: LoadResult) => number,
    atLeast?: number,
  ): Line[] => {
    const [one, two] = [results[name(1)]?.map(pick), results[name(2)]?.map(pick)];
    if (one === undefined || two === undefined) return [];
    return [
      line({
        ...{ measure: 'p10', what: `${labels.contender}, 2 processes, ${labels.what}`, unit: labels.unit },
        value: median(two),
        rival: {
          name: `${labels.contender}, 1 process`,
          value: median(one),
          ratio: medianOfPairs(two, one, (ours, theirs) => ours / theirs),
        },
        ...(atLeast !== undefined && { bar: { of: 'ratio', is: 'at least', limit: atLeast } }),
      }),
    ];
  };
  const speed = ({ requestsPerSecond }: LoadResult): number => requestsPerSecond;
  const time = ({ processorMicroseconds }: LoadResult): number => processorMicroseconds ?? Number.NaN;
  return WORKS.flatMap((work) =>
    CONTENDERS.flatMap((contender) => {
      const label = (what: string, unit: string) => ({ contender, what: `${what} ${work}`, unit });
      const bar = contender === 'guard' ? 1.7 : undefined;
      const limited = `with ${PART} of a core for each, requests`;
      return [
        ...compare((count) => `${contender} ${count} ${work} limited`, label(limited, '/s'), speed, bar),
        ...compare((count) => `${contender} ${count} ${work} shared`, label('requests', '/s'), speed),
        ...compare((count) => `${contender} ${count} ${work} shared`, label('processor time of requests', 'us'), time),
      ];
    }),
  );
}
