import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { describeDatabase, type PostgresAddress, parsePostgresUrl } from '../config/database-url.js';
import { AddressSet } from '../lib/address-set.js';
import { createVisitorListReader } from '../lib/carried-address.js';
import type { Logger } from '../lib/logger.js';
import { endsConnection, toPostgresError } from './postgres-errors.js';
import { StorageError } from './storage-error.js';

/** How long a connection may take, and how long a statement waits for a free one, milliseconds. */
const CONNECT_TIMEOUT_MS = 5000;
/** How long a statement may run, milliseconds. Guard's own statements take a few milliseconds. */
const STATEMENT_TIMEOUT_MS = 15_000;
/** How long a statement waits for the lock of another transaction, milliseconds. */
const LOCK_TIMEOUT_MS = 10_000;
/** After this time without a statement the server ends a transaction whose process has gone, milliseconds. */
const IDLE_TRANSACTION_MS = 20_000;
/** For a server that no longer answers: later than the server's own limit, milliseconds. */
const READ_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5000;
const IDLE_CONNECTION_MS = 60_000;
/** How long connections may take to end, milliseconds. */
const CLOSE_TIMEOUT_MS = 2000;

/** Pauses between attempts to connect while the server can't be reached, milliseconds: doubled up to the maximum. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** Pause before a connection is requested again from a server that has no more, milliseconds. */
const FULL_PAUSE_MS = 100;

/** Type ids of int8 and numeric. Guard's numbers are exact as JavaScript numbers. */
const NUMBER_TYPES: ReadonlySet<number> = new Set([20, 1700]);
const types = {
  getTypeParser: ((id: number, format?: 'text') =>
    NUMBER_TYPES.has(id) ? Number : pg.types.getTypeParser(id, format)) as typeof pg.types.getTypeParser,
};

export interface PostgresOptions {
  /** `postgres://…`, valid. */
  readonly url: string;
  /** Files in the URL are relative to it. */
  readonly dataDir: string;
  /** Maximum number of connections. */
  readonly connections: number;
  /** Whether transactions may only read. */
  readonly readOnly?: boolean;
}

/** The server could not be reached at the last attempt. */
interface Outage extends Pick<StorageError, 'fault' | 'detail'> {
  readonly pauseMs: number;
  /** Until then statements fail at once, by `performance.now()`. */
  readonly retryAt: number;
  /** Whether a statement tries to connect. */
  readonly isTrying: boolean;
}

/** A connection that is in use by one caller. */
export interface PostgresConnection {
  /**
   * Runs one statement.
   * @throws StorageError
   */
  execute(sql: string, parameters: readonly unknown[]): Promise<PostgresResult>;
  release(): void;
}

export interface PostgresResult {
  readonly rows: Record<string, unknown>[];
  /** Rows that were changed; null for a statement that changes none. */
  readonly changes: number | null;
}

/**
 * Connections to a PostgreSQL server. After a lost connection the next statement connects again; while the server can't
 * be reached, statements fail at once, except one at growing intervals, which tries again.
 */
export class PostgresPool {
  readonly kind = 'postgres';
  readonly #options: pg.PoolConfig;
  readonly #pool: pg.Pool;
  /** All open connections. */
  readonly #clients = new Set<pg.Client | pg.PoolClient>();
  readonly #listeners = new Set<() => Promise<void>>();
  readonly #logger: Logger;
  /** Names the server in messages. */
  readonly server: string;
  #running = 0;
  #closed = false;
  #outage: Outage | null = null;

  private constructor(options: pg.PoolConfig, server: string, logger: Logger) {
    this.#options = options;
    this.#pool = new pg.Pool(options);
    this.#pool.on('connect', (client) => this.#clients.add(client));
    this.#pool.on('remove', (client) => this.#clients.delete(client));
    this.server = server;
    this.#logger = logger;
    // An idle connection has ended, and the pool has removed it. Only a failed attempt to connect is an outage.
    this.#pool.on('error', () => undefined);
  }

