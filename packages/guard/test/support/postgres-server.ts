import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

export interface PostgresOptions {
  /** A port of 127.0.0.1 on which the server listens, too. By default it listens only on its Unix socket. */
  readonly port?: number;
  /** Required from every user; by default the server asks for none. */
  readonly password?: string;
  /** Key and certificate as PEM: the server accepts TLS on its port. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Settings of `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** A PostgreSQL server of the tests, in a folder of its own. */
export interface PostgresServer {
  /** Folder of its Unix socket. */
  readonly folder: string;
  /** Everything that it has logged. */
  log(): string;
  /**
   * The URL by which guard reaches a database, as a user who is no administrator: by TCP if the server has a port, with
   * its password, else by the Unix socket.
   * @param options for TCP: `parameters`, for example `sslmode=require`
   */
  url(database: string, options?: { readonly host?: string; readonly parameters?: string }): string;
  /** Runs statements as the server's administrator, and returns the rows. */
  query<Row = Record<string, unknown>>(sql: string, values?: unknown[], database?: string): Promise<Row[]>;
  /** Creates an empty database, or a copy of another one, that belongs to guard's user. */
  createDatabase(name: string, template?: string): Promise<void>;
  /** Starts it again on the same data. Resolves when it accepts connections. */
  start(): Promise<void>;
  /** Stops it: connections are ended, transactions rolled back. */
  stop(): Promise<void>;
  /** Kills all its processes, as a crash of its machine does. */
  kill(): Promise<void>;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

/** The user of guard's databases. */
const GUARD_USER = 'guard';
const ADMINISTRATOR = 'postgres';

/** Nothing has to survive a crash of the machine, and many databases fit on a small disk. */
const SETTINGS: NonNullable<PostgresOptions['settings']> = {
  ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' },
  ...{ max_connections: 200, shared_buffers: '32MB', max_wal_size: '256MB', listen_addresses: '' },
};

/**
 * Runs a server, which ends with this process, even if that is killed: then the pipe ends, of which the first process
 * holds the other side. A line means that the server has ended already.
 */
const RUN = `server=$$
( { read -r line || kill -INT "$server"; } <&3 3<&- >/dev/null 2>&1 & )
exec "$@" 3<&-`;

interface Installed {
  /** Folder of `initdb` and `postgres`. */
  readonly bin: string;
  /** The server refuses to run as root. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
}

const found = findPostgres();

/** Why tests with a PostgreSQL server can't run on this machine; null if they can. */
export const postgresMissing: string | null = 'reason' in found ? found.reason : null;

/** For the title of a suite that is skipped without PostgreSQL. */
export const withoutPostgres = postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`;

/** Finds PostgreSQL on the path, or the newest release of Debian's packages. */
function findPostgres(): Installed | { readonly reason: string } {
  const debian = '/usr/lib/postgresql';
  const releases = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : [];
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...releases.map((release) => join(debian, release, 'bin')),
  ];
  const bin = folders.find((folder) => ['initdb', 'postgres'].every((program) => existsSync(join(folder, program))));
  if (bin === undefined) return { reason: 'PostgreSQL is not installed' };
  if (process.getuid?.() !== 0) return { bin, user: null };
  const [uid, gid] = ['-u', '-g'].map((option) => spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }).stdout);
  if (!uid || !gid) return { reason: 'PostgreSQL does not run as root, and there is no user postgres' };
  return { bin, user: { uid: Number(uid), gid: Number(gid) } };
}

/**
 * Creates and starts a server. The caller removes it.
 * @throws with the server's log if it does not start
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  if ('reason' in found) throw new Error(found.reason);
  const folder = mkdtempSync(join(tmpdir(), 'pg-'));
  const server = new Server(found, folder, options);
  try {
    await server.create();
    await server.start();
    const password = options.password === undefined ? '' : ` password ${pg.escapeLiteral(options.password)}`;
    await server.query(`create role ${GUARD_USER} login${password}`);
  } catch (error) {
    await server.remove();
    throw error;
  }
  return server;
}

class Server implements PostgresServer {
  readonly #installed: Installed;
  readonly #options: PostgresOptions;
  readonly folder: string;
  #process: ChildProcess | null = null;

  constructor(installed: Installed, folder: string, options: PostgresOptions) {
    this.#installed = installed;
    this.folder = folder;
    this.#options = options;
  }

  get #logFile(): string {
    return join(this.folder, 'log');
  }

  /** Creates the files of the server, which its user must own. */
  async create(): Promise<void> {
    const { password, tls, port } = this.#options;
    // Programs that run as other users must reach the socket.
    chmodSync(this.folder, 0o755);
    this.#giveToServer(this.folder);
    const passwordFile = join(this.folder, 'password');
    if (password !== undefined) await this.#write(passwordFile, password);
    const authentication =
      password === undefined ? ['--auth=trust'] : ['--auth=scram-sha-256', `--pwfile=${passwordFile}`];
    const data = join(this.folder, 'data');
    const args = ['-D', data, '-U', ADMINISTRATOR, '--encoding=UTF8', '--no-sync', ...authentication];
    this.#initialize([...args, ...this.#sorting()]);
    if (tls !== undefined) {
      await this.#write(join(this.folder, 'server.key'), tls.key);
      await this.#write(join(this.folder, 'server.crt'), tls.cert);
    }
    const settings = {
      ...SETTINGS,
      unix_socket_directories: this.folder,
      ...(port !== undefined && { listen_addresses: '127.0.0.1', port }),
      ...(tls !== undefined && {
        ...{ ssl: 'on', ssl_key_file: join(this.folder, 'server.key') },
        ssl_cert_file: join(this.folder, 'server.crt'),
      }),
      ...this.#options.settings,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    await this.#write(join(data, 'postgresql.auto.conf'), lines.join(''));
  }

  /** Texts are sorted by a language, as on most servers, so that a query shows if it relies on the order of bytes. */
  #sorting(): readonly string[] {
    const program = join(this.#installed.bin, 'postgres');
    const release = Number(/ (\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[1]);
    return release < 15 ? ['--locale=C'] : ['--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US'];
  }

  #initialize(args: readonly string[]): void {
    const { bin, user } = this.#installed;
    const { status, stdout, stderr } = spawnSync(join(bin, 'initdb'), args, { encoding: 'utf8', cwd: '/', ...user });
    if (status !== 0) throw new Error(`initdb: ${stdout}${stderr}`);
  }

  #giveToServer(path: string): void {
    const { user } = this.#installed;
    if (user !== null) chownSync(path, user.uid, user.gid);
  }

  async #write(file: string, text: string): Promise<void> {
    await writeFile(file, text, { mode: 0o600 });
    this.#giveToServer(file);
  }

  async start(): Promise<void> {
    const { bin, user } = this.#installed;
    const log = openSync(this.#logFile, 'a');
    const child = spawn('sh', ['-c', RUN, 'sh', join(bin, 'postgres'), '-D', join(this.folder, 'data')], {
      ...{ cwd: '/', stdio: ['ignore', log, log, 'pipe'], ...user },
    });
    closeSync(log);
    const pipe = child.stdio[3] as Writable;
    pipe.on('error', () => undefined);
    child.once('exit', () => pipe.end('\n'));
    child.once('error', () => pipe.destroy());
    this.#process = child;
    while (!(await this.#accepts())) {
      if (hasEnded(child)) throw new Error(`PostgreSQL did not start: ${this.log()}`);
      await pause(20);
    }
  }

  async #accepts(): Promise<boolean> {
    try {
      await this.query('select 1');
      return true;
    } catch {
      return false;
    }
  }

  stop(): Promise<void> {
    return this.#end('SIGINT');
  }

  async kill(): Promise<void> {
    const server = this.#process?.pid;
    const others = listProcesses().filter(({ parent }) => parent === server);
    await this.#end('SIGKILL');
    // They would end by themselves, but could finish a statement first.
    for (const { pid } of others) signalProcess(pid, 'SIGKILL');
    const pids = new Set(others.map(({ pid }) => pid));
    while (listProcesses().some(({ pid }) => pids.has(pid))) await pause(10);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || hasEnded(child) || child.pid === undefined) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  log(): string {
    return existsSync(this.#logFile) ? readFileSync(this.#logFile, 'utf8') : '';
  }

  url(database: string, { host, parameters }: { readonly host?: string; readonly parameters?: string } = {}): string {
    const { password, port } = this.#options;
    if (port === undefined) return toSocketUrl(this.folder, database);
    const user = password === undefined ? GUARD_USER : `${GUARD_USER}:${encodeURIComponent(password)}`;
    const url = `postgres://${user}@${host ?? '127.0.0.1'}:${port}/${database}`;
    return parameters === undefined ? url : `${url}?${parameters}`;
  }

