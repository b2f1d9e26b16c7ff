import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { type Service, startService } from '@security-optimizer/sandbox/lib/service';
import type { Bench } from '../measure.js';

/** A server and its process. */
export interface Server {
  readonly url: string;
  readonly pid: number;
  readonly stop: Service['stop'];
}

/** Starts a program of `programs/` on a free port, in its own process. */
export async function startNodeProgram(
  bench: Bench,
  program: 'refusing-server' | 'page-server' | 'owned-site' | 'bare-proxy',
  args: readonly string[] = [],
): Promise<Server> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const name = `${program}-${port}`;
  const service = bench.stopAtEnd(
    await startService({
      name: program,
      command: process.execPath,
      args: [fileURLToPath(new URL(`./programs/${program}.js`, import.meta.url)), String(port), ...args],
      pidFile: join(bench.dir, 'run', `${name}.json`),
      logFile: join(bench.dir, 'logs', `${name}.log`),
      ready: () => answersHttp(url),
      readySeconds: 90,
    }),
  );
  return { url, pid: service.pid, stop: service.stop };
}
