import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Priority, priorityCommand, processorSeconds } from './processes.js';

const run = promisify(execFile);
const luaDir = fileURLToPath(new URL('../../lua/', import.meta.url));

export interface Load {
  readonly url: string;
  readonly seconds: number;
  readonly connections: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Each connection rests 4 to 12 ms between requests instead of asking as fast as it is answered. */
  readonly paced?: boolean;
  /** Requests from many addresses, which guard refuses. */
  readonly flood?: Flood;
  /** Set when it stands for another machine beside a load that does; else it is served as any program. */
  readonly priority?: Priority;
  /** The server's process, to see what a request costs it; null when several share the work. */
  readonly pid: number | null;
  /** What every single answer must be. */
  readonly expect: 'refused' | 'allowed';
}

/** See lua/flood.lua. */
export interface Flood {
  readonly addresses: number;
  /** Sites that are asked, `site-0.example.com` and so on; the one of the URL unless given. */
  readonly sites?: number;
  /** Requests that were sent before: it goes on behind them, with the next addresses and paths. None unless given. */
  readonly sent?: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Processor time per request, microseconds; null when no process was named. */
  readonly processorMicroseconds: number | null;
}

/** Puts load on a server with wrk. Throws when a single answer was not as expected: a wrong answer has no speed. */
export async function wrk(load: Load): Promise<LoadResult> {
  const headers = Object.entries(load.headers ?? {}).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const script = `${luaDir}${load.flood ? 'flood' : load.paced ? 'paced' : 'report'}.lua`;
  const size = ['-t1', `-c${load.connections}`, `-d${load.seconds}s`];
  const before = load.pid === null ? 0 : processorSeconds(load.pid);
  const [command, ...args] = [
    ...(load.priority ? priorityCommand(load.priority) : []),
    'wrk',
    ...size,
    ...headers,
    '-s',
    script,
  ];
  const { stdout } = await run(command as string, [...args, load.url], {
    env: { ...process.env, BENCH_LUA: luaDir, ...(load.flood && floodVariables(load.flood)) },
  });
  const used = load.pid === null ? null : processorSeconds(load.pid) - before;
  const counted = readResult(stdout);
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

interface Counted {
  readonly requests: number;
  readonly microseconds: number;
  readonly p50: number;
  readonly p99: number;
  /** Answers with a status of 400 and more. */
  readonly refused: number;
  readonly broken: number;
}

/** Reads the line that lua/report.lua prints. */
export function readResult(output: string): Counted {
  const line = /^RESULT (\{.*\})$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(`wrk printed no result:\n${output}`);
  return JSON.parse(line) as Counted;
}

/** Connections that a proxy in front of guard keeps open. */
const CONNECTIONS = 512;

/**
 * Guesses passwords from many addresses as fast as the guesses are answered, see lua/guess.lua. Real attackers bring
 * their own processors; this one may only have what everybody else leaves (`nice`).
 */
export async function guess(wanted: {
  readonly url: string;
  readonly host: string;
  readonly seconds: number;
  readonly addresses: number;
}): Promise<{ readonly perSecond: number }> {
  const { url, host, seconds, addresses } = wanted;
  const size = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--timeout', '30s'];
  const args = ['-n', '19', 'wrk', ...size, '-H', `Host: ${host}`, '-s', `${luaDir}guess.lua`, url];
  const { stdout } = await run('nice', args, {
    env: { ...process.env, BENCH_LUA: luaDir, BENCH_ADDRESSES: String(addresses) },
  });
  const counted = readResult(stdout);
  if (counted.broken !== 0 || counted.requests === 0) {
    throw new Error(`of ${counted.requests} guesses ${counted.broken} were not answered`);
  }
  return { perSecond: (counted.requests / counted.microseconds) * 1e6 };
}
