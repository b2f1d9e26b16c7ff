import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Service, startService } from '../lib/service.js';
import type { DatabaseSettings } from '../wordpress/config-file.js';
import type { Programs } from './programs.js';

const run = promisify(execFile);

/** Starts a MariaDB that listens on a socket file only and has one database for WordPress. */
export async function startMariaDb(
  programs: Programs,
  options: { readonly dir: string; readonly socket: string; readonly asRoot: boolean },
): Promise<{ readonly service: Service; readonly database: DatabaseSettings }> {
  const { dir, socket } = options;
  const dataDir = join(dir, 'mariadb');
  const asUser = options.asRoot ? ['--user=root'] : [];
  if (!existsSync(dataDir)) await createDataDir(programs, dataDir, asUser);
  const service = await startService({
    name: 'MariaDB',
    command: programs.mariadbd,
    args: [
      '--no-defaults',
      `--datadir=${dataDir}`,
      `--socket=${socket}`,
      `--pid-file=${join(dir, 'run/mariadbd.pid')}`,
      '--skip-networking',
      '--character-set-server=utf8mb4',
      ...asUser,
    ],
    pidFile: join(dir, 'run/mariadb.json'),
    logFile: join(dir, 'logs/mariadb.log'),
    ready: () => runSql(programs.mariadb, socket, 'SELECT 1').then(Boolean, () => false),
    readySeconds: 90,
    stopSeconds: 10,
  });
  const password = readOrCreatePassword(dir);
  const account = `'wordpress'@'localhost' IDENTIFIED BY '${password}'`;
  await runSql(
    programs.mariadb,
    socket,
    `CREATE DATABASE IF NOT EXISTS wordpress; CREATE USER IF NOT EXISTS ${account}; ALTER USER ${account};` +
      "GRANT ALL ON wordpress.* TO 'wordpress'@'localhost';",
  );
  const database = {
    kind: 'mysql',
    name: 'wordpress',
    user: 'wordpress',
    password,
    host: `localhost:${socket}`,
  } as const;
  return { service, database };
}

/** Creates the folder under a temporary name and renames it, so an interrupted run leaves no incomplete database. */
async function createDataDir(programs: Programs, dataDir: string, asUser: readonly string[]): Promise<void> {
  const fresh = `${dataDir}.new`;
  rmSync(fresh, { recursive: true, force: true });
  const args = ['--no-defaults', `--datadir=${fresh}`, '--auth-root-authentication-method=normal', '--skip-test-db'];
  await run(programs.mariadbInstallDb, [...args, ...asUser], { timeout: 120_000 });
  renameSync(fresh, dataDir);
}

function readOrCreatePassword(dir: string): string {
  const file = join(dir, 'database-password');
  if (!existsSync(file)) writeFileSync(file, randomBytes(16).toString('hex'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}

async function runSql(program: string, socket: string, statements: string): Promise<string> {
  const args = ['--no-defaults', `--socket=${socket}`, '--user=root', '--batch', '--execute', statements];
  return (await run(program, args, { timeout: 60_000 })).stdout;
}
