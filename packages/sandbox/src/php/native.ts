import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answersHttp, findFreePort } from '../lib/ports.js';
import { type Service, startService } from '../lib/service.js';
import { phpDir, type RunPhp } from '../wordpress/install.js';

const run = promisify(execFile);

/** Extensions that WordPress and its SQLite integration need. */
const REQUIRED_EXTENSIONS = ['pdo_sqlite', 'json', 'mbstring', 'dom'];

/** The reason why the system's PHP cannot be used; null if it can. */
export async function findNativePhpProblem(): Promise<string | null> {
  try {
    const code = 'echo json_encode([PHP_VERSION_ID, array_map("strtolower", get_loaded_extensions())]);';
    const { stdout } = await run('php', ['-r', code], { timeout: 60_000 });
    const [version, loaded] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [number, string[]];
    if (version < 70400) return 'the PHP of this system is older than 7.4';
    const missing = REQUIRED_EXTENSIONS.filter((name) => !loaded.includes(name));
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
  /** Layout of the site for router.php: `SANDBOX_FRONT` and `SANDBOX_NETWORK`. */
  readonly env?: Readonly<Record<string, string>>;
}): Promise<{ readonly upstream: string; readonly service: Service }> {
  for (const dir of ['logs', 'tmp', 'mail']) mkdirSync(join(options.dataDir, dir), { recursive: true });
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    const upstream = `http://127.0.0.1:${port}`;
    try {
      const service = await startService({
        name: 'PHP',
        command: 'php',
        args: [
          ...toPhpArgs(getPhpSettings(options.dataDir)),
          '-S',
          `127.0.0.1:${port}`,
          '-t',
          options.wordpressDir,
          join(phpDir, 'router.php'),
        ],
        // Pages of WordPress call the site itself (cron, block editor), so a single worker would block.
        env: { ...process.env, ...options.env, PHP_CLI_SERVER_WORKERS: '6' },
        pidFile: join(options.dataDir, 'run/php.json'),
        logFile: join(options.dataDir, 'logs/php-server.log'),
        // A static file, because WordPress may refuse requests that do not come through guard.
        ready: () => answersHttp(`${upstream}/wp-includes/css/buttons.min.css`),
        readySeconds: 60,
      });
      return { upstream, service };
    } catch (error) {
      // Another program can take the port before PHP listens on it.
      if (attempt >= 3 || !(error as Error).message.includes('Address already in use')) throw error;
    }
  }
}

/** Creates a function that runs scripts with the system's PHP and the settings of the site in `dataDir`. */
export function createPhpRunner(dataDir: string, php = 'php'): RunPhp {
  return async (script, env) => {
    const args = [...getPhpScriptArgs(dataDir), script];
    const { stdout } = await run(php, args, { env: { ...process.env, ...env }, timeout: 120_000 });
    return stdout;
  };
}

/** PHP settings of the sandbox: large uploads are allowed, errors go to a file. */
export function getPhpSettings(dataDir: string): Readonly<Record<string, string>> {
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
    // No mail leaves the machine: each becomes a file.
    sendmail_path: `/bin/sh '${join(phpDir, 'save-mail.sh')}' '${join(dataDir, 'mail')}'`,
  };
}

/** Formats settings as arguments of PHP. Values are quoted, because bare ones follow the grammar of php.ini. */
export function toPhpArgs(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-d', `${name}="${value}"`]);
}

/** Arguments of PHP for a script that runs once. Without opcache, because writing its cache would double the time. */
export function getPhpScriptArgs(dataDir: string): string[] {
  return toPhpArgs({ ...getPhpSettings(dataDir), 'opcache.enable_cli': '0', display_errors: 'stderr' });
}
