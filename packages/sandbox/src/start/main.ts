import { join } from 'node:path';
import { repositoryDir } from '../cache-dir.js';
import { type RunningWordPress, startEmbeddedWordPress } from '../embedded-wordpress.js';
import { choosePort } from './choose-port.js';
import { claimDataDir } from './data-dir.js';
import { startGuardFor } from './guard.js';
import { readOptions, type StartOptions, UsageError, usage } from './options.js';
import { siteUrlOf } from './site-url.js';

const log = (line: string) => process.stderr.write(`${line}\n`);

/**
 * Starts WordPress with guard in front, says how to reach it and serves until SIGINT or SIGTERM.
 * Answers the exit code: 0 after a stop by signal, 1 for what went wrong, 2 for a mistake on the command line.
 */
export async function start(args: readonly string[]): Promise<number> {
  const ended = untilSignal();
  try {
    const options = readOptions(args, join(repositoryDir, '.data'));
    if (options.help) {
      process.stdout.write(usage);
      return 0;
    }
    return await run(options, ended);
  } catch (error) {
    log(error instanceof Error ? error.message : String(error));
    return error instanceof UsageError ? 2 : 1;
  }
}

async function run(options: StartOptions, ended: Promise<'signal'>): Promise<number> {
  const release = await claimDataDir(options.dataDir, options.fresh);
  const closers: (() => Promise<void>)[] = [];
  try {
    const port = await choosePort(options.host, options.port);
    const siteUrl = siteUrlOf(options.host, port);
    const starting = startAll(options, port, siteUrl, closers);
    const wordpress = await Promise.race([starting, ended]);
    if (wordpress === 'signal') {
      // Whatever is halfway must first say what there is to stop.
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

async function startAll(
  options: StartOptions,
  port: number,
  siteUrl: string,
  closers: (() => Promise<void>)[],
): Promise<RunningWordPress> {
  log('Starting WordPress.');
  const wordpress = await startEmbeddedWordPress({
    dataDir: options.dataDir,
    php: options.php,
    ...(options.wordpressVersion === null ? {} : { wordpressVersion: options.wordpressVersion }),
    siteUrl,
    log,
  });
  closers.push(wordpress.stop);
  const guard = await startGuardFor({
    wordpressDir: wordpress.wordpressDir,
    upstream: wordpress.upstream,
    listen: { host: options.host, port },
    dataDir: join(options.dataDir, 'guard'),
    logFile: join(options.dataDir, 'logs/guard.log'),
  });
  // Requests that still run get 2 seconds: the whole stop has to fit in 5.
  closers.push(() => Promise.race([guard.close(), seconds(2)]));
  return wordpress;
}

function announce(options: StartOptions, url: string, { user, password }: RunningWordPress): void {
  const adminUrl = `${url}/wp-admin/`;
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ url, adminUrl, user, password })}\n`);
    return;
  }
  process.stdout.write(
    [
      '',
      'Security Optimizer is running in front of a WordPress.',
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
