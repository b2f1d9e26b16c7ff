import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attach, CONFIG_FILE, openGuardDatabase, secretFile, silentLogger } from '@security-optimizer/guard/testing';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { startEmbeddedWordPress } from '@security-optimizer/sandbox/stacks/embedded';
import { startProductionStack } from '@security-optimizer/sandbox/stacks/production';
import { startChaosUpstream } from './upstream.js';

/** A guard with something behind it, ready for chaos. */
export interface ChaosSite {
  readonly guard: GuardProcess;
  readonly upstreamPort: number;
  readonly getLabel?: (port: number) => string | undefined;
  /** The host that requests name. */
  readonly host: string;
  readonly realSite: boolean;
  stop(): Promise<void>;
}

/** What runs behind guard: a web server with a requested behaviour, or a real WordPress. */
export const stacks = ['unruly', 'embedded', 'production', 'nginx-defaults'] as const;
export type ChaosStack = (typeof stacks)[number];

/** @param dir a folder with a short path, since MariaDB's socket is in it */
export function startSite(stack: ChaosStack, dir: string): Promise<ChaosSite> {
  return stack === 'unruly' ? startUnreliableSite(dir) : startWordPress(stack, dir);
}

async function startUnreliableSite(dir: string): Promise<ChaosSite> {
  const secret = randomBytes(32).toString('hex');
  const upstream = await startChaosUpstream(secret);
  const dataDir = join(dir, 'guard');
  try {
    await layOutGuard(dataDir, upstream.origin, secret);
    await prepareForChaos(dataDir, limitsFor(false));
    const guard = await startGuard(dataDir);
    const facts = { upstreamPort: upstream.port, getLabel: upstream.getLabel, host: 'example.com', realSite: false };
    return { guard, ...facts, stop: () => stopAll(guard.stop, upstream.close) };
  } catch (error) {
    await upstream.close();
    throw error;
  }
}

async function startWordPress(stack: Exclude<ChaosStack, 'unruly'>, dir: string): Promise<ChaosSite> {
  const port = await findFreePort();
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
    await attach({ wordpressDir, upstream, listen: { host: '127.0.0.1', port }, dataDir, requireGuard: 'force' });
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

const program = createRequire(import.meta.url).resolve('@security-optimizer/guard/program/security-optimizer');

/** Timeouts so short that leaked resources show within seconds. */
const limits = {
  headerSeconds: 2,
  idleSeconds: 2,
  upstreamSeconds: 3,
  shutdownSeconds: 5,
  upstreamConnections: 48,
};

export type Limits = typeof limits;

/** A real WordPress never hangs, but it answers many parallel requests late. */
export const limitsFor = (realSite: boolean): Limits => (realSite ? { ...limits, upstreamSeconds: 30 } : limits);

/** Addresses of this machine from which visits come. */
export const addresses = {
  visitors: ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6'],
  blocked: '127.0.0.66',
  /** A trusted proxy. */
  proxy: '127.0.0.8',
  /** Not used by chaos. It requests a page afterwards. */
  bystander: '127.0.0.9',
} as const;

/** Only ends a hanging process. Guard stops earlier, see limits.shutdownSeconds. */
const STOP_MS = 20_000;

/** A guard in its own process, started as users start it. */
export interface GuardProcess {
  readonly pid: number;
  readonly port: number;
  /** Address of Node's inspector in it. */
  readonly inspector: string;
  /** Null while it runs; else how it ended. */
  ended(): string | null;
  /** Lines of its log so far. */
  log(): string[];
  stop(): Promise<void>;
}

/** Creates a data folder for a guard in front of one web server. */
async function layOutGuard(dataDir: string, upstream: string, secret: string): Promise<void> {
  mkdirSync(join(dataDir, 'sites'), { recursive: true, mode: 0o700 });
  writeFileSync(secretFile(dataDir, 'chaos'), secret, { mode: 0o600 });
  const listen = `127.0.0.1:${await findFreePort()}`;
  const config = { listen, sites: [{ id: 'chaos', upstream, hosts: ['*', '127.0.0.1'] }] };
  writeFileSync(join(dataDir, CONFIG_FILE), JSON.stringify(config), { mode: 0o600 });
}

/** Configures the limits, the proxy and the blocked address of chaos. */
async function prepareForChaos(dataDir: string, limits: Limits): Promise<void> {
  const file = join(dataDir, CONFIG_FILE);
  const config = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...config, limits, trustedProxies: [addresses.proxy] }), { mode: 0o600 });
  const db = await openGuardDatabase({ url: 'sqlite:guard.sqlite', dataDir, logger: silentLogger() });
  try {
    const site = config.sites[0].id as string;
    const value = addresses.blocked;
    const who = { visitor_id: 0, created_at: 0, by_id: null, by_login: '' };
    await db
      .insertInto('blocked_visitors')
      .values({ site, kind: 'ip', value, name: value, ...who })
      .execute();
    await db.insertInto('blocked_versions').values({ site, version: 1 }).execute();
  } finally {
    await db.destroy();
  }
}

/** Starts `security-optimizer serve` and waits until it answers. */
async function startGuard(dataDir: string): Promise<GuardProcess> {
  const { listen } = JSON.parse(readFileSync(join(dataDir, CONFIG_FILE), 'utf8')) as { listen: string };
  const logFile = join(dataDir, 'chaos.log');
  const log = openSync(logFile, 'w');
  const args = ['--inspect=127.0.0.1:0', program, 'serve', '--data-dir', dataDir];
  const child = spawn(process.execPath, args, { stdio: ['ignore', log, log] });
  closeSync(log);
  const end = () => void child.kill('SIGKILL');
  process.on('exit', end);
  const lines = () => readFileSync(logFile, 'utf8').split('\n').filter(Boolean);
  const ended = () => describeEnd(child);
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    for (let waited = 0; ended() === null && waited < STOP_MS; waited += 20) await sleep(20);
    if (ended() === null) child.kill('SIGKILL');
    process.off('exit', end);
  };
  for (let waited = 0; !(await answersHttp(`http://${listen}/%zz`)); waited += 50) {
    if (ended() !== null || waited > 60_000) {
      await stop();
      throw new Error(`Guard did not start: ${lines().slice(-20).join('\n')}`);
    }
    await sleep(50);
  }
  const inspector = lines().flatMap((line) => /^Debugger listening on (ws:\S+)$/.exec(line)?.[1] ?? [])[0] ?? '';
  return { pid: child.pid ?? -1, port: Number(listen.split(':')[1]), inspector, ended, log: lines, stop };
}

function describeEnd(child: ChildProcess): string | null {
  if (child.exitCode !== null) return `exit code ${child.exitCode}`;
  return child.signalCode;
}
