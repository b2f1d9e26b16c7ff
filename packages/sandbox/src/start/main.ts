import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AttachOptions, attach, createLogger, loadConfig, startGuard } from '@security-optimizer/guard/embedded';
import { repositoryDir } from '../lib/cache-dir.js';
import { portIsFree } from '../lib/ports.js';
import { type RunningWordPress, startEmbeddedWordPress } from '../stacks/embedded.js';
import { type FetchWordPressOptions, fetchCurrentWordPress } from '../wordpress/download.js';
import { findInstalledRelease } from '../wordpress/lay-out.js';
import { currentWordPressVersion } from '../wordpress/versions.js';
import { lockDataDir } from './data-dir.js';
import { addExampleContent, startExampleProvider } from './example-provider.js';
import { readOptions, type StartOptions, UsageError, usage } from './options.js';

const log = (line: string) => process.stderr.write(`${line}\n`);

/**
 * Starts WordPress with guard in front, says how to reach it and serves until SIGINT or SIGTERM.
 * @param startGuard how guard is started; `npm run dev` has its own way
 * @returns the exit code: 0 after a stop by signal, 1 for what went wrong, 2 for a mistake on the command line.
 */
export async function start(args: readonly string[], startGuard: StartGuard = startGuardFor): Promise<number> {
  const ended = untilSignal();
  try {
    const options = readOptions(args, join(repositoryDir, '.data'));
    if (options.help) {
      process.stdout.write(usage);
      return 0;
    }
    return await run(options, startGuard, ended);
  } catch (error) {
    log(error instanceof Error ? error.message : String(error));
    return error instanceof UsageError ? 2 : 1;
  }
}

async function run(options: StartOptions, startGuard: StartGuard, ended: Promise<'signal'>): Promise<number> {
  const release = await lockDataDir(options.dataDir, options.fresh);
  const closers: (() => Promise<void>)[] = [];
  try {
    const port = await choosePort(options.host, options.port);
    const siteUrl = toSiteUrl(options.host, port);
    const starting = startAll(options, startGuard, port, siteUrl, closers);
    const wordpress = await Promise.race([starting, ended]);
    if (wordpress === 'signal') {
      // A part that is still starting first registers how it is stopped.
      await Promise.race([starting.catch(() => {}), seconds(2)]);
      return 0;
    }
    announce(options, siteUrl, wordpress);
    const why = await Promise.race([ended, untilDead(wordpress)]);
    if (why === 'signal') return 0;
    log(`PHP ended by itself; see ${join(options.dataDir, 'logs')}.`);
    return 1;
  } finally {
    for (const close of closers.reverse()) await close();
    release();
  }
}

/**
 * Requests that PHP in WebAssembly gets at the same time: it makes two to six pages a second, so more than these would wait
 * in its queue for longer than people do. In guard's queue those of other addresses pass them.
 */
const WASM_CONNECTIONS = 8;

async function startAll(
  options: StartOptions,
  startGuard: StartGuard,
  port: number,
  siteUrl: string,
  closers: (() => Promise<void>)[],
): Promise<RunningWordPress> {
  const chosen = await chooseWordPress({ ...options, log });
  log(chosen.line);
  const wordpress = await startEmbeddedWordPress({
    dataDir: options.dataDir,
    php: options.php,
    wordpressVersion: chosen.version,
    siteUrl,
    log,
  });
  closers.push(wordpress.stop);
  const guard = await startGuard({
    wordpressDir: wordpress.wordpressDir,
    upstream: wordpress.upstream,
    listen: { host: options.host, port },
    dataDir: join(options.dataDir, 'guard'),
    logFile: join(options.dataDir, 'logs/guard.log'),
    ...(wordpress.phpKind === 'wasm' && { own: { limits: { upstreamConnections: WASM_CONNECTIONS } } }),
  });
  // Requests that still run get 2 seconds: the whole stop has to fit in 5.
  closers.push(() => Promise.race([guard.close(), seconds(2)]));
  return wordpress;
}