  /**
   * Prepares connections; the first statement connects.
   * @throws StorageError when a file of the URL can't be read
   */
  static async open(options: PostgresOptions, logger: Logger): Promise<PostgresPool> {
    const address = parsePostgresUrl(options.url);
    const server = describeDatabase(options.url);
    if ('mistake' in address) throw new StorageError('cannot_open', `${server}: ${address.mistake}`);
    const { host, port, database } = address;
    const settings: pg.PoolConfig = {
      ...{ host, port, database, user: address.user ?? process.env.PGUSER ?? findSystemUser(server) },
      password: () => readPassword(address, options.dataDir),
      ssl: await readTls(address, options.dataDir, server),
      max: options.connections,
      application_name: 'security-optimizer',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
      query_timeout: READ_TIMEOUT_MS,
      keepAlive: true,
      types,
      // What is acknowledged must survive a crash of the server, whatever the server's default is.
      options: `-c synchronous_commit=on${options.readOnly === true ? ' -c default_transaction_read_only=on' : ''}`,
    };
    return new PostgresPool(settings, server, logger);
  }

  /** Statements that have not ended. */
  get waiting(): number {
    return this.#running;
  }

  /** Runs one statement on any connection. @throws StorageError */
  async execute(sql: string, parameters: readonly unknown[]): Promise<PostgresResult> {
    const connection = await this.acquire();
    try {
      return await connection.execute(sql, parameters);
    } finally {
      connection.release();
    }
  }

  /** Reads a long list of addresses and ranges; see `AddressListCall`. @throws StorageError */
  async addressList(
    queries: readonly { readonly sql: string; readonly parameters: readonly unknown[] }[],
  ): Promise<AddressSet> {
    const read = createVisitorListReader();
    for (const { sql, parameters } of queries) {
      for (let after = ''; ; ) {
        const { rows } = await this.execute(sql, [...parameters, after, ROWS_PER_QUERY]);
        const { last, lines } = rows[0] as { last: string | null; lines: string | null };
        if (last === null || lines === null) break;
        read.addText(lines);
        after = last;
      }
    }
    return AddressSet.unpack(read.pack());
  }

  /** Takes a connection; the caller releases it. @throws StorageError */
  async acquire(): Promise<PostgresConnection> {
    this.#running++;
    try {
      return this.#lend(await this.#connect());
    } catch (error) {
      this.#running--;
      throw error;
    }
  }

  /** Ends all connections, once their statements have ended. Later statements fail with `closed`. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const ended = Promise.all([...this.#listeners].map((stop) => stop())).then(() => this.#pool.end());
    // A server that has gone without a word never confirms the end.
    const timer = setTimeout(() => {
      for (const client of this.#clients) destroySocket(client);
    }, CLOSE_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
  }

  /**
   * Waits for a server that is about to start, at most this long.
   * @throws StorageError, at once when waiting can't help
   */
  async waitUntilReachable(ms: number): Promise<void> {
    for (const deadline = performance.now() + ms; ; ) {
      try {
        await this.execute('select 1', []);
        return;
      } catch (error) {
        const { fault } = error as StorageError;
        if ((fault !== 'unreachable' && fault !== 'too_many_connections') || performance.now() > deadline) throw error;
      }
      await pause(FULL_PAUSE_MS);
    }
  }

