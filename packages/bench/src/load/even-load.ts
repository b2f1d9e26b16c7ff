import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findPrograms } from '@security-optimizer/sandbox/stacks/programs';
import { type Priority, priorityCommand } from './processes.js';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../php/even-load.php', import.meta.url));

export interface EvenLoad {
  readonly url: string;
  readonly seconds: number;
  readonly perSecond: number;
  readonly connections: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Number of client addresses that a trusted proxy reports in turn, each request with another query. Default: none. */
  readonly addresses?: number;
  /** `probe` measures response times; `load` only creates load. */
  readonly priority: Exclude<Priority, 'upstream'>;
  /** The expected result of every request. */
  readonly expect: 'refused' | 'allowed';
}

export interface EvenResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Requests that were not sent because their time had passed. */
  readonly skipped: number;
  /** Milliseconds from sending to the last byte. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** The 99th percentile of the requests sent in a millisecond. */
  readonly mostInMillisecond: number;
}

/**
 * Sends requests at an even rate, see php/even-load.php.
 * @throws Error if a response is not the expected one, because its speed means nothing
 */
export async function evenLoad(load: EvenLoad): Promise<EvenResult> {
  const { hostname, port, host, pathname } = new URL(load.url);
  const headers = Object.entries({ Host: host, ...load.headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const argument = {
    ...{ host: hostname, port: Number(port), path: pathname, headers: headers.join('') },
    ...{ connections: load.connections, per_second: load.perSecond, seconds: load.seconds },
    addresses: load.addresses ?? 0,
  };
  const programs = findPrograms();
  if (typeof programs === 'string') throw new Error(programs);
  const [command, ...args] = [...priorityCommand(load.priority), programs.php, '-d', 'memory_limit=512M', program];
  const { stdout } = await run(command as string, [...args, JSON.stringify(argument)]);
  const counted = JSON.parse(stdout) as Counts;
  const wrong = load.expect === 'refused' ? counted.requests - counted.refused : counted.refused;
  if (wrong !== 0) throw new Error(`${load.url}: of ${counted.requests} answers ${wrong} were not ${load.expect}`);
  return {
    requests: counted.requests,
    requestsPerSecond: counted.requests / counted.seconds,
    skipped: counted.left_out,
    ...{ p50: counted.p50, p95: counted.p95, p99: counted.p99 },
    mostInMillisecond: counted.most_in_1ms,
  };
}

/** Output of the program; times in milliseconds. */
interface Counts {
  readonly requests: number;
  readonly seconds: number;
  readonly refused: number;
  readonly left_out: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly most_in_1ms: number;
}
