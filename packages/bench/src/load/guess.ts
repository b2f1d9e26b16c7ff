import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readResult } from './wrk.js';

const run = promisify(execFile);
const luaDir = fileURLToPath(new URL('../../lua/', import.meta.url));
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
