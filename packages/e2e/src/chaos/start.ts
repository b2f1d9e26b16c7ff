import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { attach } from '@security-optimizer/guard/cli/attach';
import { startEmbeddedWordPress } from '@security-optimizer/sandbox/embedded-wordpress';
import { freePort } from '@security-optimizer/sandbox/process/free-port';
import { startProductionStack } from '@security-optimizer/sandbox/production-stack';
import { type GuardProcess, layOutGuard, limitsFor, prepareForChaos, startGuard } from './guard.js';
import { startChaosUpstream } from './upstream.js';

/** A guard with something behind it, ready for chaos. */
export interface ChaosSite {
  readonly guard: GuardProcess;
  readonly upstreamPort: number;
  readonly askedFrom?: (port: number) => string | undefined;
  /** The host that requests name. */
  readonly host: string;
  readonly realSite: boolean;
  stop(): Promise<void>;
}

/** What can stand behind guard: a web server that does what it is asked to, or a real WordPress. */
export const stacks = ['unruly', 'embedded', 'production', 'nginx-defaults'] as const;
export type ChaosStack = (typeof stacks)[number];

/** @param dir a folder for all of it, with a short path, since MariaDB's socket lies in it */
export function startSite(stack: ChaosStack, dir: string): Promise<ChaosSite> {
  return stack === 'unruly' ? startUnruly(dir) : startWordPress(stack, dir);
}

async function startUnruly(dir: string): Promise<ChaosSite> {
  const secret = randomBytes(32).toString('hex');
  const upstream = await startChaosUpstream(secret);
  const dataDir = join(dir, 'guard');
  try {
    await layOutGuard(dataDir, upstream.origin, secret);
    await prepareForChaos(dataDir, limitsFor(false));
    const guard = await startGuard(dataDir);
    const facts = { upstreamPort: upstream.port, askedFrom: upstream.askedFrom, host: 'example.com', realSite: false };
    return { guard, ...facts, stop: () => stopAll(guard.stop, upstream.close) };
  } catch (error) {
    await upstream.close();
    throw error;
  }
}

async function startWordPress(stack: Exclude<ChaosStack, 'unruly'>, dir: string): Promise<ChaosSite> {
  const port = await freePort();
  const host = `127.0.0.1:${port}`;
  const siteUrl = `http://${host}`;
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const wordpress =
    stack === 'embedded'
      ? await startEmbeddedWordPress({ dataDir: dir, php: 'native', siteUrl, log })
      : await startProductionStack({ dir, siteUrl, log, ...(stack === 'nginx-defaults' && { nginx: 'defaults' }) });
  const dataDir = join(dir, 'guard');
  try {
    const { wordpressDir, upstream } = wordpress;
    await attach({ wordpressDir, upstream, listen: { host: '127.0.0.1', port }, dataDir });
    await prepareForChaos(dataDir, limitsFor(true));
    const guard = await startGuard(dataDir);
    const upstreamPort = Number(new URL(upstream).port);
    return { guard, upstreamPort, host, realSite: true, stop: () => stopAll(guard.stop, wordpress.stop) };
  } catch (error) {
    await wordpress.stop();
    throw error;
  }
}

async function stopAll(...stops: readonly (() => Promise<void>)[]): Promise<void> {
  for (const stop of stops) await stop();
}