  /**
   * Listens to a channel on a connection of its own, until the pool is closed. A lost connection is replaced at growing
   * intervals. Notifications are only a hint: some are lost with a connection.
   *
   * @param onNotification called for each notification, and whenever the connection was made
   */
  listen(channel: string, onNotification: () => void): void {
    const stopping = new AbortController();
    let client: pg.Client | null = null;
    const connect = async () => {
      const opened = new pg.Client(this.#options);
      client = opened;
      this.#clients.add(opened);
      const ended = new Promise<void>((resolve) => opened.once('end', resolve));
      void ended.then(() => this.#clients.delete(opened));
      // The connection ends with any error.
      opened.on('error', () => void opened.end().catch(() => undefined));
      opened.on('notification', onNotification);
      await opened.connect();
      await opened.query(`listen ${channel}`);
      onNotification();
      await ended;
    };
    const run = async () => {
      for (let pauseMs = FIRST_PAUSE_MS; !stopping.signal.aborted; ) {
        const began = performance.now();
        // The outage is logged by the statements that fail.
        await connect().catch(() => undefined);
        await client?.end().catch(() => undefined);
        if (performance.now() - began > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
        await pause(pauseMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
    };
    const running = run();
    this.#listeners.add(async () => {
      stopping.abort();
      await client?.end().catch(() => undefined);
      await running;
    });
  }

  async #connect(): Promise<pg.PoolClient> {
    const deadline = performance.now() + CONNECT_TIMEOUT_MS;
    for (;;) {
      if (this.#closed) throw new StorageError('closed', 'The storage is closed.');
      const outage = this.#outage;
      if (outage !== null && this.#pool.idleCount === 0) {
        const now = performance.now();
        if (now < outage.retryAt) throw new StorageError(outage.fault, outage.detail);
        // The attempt of this statement; others fail until it has ended.
        this.#outage = { ...outage, retryAt: now + CONNECT_TIMEOUT_MS, isTrying: true };
      }
      try {
        const client = await this.#pool.connect();
        this.#noteReached();
        return client;
      } catch (cause) {
        const error = toPostgresError(cause, this.server);
        // Others use the connections that the server has: one of theirs may soon be free.
        const mayWait = error.fault === 'too_many_connections' && performance.now() < deadline;
        if (!mayWait) {
          // Own connections are all in use: that says nothing about the server.
          if (error.fault !== 'timeout') this.#noteOutage(error);
          throw error;
        }
      }
      await pause(FULL_PAUSE_MS);
    }
  }

  #lend(client: pg.PoolClient): PostgresConnection {
    let broken = false;
    // Without a listener the error of a connection in use would end the process. Its statement fails with it.
    const onError = () => {
      broken = true;
    };
    client.on('error', onError);
    return {
      execute: async (sql, parameters) => {
        try {
          const { rows, rowCount, command } = await client.query(sql, parameters.map(toStorable));
          return { rows: rows ?? [], changes: CHANGING.has(command) ? (rowCount ?? 0) : null };
        } catch (cause) {
          const error = toPostgresError(cause, this.server);
          if (endsConnection(error.fault, cause)) broken = true;
          throw error;
        }
      },
      release: () => {
        this.#running--;
        client.off('error', onError);
        client.release(broken);
      },
    };
  }

  #noteOutage({ fault, detail }: StorageError): void {
    if (this.#closed) return;
    // Logged once per outage.
    if (this.#outage === null) {
      this.#logger.error(
        { event: 'database-unreachable', fault, reason: detail },
        'The database can’t be reached; guard tries again.',
      );
    } else if (!this.#outage.isTrying) return; // Another attempt of the same moment.
    const pauseMs = this.#outage === null ? FIRST_PAUSE_MS : Math.min(this.#outage.pauseMs * 2, LONGEST_PAUSE_MS);
    this.#outage = { fault, detail, pauseMs, retryAt: performance.now() + pauseMs, isTrying: false };
  }

  #noteReached(): void {
    if (this.#outage === null) return;
    this.#outage = null;
    this.#logger.warn({ event: 'database-reached' }, 'The database can be reached again.');
  }
}

/** Ends a connection at once. The library has no function for it. */
function destroySocket(client: pg.Client | pg.PoolClient): void {
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream.destroy();
}

const CHANGING: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/** Rows that one query joins into a text. Reading the text takes a few milliseconds, in which requests wait. */
const ROWS_PER_QUERY = 10_000;

/** PostgreSQL stores no NUL in a text; the replacement is the same when the text is stored and when it is looked up. */
function toStorable(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
}

/** @throws StorageError for a process whose user has no name, as in some containers */
function findSystemUser(server: string): string {
  try {
    return userInfo().username;
  } catch (cause) {
    throw new StorageError('cannot_open', `${server}: name a user, as in postgres://USER@…`, { cause });
  }
}

/** Read for each connection, so that a changed file needs no restart. */
async function readPassword({ password, passwordFile }: PostgresAddress, dataDir: string): Promise<string> {
  if (password !== null) return password;
  if (passwordFile !== null) {
    const text = await readFile(resolve(dataDir, passwordFile), 'utf8').catch((error: Error) => {
      throw new Error(`the password can’t be read: ${error.message}`);
    });
    return text.replace(/\r?\n$/, '');
  }
  const named = process.env.PGPASSWORD;
  if (named !== undefined) return named;
  throw new Error('the server asks for a password; name a file with it: ?passwordfile=FILE');
}

async function readTls(address: PostgresAddress, dataDir: string, server: string): Promise<pg.PoolConfig['ssl']> {
  if (address.sslMode === 'disable') return false;
  const read = async (file: string | null) => {
    if (file === null) return undefined;
    try {
      return await readFile(resolve(dataDir, file), 'utf8');
    } catch (error) {
      throw new StorageError('cannot_open', `${server}: ${(error as Error).message}`, { cause: error });
    }
  };
  const [ca, cert, key] = [
    await read(address.rootCertificate),
    await read(address.certificate),
    await read(address.key),
  ];
  return {
    rejectUnauthorized: address.sslMode === 'verify-full',
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}
