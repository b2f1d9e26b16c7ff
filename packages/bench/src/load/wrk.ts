import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { getProcessorSeconds, type Priority, priorityCommand } from './processes.js';

const run = promisify(execFile);
const luaDir = fileURLToPath(new URL('../../lua/', import.meta.url));

export interface Load {
  readonly url: string;
  readonly seconds: number;
  readonly connections: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Each connection pauses 4 to 12 ms between requests. */
  readonly paced?: boolean;
  /** Requests from many addresses, which guard refuses. */
  readonly flood?: Flood;
  /** Requests from that many addresses in turn, which a trusted proxy reports; see lua/visitors.lua. */
  readonly visitors?: number;
  /** Set if the load represents another machine beside another such load; else it has the usual priority. */
  readonly priority?: Priority;
  /** Process of the server, to measure its processor time; null if several share the work. */
  readonly pid: number | null;
  /** The expected result of every request. */
  readonly expect: 'refused' | 'allowed';
}

/** See lua/flood.lua. */
export interface Flood {
  readonly addresses: number;
  /** Number of sites: `site-0.example.com` and so on. Default: the one of the URL. */
  readonly sites?: number;
  /** Number of requests of an earlier flood, which this one continues with the next addresses and paths. Default: 0. */
  readonly sent?: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Processor time per request in microseconds; null without `pid`. */
  readonly processorMicroseconds: number | null;
}

/** Puts load on a server with wrk. @throws Error if a response is not the expected one, because its speed means nothing */
export async function wrk(load: Load): Promise<LoadResult> {
  const headers = Object.entries(load.headers ?? {}).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const name = load.flood ? 'flood' : load.visitors ? 'visitors' : load.paced ? 'paced' : 'report';
  const script = `${luaDir}${name}.lua`;
  const size = ['-t1', `-c${load.connections}`, `-d${load.seconds}s`];
  const before = load.pid === null ? 0 : getProcessorSeconds(load.pid);
  const [command, ...args] = [
    ...(load.priority ? priorityCommand(load.priority) : []),
    'wrk',
    ...size,
    ...headers,
    '-s',
    script,
  ];
  const { stdout } = await run(command as string, [...args, load.url], {
    env: {
      ...process.env,
      ...{ BENCH_LUA: luaDir, BENCH_ADDRESSES: String(load.visitors ?? 1) },
      ...(load.flood && floodVariables(load.flood)),
    },
  });
  const used = load.pid === null ? null : getProcessorSeconds(load.pid) - before;
  const counted = parseResult(stdout);
  const wrong = load.expect === 'refused' ? counted.requests - counted.refused : counted.refused;
  if (wrong !== 0 || counted.broken !== 0 || counted.requests === 0) {
    throw new Error(
      `${load.url}: of ${counted.requests} answers ${wrong} were not ${load.expect}, ${counted.broken} were broken`,
    );
  }
  return {
    requests: counted.requests,
    requestsPerSecond: (counted.requests / counted.microseconds) * 1e6,
    p50: counted.p50 / 1000,
    p99: counted.p99 / 1000,
    processorMicroseconds: used === null ? null : (used / counted.requests) * 1e6,
  };
}

function floodVariables({ addresses, sites, sent = 0 }: Flood): NodeJS.ProcessEnv {
  return { BENCH_ADDRESSES: String(addresses), BENCH_HOSTS: String(sites ?? ''), BENCH_SENT: String(sent) };
}

interface Counts {
  readonly requests: number;
  readonly microseconds: number;
  readonly p50: number;
  readonly p99: number;
  /** Responses with status 400 and higher. */
  readonly refused: number;
  readonly broken: number;
}

/** Parses the line that lua/report.lua prints. */
export function parseResult(output: string): Counts {
  const line = /^RESULT (\{.*\})$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(`wrk printed no result:\n${output}`);
  return JSON.parse(line) as Counts;
}

/** Open connections of a proxy in front of guard. */
const CONNECTIONS = 512;

/**
 * Guesses passwords from many addresses as fast as guard responds, see lua/guess.lua. It has a low priority (`nice`),
 * because real attackers use other machines.
 */
export async function guessPasswords(options: {
  readonly url: string;
  readonly host: string;
  readonly seconds: number;
  readonly addresses: number;
}): Promise<{ readonly perSecond: number }> {
  const { url, host, seconds, addresses } = options;
  const size = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--timeout', '30s'];
  const args = ['-n', '19', 'wrk', ...size, '-H', `Host: ${host}`, '-s', `${luaDir}guess.lua`, url];
  const { stdout } = await run('nice', args, {
    env: { ...process.env, BENCH_LUA: luaDir, BENCH_ADDRESSES: String(addresses) },
  });
  const counted = parseResult(stdout);
  if (counted.broken !== 0 || counted.requests === 0) {
    throw new Error(`of ${counted.requests} guesses ${counted.broken} were not answered`);
  }
  return { perSecond: (counted.requests / counted.microseconds) * 1e6 };
}