function announce(options: StartOptions, url: string, { user, password, release }: RunningWordPress): void {
  const adminUrl = `${url}/wp-admin/`;
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ url, adminUrl, user, password })}\n`);
    return;
  }
  process.stdout.write(
    [
      '',
      `Security Optimizer is running in front of WordPress ${release}.`,
      '',
      `  Site       ${url}/`,
      `  wp-admin   ${adminUrl}`,
      `  Login      ${user}`,
      `  Password   ${password}`,
      '',
      `  Stop with Ctrl-C. The site and its logs are kept in ${options.dataDir}.`,
      '',
      '',
    ].join('\n'),
  );
}

/** Settles at the first SIGINT or SIGTERM. Further ones change nothing: a terminal and npm both send Ctrl-C on. */
function untilSignal(): Promise<'signal'> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => resolve('signal'));
  });
}

function untilDead(wordpress: RunningWordPress): Promise<'dead'> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (wordpress.running()) return;
      clearInterval(timer);
      resolve('dead');
    }, 1000);
    timer.unref();
  });
}

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, count * 1000).unref());
}

/** Connects a WordPress with guard and serves it. */
export type StartGuard = (options: AttachOptions & { readonly logFile: string }) => Promise<{ close(): Promise<void> }>;

/**
 * Connects a WordPress with guard the way `security-optimizer attach` does, adds what a provider would configure, then
 * serves it as `serve` does.
 * Guard's log goes to a file, so that the terminal shows what its reader needs.
 */
export const startGuardFor: StartGuard = async (options) => {
  const { logFile, ...attachOptions } = options;
  await attach({ ...attachOptions, requireGuard: 'force' });
  const provider = await startExampleProvider(join(dirname(logFile), 'provider.log'));
  addExampleContent(options.dataDir, options.wordpressDir, provider);
  const config = await loadConfig({ dataDir: options.dataDir });
  mkdirSync(dirname(logFile), { recursive: true });
  const guard = await startGuard(config, {
    logger: createLogger(config.logLevel, createWriteStream(logFile, { flags: 'a' })),
  });
  return {
    async close() {
      await guard.close();
      await provider.close();
    },
  };
};

const firstPort = 8080;
const lastPort = 8180;

/** The port to listen on: the one asked for, which must be free, else the first free one from 8080. */
export async function choosePort(host: string, asked: number | null): Promise<number> {
  if (asked !== null) {
    if (await isFree(host, asked)) return asked;
    throw new Error(`Port ${asked} on ${host} is in use by another program. Name another one with --port.`);
  }
  for (let port = firstPort; port <= lastPort; port += 1) {
    if (await isFree(host, port)) return port;
  }
  throw new Error(`All ports from ${firstPort} to ${lastPort} on ${host} are in use. Name one with --port.`);
}

async function isFree(host: string, port: number): Promise<boolean> {
  try {
    return await portIsFree(host, port);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EACCES') throw new Error(`Port ${port} may only be used by the superuser. Name another with --port.`);
    throw new Error(`Cannot listen on ${host} (${code}). Name an address of this machine with --host.`);
  }
}

/**
 * Chooses the WordPress of a start: the one asked for, the one that the data folder holds, else the current one where it
 * can be had, else the packaged one. An existing site keeps its release: what is on trial is the product, and WordPress
 * itself offers the update.
 *
 * @returns its version, and a line for the terminal that says which it is and why
 */
export async function chooseWordPress(
  options: Pick<StartOptions, 'dataDir' | 'wordpressVersion'> & Omit<FetchWordPressOptions, 'version'>,
): Promise<{ readonly version: string; readonly line: string }> {
  const { dataDir, wordpressVersion: asked, ...fetching } = options;
  if (asked !== null) return { version: asked, line: `Starting WordPress ${asked}.` };
  const installed = findInstalledRelease(join(dataDir, 'wordpress'));
  if (installed === currentWordPressVersion) return { version: installed, line: `Starting WordPress ${installed}.` };
  if (installed !== null) {
    const other = `--fresh starts over with ${currentWordPressVersion}`;
    return { version: installed, line: `Starting WordPress ${installed}, which the data folder holds; ${other}.` };
  }
  const { release, fallbackReason } = await fetchCurrentWordPress(fetching);
  const why = fallbackReason === null ? '' : ` in place of ${currentWordPressVersion}: ${fallbackReason}`;
  return { version: release, line: `Starting WordPress ${release}${why}.` };
}

/** Address for a browser on this machine. A wildcard address is reached as localhost. */
export function toSiteUrl(host: string, port: number): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const name = everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  // Without the port where it is the usual one, as browsers send it and as WordPress compares it.
  return new URL(`http://${name}:${port}`).origin;
}
