import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AttachOptions, attach, createLogger, loadConfig, startGuard } from '@security-optimizer/guard/embedded';
import { repositoryDir } from '../lib/cache-dir.js';
import { isPortFree } from '../lib/ports.js';
import { type RunningWordPress, startEmbeddedWordPress } from '../stacks/embedded.js';
import { type FetchWordPressOptions, fetchCurrentWordPress } from '../wordpress/download.js';
import { findInstalledRelease } from '../wordpress/lay-out.js';
import { currentWordPressVersion } from '../wordpress/versions.js';
import { lockDataDir } from './data-dir.js';
import { addExampleContent, startExampleProvider } from './example-provider.js';
import { parseOptions, type StartOptions, UsageError, usage } from './options.js';

const log = (line: string) => process.stderr.write(`${line}\n`);

/**
 * Starts WordPress with guard in front, prints its address and serves until SIGINT or SIGTERM.
 * @param startGuard starts guard; `npm run dev` passes its own function
 * @returns the exit code: 0 after a signal, 1 for an error, 2 for a mistake on the command line
 */
export async function start(args: readonly string[], startGuard: StartGuard = startEmbeddedGuard): Promise<number> {
  const ended = waitForSignal();
  try {
    const options = parseOptions(args, join(repositoryDir, '.data'));
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
      // A part that is starting needs time to register how it is stopped.
      await Promise.race([starting.catch(() => {}), wait(2)]);
      return 0;
    }
    printAddress(options, siteUrl, wordpress);
    const reason = await Promise.race([ended, waitForExit(wordpress)]);
    if (reason === 'signal') return 0;
    log(`PHP ended by itself; see ${join(options.dataDir, 'logs')}.`);
    return 1;
  } finally {
    for (const close of closers.reverse()) await close();
    release();
  }
}

/**
 * Limit of concurrent requests to PHP in WebAssembly. It makes two to six pages a second, so people would not wait for
 * more. The others wait in guard's queue, which is fair between addresses.
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
  // Active requests get 2 seconds, because the complete stop may take 5.
  closers.push(() => Promise.race([guard.close(), wait(2)]));
  return wordpress;
}

function printAddress(options: StartOptions, url: string, { user, password, release }: RunningWordPress): void {
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

/** Resolves at the first signal and ignores further ones: for Ctrl-C both the terminal and npm send one. */
function waitForSignal(): Promise<'signal'> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => resolve('signal'));
  });
}

function waitForExit(wordpress: RunningWordPress): Promise<'dead'> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (wordpress.running()) return;
      clearInterval(timer);
      resolve('dead');
    }, 1000);
    timer.unref();
  });
}

function wait(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000).unref());
}

/** Attaches guard to a WordPress and serves it. */
export type StartGuard = (options: AttachOptions & { readonly logFile: string }) => Promise<{ close(): Promise<void> }>;

/**
 * Attaches guard as `security-optimizer attach` does, adds the settings of a provider, then serves as `serve` does.
 * Guard logs to a file, so that the terminal shows only what people need.
 */
const startEmbeddedGuard: StartGuard = async (options) => {
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

const FIRST_PORT = 8080;
const LAST_PORT = 8180;

/** Chooses the port: the requested one, which must be free, else the first free one from 8080. */
async function choosePort(host: string, requested: number | null): Promise<number> {
  if (requested !== null) {
    if (await isFree(host, requested)) return requested;
    throw new Error(`Port ${requested} on ${host} is in use by another program. Name another one with --port.`);
  }
  for (let port = FIRST_PORT; port <= LAST_PORT; port += 1) {
    if (await isFree(host, port)) return port;
  }
  throw new Error(`All ports from ${FIRST_PORT} to ${LAST_PORT} on ${host} are in use. Name one with --port.`);
}

async function isFree(host: string, port: number): Promise<boolean> {
  try {
    return await isPortFree(host, port);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EACCES') throw new Error(`Port ${port} may only be used by the superuser. Name another with --port.`);
    throw new Error(`Cannot listen on ${host} (${code}). Name an address of this machine with --host.`);
  }
}

/**
 * Chooses the version of WordPress: the requested one, the one in the data folder, else the current one if it is
 * available, else the packaged one. An existing site keeps its release, and WordPress itself offers the update.
 *
 * @returns the version, and a line for the terminal with the version and the reason
 */
export async function chooseWordPress(
  options: Pick<StartOptions, 'dataDir' | 'wordpressVersion'> & Omit<FetchWordPressOptions, 'version'>,
): Promise<{ readonly version: string; readonly line: string }> {
  const { dataDir, wordpressVersion: requested, ...fetching } = options;
  if (requested !== null) return { version: requested, line: `Starting WordPress ${requested}.` };
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

/** Address for a browser on this machine. A wildcard address becomes localhost. */
export function toSiteUrl(host: string, port: number): string {
  const isWildcard = host === '0.0.0.0' || host === '::';
  const name = isWildcard ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  // The origin omits the default port, as browsers do and as WordPress compares it.
  return new URL(`http://${name}:${port}`).origin;
}
