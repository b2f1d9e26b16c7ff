import { chmodSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Service } from '../lib/service.js';
import { createPhpRunner } from '../php/native.js';
import { installWordPress } from '../wordpress/install.js';
import { layOutWordPress } from '../wordpress/lay-out.js';
import { startMariaDb } from './mariadb.js';
import { type NginxSetup, startNginx } from './nginx.js';
import { startPhpFpm } from './php-fpm.js';
import { findPrograms } from './programs.js';

export interface ProductionStackOptions {
  /** Folder for all data: WordPress, database, configuration, sockets, logs. Its path may have 80 bytes. */
  readonly dir: string;
  /** Public address of the site, without a slash at the end. */
  readonly siteUrl: string;
  readonly wordpressVersion?: string;
  /** The default is `tuned`. */
  readonly nginx?: NginxSetup;
  readonly log?: (line: string) => void;
}

export interface ProductionStack {
  readonly wordpressDir: string;
  readonly release: string;
  /** Origin of nginx, on loopback. */
  readonly upstream: string;
  readonly user: string;
  readonly password: string;
  /** For tests that make one of them fail. */
  readonly services: { readonly nginx: Service; readonly phpFpm: Service; readonly mariadb: Service };
  readonly stop: () => Promise<void>;
}

/** The reason why the production stack cannot run on this machine; null if it can. */
export function findProductionStackProblem(): string | null {
  const programs = findPrograms();
  return typeof programs === 'string' ? programs : null;
}

/**
 * Starts WordPress as in production: nginx, PHP-FPM and MariaDB as services with their own configuration, on loopback
 * and socket files. Installs WordPress on first use and keeps it for the next start.
 */
export async function startProductionStack(options: ProductionStackOptions): Promise<ProductionStack> {
  const programs = findPrograms();
  if (typeof programs === 'string') throw new Error(`The production stack cannot run here: ${programs}`);
  const dir = resolve(options.dir);
  // The operating system limits the path of a socket to 107 bytes.
  if (Buffer.byteLength(dir) > 80) throw new Error(`The folder's path is too long for socket files: ${dir}`);
  for (const name of ['run', 'logs', 'tmp', 'mail']) mkdirSync(join(dir, name), { recursive: true });
  chmodSync(join(dir, 'run'), 0o700);
  const asRoot = process.getuid?.() === 0;
  const wordpressDir = join(dir, 'wordpress');
  const phpSocket = join(dir, 'run/php-fpm.sock');
  const started: Service[] = [];
  const stop = async () => {
    for (const service of started.reverse().splice(0)) await service.stop();
  };
  try {
    const { service: mariadb, database } = await startMariaDb(programs, {
      dir,
      socket: join(dir, 'run/mariadb.sock'),
      asRoot,
    });
    started.push(mariadb);
    const release = await layOutWordPress({ ...options, log: options.log ?? (() => {}), dir: wordpressDir, database });
    const runPhp = createPhpRunner(dir, programs.php);
    const owner = await installWordPress({ wordpressDir, dataDir: dir, siteUrl: options.siteUrl, runPhp });
    const phpFpm = await startPhpFpm(programs.phpFpm, { dir, socket: phpSocket, asRoot });
    started.push(phpFpm);
    const { service: nginx, upstream } = await startNginx(programs.nginx, {
      dir,
      wordpressDir,
      phpSocket,
      asRoot,
      setup: options.nginx ?? 'tuned',
    });
    started.push(nginx);
    return { wordpressDir, release, upstream, ...owner, services: { nginx, phpFpm, mariadb }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
