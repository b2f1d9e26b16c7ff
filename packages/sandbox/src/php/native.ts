import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answersHttp, freePort } from '../lib/ports.js';
import { type Service, startService } from '../lib/service.js';
import { phpDir, type RunPhp } from '../wordpress/install.js';

const run = promisify(execFile);

/** What WordPress and its SQLite integration cannot do without. */
const neededExtensions = ['pdo_sqlite', 'json', 'mbstring', 'dom'];

/** Why the system's PHP cannot be used; null when it can. */
export async function nativePhpProblem(): Promise<string | null> {
  try {
    const code = 'echo json_encode([PHP_VERSION_ID, array_map("strtolower", get_loaded_extensions())]);';
    const { stdout } = await run('php', ['-r', code], { timeout: 60_000 });
    const [version, loaded] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [number, string[]];
    if (version < 70400) return 'the PHP of this system is older than 7.4';
    const missing = neededExtensions.filter((name) => !loaded.includes(name));
    return missing.length === 0 ? null : `the PHP of this system lacks ${missing.join(', ')}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? 'there is no PHP on this system'
      : `the PHP of this system does not work (${(error as Error).message.split('\n')[0]})`;
  }
}

/** Starts PHP's own web server with several workers on a free loopback port. */
export async function startNativePhp(options: {
  /** Root of the web server. */
  readonly wordpressDir: string;
  readonly dataDir: string;
  /** How the site is laid out, for router.php: `SANDBOX_FRONT` and `SANDBOX_NETWORK`. */
  readonly env?: Readonly<Record<string, string>>;
}): Promise<{ readonly upstream: string; readonly service: Service }> {
  for (const dir of ['logs', 'tmp', 'mail']) mkdirSync(join(options.dataDir, dir), { recursive: true });
  for (let turn = 1; ; turn += 1) {
    const port = await freePort();
    const upstream = `http://127.0.0.1:${port}`;
    try {
      const service = await startService({
        name: 'PHP',
        command: 'php',
        args: [
          ...phpSettingArgs(phpSettings(options.dataDir)),
          '-S',
          `127.0.0.1:${port}`,
          '-t',
          options.wordpressDir,
          join(phpDir, 'router.php'),
        ],
        // Pages of WordPress call the site itself (cron, block editor), so one worker alone would wait for itself.
        env: { ...process.env, ...options.env, PHP_CLI_SERVER_WORKERS: '6' },
        pidFile: join(options.dataDir, 'run/php.json'),
        logFile: join(options.dataDir, 'logs/php-server.log'),
        // A static file, because WordPress itself may refuse requests that did not come through guard.
        ready: () => answersHttp(`${upstream}/wp-includes/css/buttons.min.css`),
        readySeconds: 60,
      });
      return { upstream, service };
    } catch (error) {
      // Between finding the port and using it another program can take it.
      if (turn >= 3 || !(error as Error).message.includes('Address already in use')) throw error;
    }
  }
}

/** Runs scripts with the system's PHP, its settings those of the site in `dataDir`. */
export function systemPhpRunner(dataDir: string, php = 'php'): RunPhp {
  return async (script, env) => {
    const args = [...phpScriptArgs(dataDir), script];
    const { stdout } = await run(php, args, { env: { ...process.env, ...env }, timeout: 120_000 });
    return stdout;
  };
}

/** PHP settings of the sandbox: room for big uploads, errors to a file instead of into pages. */
export function phpSettings(dataDir: string): Readonly<Record<string, string>> {
  return {
    memory_limit: '512M',
    post_max_size: '1G',
    upload_max_filesize: '1G',
    max_execution_time: '300',
    max_input_time: '-1',
    display_errors: '0',
    log_errors: '1',
    error_log: join(dataDir, 'logs/php.log'),
    upload_tmp_dir: join(dataDir, 'tmp'),
    sys_temp_dir: join(dataDir, 'tmp'),
    'opcache.enable': '1',
    'opcache.enable_cli': '1',
    'opcache.revalidate_freq': '0',
    // Mail never leaves the machine: each message becomes a file that the owner can read.
    sendmail_path: `/bin/sh '${join(phpDir, 'keep-mail.sh')}' '${join(dataDir, 'mail')}'`,
  };
}

/** The settings as arguments for PHP's command line. Quoted, since bare values follow the grammar of php.ini. */
export function phpSettingArgs(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-d', `${name}="${value}"`]);
}

/** Arguments for a script that runs once: keeping what is compiled for a next time would double its work. */
export function phpScriptArgs(dataDir: string): string[] {
  return phpSettingArgs({ ...phpSettings(dataDir), 'opcache.enable_cli': '0', display_errors: 'stderr' });
}
