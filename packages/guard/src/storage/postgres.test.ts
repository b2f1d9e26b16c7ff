import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { recordedLog } from '../../test/support/logs.js';
import { suiteServer } from '../../test/support/postgres-databases.js';
import { postgresMissing, withoutPostgres } from '../../test/support/postgres-server.js';
import { eventually } from '../../test/support/scratch.js';
import { silentLogger } from '../lib/logger.js';
import { openGuardDatabase } from '../migrations.js';
import { createSettingsStore } from '../settings/settings-store.js';
import { inTransaction } from './database.js';
import type { StorageError } from './storage-error.js';

/** Longer than any statement of a test takes on a busy machine, and shorter than a hanging one, milliseconds. */
const BOUND_MS = 15_000;

const change = (name: string, expectedVersion = 0) => ({
  site: 'a',
  changes: [{ name, before: 1, after: 0, expectedVersion }],
  actor: { id: 1, login: 'owner', address: null },
  at: 5,
});

const getFault = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: StorageError) => error.fault,
  );

describe.skipIf(postgresMissing !== null)(`a database in PostgreSQL${withoutPostgres}`, () => {
  const suite = suiteServer();

  async function prepare() {
    const database = await suite.createDatabase();
    const log = recordedLog();
    const db = await suite.open(database, { logger: log.logger });
    const terminate = () =>
      suite.server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database]);
    const ended = () =>
      eventually(async () => {
        const sessions = 'select 1 from pg_stat_activity where datname = $1';
        return (await suite.server.query(sessions, [database])).length === 0;
      });
    return { database, db, log, settings: createSettingsStore(db), terminate, ended };
  }

  it('works at once after the server has ended an idle connection', async () => {
    const { settings, terminate } = await prepare();
    await settings.write(change('x'));
    await terminate();
    // The end of the connection may arrive with the first statement, which then fails.
    const faults = [await getFault(settings.write(change('y'))), await getFault(settings.write(change('z')))];
    expect(['none', 'unreachable']).toContain(faults[0]);
    expect(faults[1]).toBe('none');
    expect((await settings.read('a')).size).toBe(faults[0] === 'none' ? 3 : 2);
  });

  it('works after the server has ended a connection that nobody used, without a failed statement', async () => {
    const { settings, terminate, ended, db } = await prepare();
    await settings.write(change('x'));
    await terminate();
    await ended();
    await settings.write(change('y'));
    expect(await sql`select 1`.execute(db)).toMatchObject({ rows: [{}] });
  });

  it('rolls a transaction back whose connection the server ends, and the next one works', async () => {
    const { db, settings, terminate } = await prepare();
    const transaction = inTransaction(db, 'a', async (open) => {
      await open.insertInto('site_versions').values({ site: 'a', version: 77 }).execute();
      await terminate();
      await open.insertInto('site_versions').values({ site: 'b', version: 78 }).execute();
    });
    expect(await getFault(transaction)).toBe('unreachable');
    await settings.write(change('x'));
    expect(await db.selectFrom('site_versions').selectAll().execute()).toEqual([{ site: 'a', version: 1 }]);
  });

  it('ends a statement that runs too long, and the connection works on', async () => {
    const { database, db } = await prepare();
    expect((await sql`show statement_timeout`.execute(db)).rows).toEqual([{ statement_timeout: '15s' }]);
    const single = await suite.open(database, { connections: 1 });
    await sql`set statement_timeout = 50`.execute(single);
    const sleeping = sql`select pg_sleep(600)`.execute(single);
    await expect(sleeping).rejects.toMatchObject({ code: 'storage_unavailable', fault: 'timeout' });
    expect((await sql`show statement_timeout`.execute(single)).rows).toEqual([{ statement_timeout: '50ms' }]);
  });

  it('does not wait for another transaction of the same site for ever', async () => {
    const { database, db } = await prepare();
    expect((await sql`show lock_timeout`.execute(db)).rows).toEqual([{ lock_timeout: '10s' }]);
    const single = await suite.open(database, { connections: 1 });
    await sql`set lock_timeout = 50`.execute(single);
    const work = async () => 'done';
    await inTransaction(db, 'a', async () => {
      await expect(inTransaction(single, 'a', work)).rejects.toMatchObject({ fault: 'timeout' });
      // Those of other sites are not delayed.
      expect(await inTransaction(single, 'b', work)).toBe('done');
    });
    expect(await inTransaction(single, 'a', work)).toBe('done');
  });

  it('waits for a free connection of its own, up to a limit', async () => {
    const { database } = await prepare();
    const db = await suite.open(database, { connections: 1 });
    const results = await Promise.all(Array.from({ length: 20 }, () => sql`select 1`.execute(db)));
    expect(results).toHaveLength(20);
    await db.connection().execute(async () => {
      expect(await getFault(sql`select 1`.execute(db))).toBe('timeout');
    });
    await sql`select 1`.execute(db);
  });

  it('stores U+FFFD for a NUL, and finds it by the same text', async () => {
    const { db, settings } = await prepare();
    const login = 'ow\0ner';
    await settings.write({ ...change('x\0'), actor: { id: 1, login, address: null } });
    const found = await db.selectFrom('audit').select('actor_login').where('actor_login', '=', login).execute();
    expect(found).toEqual([{ actor_login: 'ow\uFFFDner' }]);
    expect([...(await settings.read('a')).keys()]).toEqual(['x\uFFFD']);
    await settings.write(change('x\0', 1));
    expect((await settings.read('a')).get('x\uFFFD')?.version).toBe(2);
  });

  it('sorts texts by their bytes, whatever the language of the server', async () => {
    const { db } = await prepare();
    const sites = ['_', 'B', 'a', 'é', 'Z', '1'];
    for (const [version, site] of sites.entries()) {
      await db.insertInto('site_versions').values({ site, version }).execute();
    }
    const rows = await db.selectFrom('site_versions').select('site').orderBy('site').execute();
    expect(rows.map(({ site }) => site)).toEqual(['1', 'B', 'Z', '_', 'a', 'é']);
  });
});

