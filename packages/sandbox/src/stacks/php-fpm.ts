import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Service, startService } from '../lib/service.js';
import { getPhpSettings } from '../php/native.js';

export interface PhpFpmOptions {
  /** Folder with `run`, `logs` and `tmp`. */
  readonly dir: string;
  readonly socket: string;
  readonly asRoot: boolean;
}

/** One pool of workers that listens on a socket file. */
function formatConfig({ dir, socket, asRoot }: PhpFpmOptions): string {
  return [
    '[global]',
    `pid = ${dir}/run/php-fpm.pid`,
    'error_log = /proc/self/fd/2',
    'daemonize = no',
    '[wordpress]',
    ...(asRoot ? ['user = root', 'group = root'] : []),
    `listen = ${socket}`,
    'listen.mode = 0600',
    'pm = static',
    'pm.max_children = 8',
    'catch_workers_output = yes',
    ...Object.entries(getPhpSettings(dir)).map(([name, value]) => `php_admin_value[${name}] = "${value}"`),
    '',
  ].join('\n');
}

/** Starts PHP-FPM and waits for its socket. */
export async function startPhpFpm(program: string, options: PhpFpmOptions): Promise<Service> {
  const file = join(options.dir, 'php-fpm.conf');
  writeFileSync(file, formatConfig(options));
  rmSync(options.socket, { force: true });
  return startService({
    name: 'PHP-FPM',
    command: program,
    args: ['--nodaemonize', ...(options.asRoot ? ['--allow-to-run-as-root'] : []), '--fpm-config', file],
    pidFile: join(options.dir, 'run/php-fpm.json'),
    logFile: join(options.dir, 'logs/php-fpm.log'),
    ready: async () => existsSync(options.socket),
    readySeconds: 60,
  });
}
