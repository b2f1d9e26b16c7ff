import { describe, expect, it, onTestFinished } from 'vitest';
import type { TestDatabase } from '../../test/support/database.js';
import { suiteServer } from '../../test/support/postgres-databases.js';
import { postgresMissing, withoutPostgres } from '../../test/support/postgres-server.js';
import { eventually } from '../../test/support/scratch.js';
import { silentLogger } from '../lib/logger.js';
import { openGuardDatabase } from '../migrations.js';
import { createSettingsStore } from '../settings/settings-store.js';
import { createChangeFeed, getLatestVersion } from './change-feed.js';

/** The timer of a change feed that is to find nothing in these tests, milliseconds. */
const NEVER = 3_600_000;

describe.skipIf(postgresMissing !== null)(`changes by another process, in PostgreSQL${withoutPostgres}`, () => {
  const suite = suiteServer();

  async function follow(db: TestDatabase, pollMs: number) {
    const logger = silentLogger();
    const feed = createChangeFeed({ db, logger, from: await getLatestVersion(db), pollMs });
    onTestFinished(() => feed.close());
    const reported: string[] = [];
    feed.subscribe((site) => reported.push(site));
    return reported;
  }

  const write = (db: TestDatabase, site: string) =>
    createSettingsStore(db).write({
      site,
      changes: [{ name: 'x', before: 1, after: 0, expectedVersion: 0 }],
      actor: { id: null, login: 'command line', address: null },
      at: 5,
    });

  const listening = async (database: string) =>
    suite.server.query<{ pid: number }>(
      "select pid from pg_stat_activity where datname = $1 and query ilike 'listen%'",
      [database],
    );

  it('are reported at once, each of them', async () => {
    const database = await suite.createDatabase();
    const [one, other] = [await suite.open(database), await suite.open(database)];
    const reported = await follow(one, NEVER);
    await write(other, 'first');
    await eventually(() => reported.length === 1);
    await Promise.all(Array.from({ length: 30 }, (_, i) => write(other, `site-${i}`)));
    await eventually(() => reported.length === 31);
    expect(new Set(reported).size).toBe(31);
  });

  it('are reported when they were made while the connection for them was lost', async () => {
    const database = await suite.createDatabase();
    const [one, other] = [await suite.open(database), await suite.open(database)];
    const reported = await follow(one, NEVER);
    await eventually(async () => (await listening(database)).length === 1);
    const [{ pid } = { pid: 0 }] = await listening(database);
    await suite.server.query('select pg_terminate_backend($1)', [pid]);
    await write(other, 'meanwhile');
    await eventually(() => reported.includes('meanwhile'));
    await write(other, 'later');
    await eventually(() => reported.includes('later'));
  });

  it('are reported after the server was restarted', async () => {
    const database = await suite.createDatabase();
    const [one, other] = [await suite.open(database), await suite.open(database)];
    const reported = await follow(one, NEVER);
    await suite.server.stop();
    await suite.server.start();
    await eventually(() =>
      write(other, 'later').then(
        () => true,
        () => false,
      ),
    );
    await eventually(() => reported.includes('later'));
  });

  it('are found by the timer without notifications', async () => {
    const database = await suite.createDatabase();
    const [one, other] = [await suite.open(database), await suite.open(database)];
    const reported = await follow(one, 20);
    await other
      .insertInto('site_versions')
      .values({ site: 'silent', version: (await getLatestVersion(other)) + 1 })
      .execute();
    await eventually(() => reported.includes('silent'));
  });
});

describe.skipIf(postgresMissing !== null)(`a closed database in PostgreSQL${withoutPostgres}`, () => {
  const suite = suiteServer();

  async function openWithFeed() {
    const database = await suite.createDatabase();
    const url = suite.server.url(database);
    const db = await openGuardDatabase({ url, dataDir: '/nowhere', logger: silentLogger(), connections: 3 });
    const feed = createChangeFeed({ db, logger: silentLogger(), from: 0 });
    const sessions = () =>
      suite.server.query<{ pid: number }>('select pid from pg_stat_activity where datname = $1', [database]);
    await Promise.all(Array.from({ length: 3 }, (_, i) => createSettingsStore(db).read(`site-${i}`)));
    await eventually(async () => (await sessions()).length > 1);
    return { db, feed, sessions };
  }

  it('leaves no connection on the server', async () => {
    const { db, feed, sessions } = await openWithFeed();
    feed.close();
    await db.destroy();
    await eventually(async () => (await sessions()).length === 0);
    await expect(createSettingsStore(db).read('a')).rejects.toThrow();
  });

  it('does not wait for a server that answers nothing more', async () => {
    const { db, feed, sessions } = await openWithFeed();
    const pids = (await sessions()).map(({ pid }) => pid);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    const from = performance.now();
    feed.close();
    await db.destroy();
    const tookMs = performance.now() - from;
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    expect(tookMs).toBeLessThan(15_000);
  });
});

describe.skipIf(postgresMissing !== null)(`a guard that starts before PostgreSQL${withoutPostgres}`, () => {
  const suite = suiteServer();

  it('waits for it', async () => {
    const database = await suite.createDatabase();
    await suite.server.stop();
    const options = { url: suite.server.url(database), dataDir: '/nowhere', logger: silentLogger() };
    const opening = openGuardDatabase({ ...options, waitMs: 100_000 });
    await suite.server.start();
    const db = await opening;
    onTestFinished(() => db.destroy());
    expect(await createSettingsStore(db).read('a')).toEqual(new Map());
  });

  it('does not wait for a database that does not exist', async () => {
    const options = { url: suite.server.url('nothing'), dataDir: '/nowhere', logger: silentLogger() };
    await expect(openGuardDatabase({ ...options, waitMs: 100_000 })).rejects.toMatchObject({
      fault: 'cannot_open',
      detail: expect.stringContaining('database "nothing" does not exist'),
    });
  });
});