describe.skipIf(postgresMissing !== null)(`a PostgreSQL server that is stopped${withoutPostgres}`, () => {
  // What was confirmed survives a crash.
  const suite = suiteServer({ settings: { synchronous_commit: 'on' } });

  it.each(['stop', 'kill'] as const)(
    'lets each statement fail within a bounded time (%s), and works again by itself',
    async (how) => {
      const { server } = suite;
      const database = await suite.createDatabase();
      const log = recordedLog();
      const db = await suite.open(database, { logger: log.logger });
      const settings = createSettingsStore(db);
      await settings.write(change('x'));
      const open = inTransaction(db, 'b', async (transaction) => {
        await transaction.insertInto('site_versions').values({ site: 'b', version: 99 }).execute();
        await server[how]();
        await transaction.insertInto('site_versions').values({ site: 'c', version: 98 }).execute();
      });
      expect(await getFault(open)).toBe('unreachable');
      const from = performance.now();
      const statements = Array.from({ length: 20 }, (_, i) => settings.write({ ...change(`y${i}`), site: `s${i}` }));
      const failures = await Promise.allSettled([...statements, settings.read('a')]);
      expect(performance.now() - from).toBeLessThan(BOUND_MS);
      for (const failure of failures) {
        expect(failure).toMatchObject({ reason: { code: 'storage_unavailable', fault: 'unreachable' } });
        expect((failure as { reason: StorageError }).reason.detail).toContain(
          `postgres:///${database}?host=${server.folder}`,
        );
      }
      await server.start();
      await eventually(async () => (await getFault(settings.read('a'))) === 'none');
      await settings.write(change('x', 1));
      expect(await db.selectFrom('site_versions').selectAll().execute()).toEqual([{ site: 'a', version: 2 }]);
      expect(log.events()).toEqual(['database-unreachable', 'database-reached']);
    },
  );

  it('is no reason to wait for a guard that starts', async () => {
    const database = await suite.createDatabase();
    await suite.server.stop();
    const from = performance.now();
    const opening = openGuardDatabase({ url: suite.server.url(database), dataDir: '/nowhere', logger: silentLogger() });
    expect(await getFault(opening)).toBe('unreachable');
    expect(performance.now() - from).toBeLessThan(BOUND_MS);
    await suite.server.start();
    await suite.open(database);
  });
});

describe('a server that accepts connections and never answers', () => {
  it('is reported as unreachable within a bounded time', async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const url = `postgres://guard@127.0.0.1:${(server.address() as AddressInfo).port}/guard`;
    const from = performance.now();
    const opening = openGuardDatabase({ url, dataDir: '/nowhere', logger: silentLogger() });
    await expect(opening).rejects.toMatchObject({ fault: 'unreachable', detail: expect.stringContaining(url) });
    expect(performance.now() - from).toBeLessThan(BOUND_MS);
  });
});

describe.skipIf(postgresMissing !== null)(`a PostgreSQL server with few connections${withoutPostgres}`, () => {
  const suite = suiteServer({ settings: { max_connections: 10 } });

  it('is reported when it has none left, and used again when there are', async () => {
    const database = await suite.createDatabase();
    const db = await suite.open(database, { connections: 1 });
    const others = await suite.open(database, { connections: 6 });
    let free = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    const holding = Array.from({ length: 6 }, () => others.connection().execute(() => held));
    await eventually(async () => {
      const [row] = await suite.server.query<{ n: number }>(
        'select count(*)::int as n from pg_stat_activity where datname = $1',
        [database],
      );
      return row?.n === 7;
    });
    const openMore = () =>
      openGuardDatabase({ url: suite.server.url(database), dataDir: '/nowhere', logger: silentLogger() });
    await expect(openMore()).rejects.toMatchObject({ code: 'storage_unavailable', fault: 'too_many_connections' });
    expect(await getFault(sql`select 1`.execute(db))).toBe('none');
    // A statement that waits gets a connection as soon as the server has one.
    const waiting = openMore();
    free();
    await Promise.all(holding);
    await others.destroy();
    await (await waiting).destroy();
  });
});