  query<Row = Record<string, unknown>>(sql: string, values?: unknown[], database?: string): Promise<Row[]> {
    const { password, port } = this.#options;
    const server = {
      folder: this.folder,
      ...(port !== undefined && { port }),
      ...(password !== undefined && { password }),
    };
    return runAsAdministrator<Row>(server, sql, values, database);
  }

  async createDatabase(name: string, template?: string): Promise<void> {
    await this.query(toCreateDatabase(name, template));
  }
}

/**
 * Runs statements as the administrator of a server of `startPostgres`, which another process may have started.
 * @param server `folder` of its socket
 */
export async function runAsAdministrator<Row = Record<string, unknown>>(
  server: { readonly folder: string; readonly port?: number; readonly password?: string },
  sql: string,
  values: unknown[] = [],
  database = 'postgres',
): Promise<Row[]> {
  const { folder: host, ...rest } = server;
  const client = new pg.Client({ host, user: ADMINISTRATOR, database, port: 5432, ...rest });
  // A server that is stopped ends the connection, whose statement then fails.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql, values)).rows as Row[];
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The statement that creates a database, empty or a copy, for guard's user. */
export function toCreateDatabase(name: string, template = 'template1'): string {
  return `create database ${pg.escapeIdentifier(name)} template ${template} owner ${GUARD_USER}`;
}

/** The URL by which guard's user reaches a database through the Unix socket in a folder. */
export function toSocketUrl(folder: string, database: string): string {
  return `postgres:///${database}?host=${folder}&user=${GUARD_USER}`;
}

/** The running processes of this machine. */
function listProcesses(): readonly { readonly pid: number; readonly parent: number }[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state]) => state !== undefined && !state.startsWith('Z'))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
