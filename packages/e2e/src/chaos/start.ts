import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type GuardProcess, layOutGuard, prepareForChaos, startGuard } from './guard.js';
import { startChaosUpstream } from './upstream.js';

/** A guard with something behind it, ready for chaos. */
export interface ChaosSite {
  readonly guard: GuardProcess;
  readonly upstreamPort: number;
  readonly upstreamOpen?: () => string[];
  readonly host: string;
  stop(): Promise<void>;
}

/** Guard in front of a web server that does to each request what the request asks for. */
export async function startUnruly(dir: string): Promise<ChaosSite> {
  const secret = randomBytes(32).toString('hex');
  const upstream = await startChaosUpstream(secret);
  const dataDir = join(dir, 'guard');
  try {
    await layOutGuard(dataDir, upstream.origin, secret);
    await prepareForChaos(dataDir);
    const guard = await startGuard(dataDir);
    return {
      guard,
      upstreamPort: upstream.port,
      upstreamOpen: upstream.open,
      host: 'example.com',
      async stop() {
        await guard.stop();
        await upstream.close();
      },
    };
  } catch (error) {
    await upstream.close();
    throw error;
  }
}
