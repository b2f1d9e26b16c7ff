import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../src/lib/logger.js';
import { openGuardDatabase } from '../src/migrations.js';
import { openSqlite } from '../src/storage/sqlite.js';
import { createFactorStore } from '../src/two-factor/factor-store.js';
import { bin, run, runIn, runInChild, serve } from './support/command-line.js';
import { fakeConnector } from './support/fake-connector.js';
import { type PostgresServer, postgresMissing, startPostgres, withoutPostgres } from './support/postgres-server.js';
import { callApi, dataFolderFor } from './support/running-guard.js';
import { eventually, scratchFolder } from './support/scratch.js';

/** The commands of the guide, one per line. */
function guideCommands(): readonly string[] {
  const guide = readFileSync(new URL('../../../docs/operator/postgresql.md', import.meta.url), 'utf8');
  const block = /^## Moving from SQLite$[\s\S]*?^```sh\n([\s\S]*?)^```$/m.exec(guide)?.[1] ?? '';
  return block.trim().split('\n');
}

const COMMAND = ['migrate', 'sqlite-to-postgres'];
const MIGRATOR = ['kysely_migration', 'kysely_migration_lock'];
const ROWS = 3;

interface SqliteColumn {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

/** A data folder whose SQLite database has the tables of this release, without rows. */
async function dataFolder(config: object = {}): Promise<string> {
  const dataDir = await scratchFolder();
  await writeFile(join(dataDir, 'guard.json'), JSON.stringify({ listen: '127.0.0.1:0', sites: [], ...config }));
  const options = { url: 'sqlite:guard.sqlite', dataDir, logger: silentLogger() };
  await (await openGuardDatabase(options)).destroy();
  return dataDir;
}

function sqlite<Result>(dataDir: string, work: (database: ReturnType<typeof openSqlite>) => Result): Result {
  const database = openSqlite(join(dataDir, 'guard.sqlite'), { busyTimeoutMs: 5000 });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

function listTables(dataDir: string): string[] {
  return sqlite(dataDir, (database) =>
    (
      database
        .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite!_%' escape '!'")
        .all() as { name: string }[]
    )
      .map(({ name }) => name)
      .filter((name) => !MIGRATOR.includes(name)),
  );
}

/** Texts that some databases or encodings do not keep. */
const TEXTS = ['', 'O\'Neil \\ "ü" 😀 \r\n\t %_', 'Z', 'a', '\u{ffff}\u{10ffff}', ' \u0001'];
const NUMBERS = [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];

/** Writes rows to every table that the database has, in an order other than that of their keys. */
function fillAllTables(dataDir: string): void {
  const tables = listTables(dataDir);
  sqlite(dataDir, (database) => {
    for (const table of tables) {
      const columns = database
        .prepare(`select * from pragma_table_info('${table}')`)
        .all() as unknown as SqliteColumn[];
      const places = columns.map(() => '?').join(', ');
      const insert = database.prepare(`insert into ${table} values (${places})`);
      for (let at = ROWS; at > 0; at--) {
        const values = columns.map((column, place) => {
          if (column.notnull === 0 && column.pk === 0 && at === 1) return null;
          if (/^(?:integer|bigint)$/i.test(column.type)) {
            return column.pk > 0 || column.name === 'version' ? at * 7 : (NUMBERS[(at + place) % NUMBERS.length] ?? 0);
          }
          expect(column.type.toLowerCase()).toBe('text');
          const text = TEXTS[(at + place) % TEXTS.length] ?? '';
          return column.pk > 0 || column.name === 'value' || column.name === 'site' ? `${text}${at}` : text;
        });
        insert.run(...values);
      }
    }
  });
}

/** All rows of a table, with numbers as text, in one order. */
function normalize(rows: readonly object[]): string[] {
  return rows
    .map((row) => JSON.stringify(Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toText(value)]))))
    .sort();
}

function toText(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : value;
}

function readSqlite(dataDir: string, table: string): string[] {
  return sqlite(dataDir, (database) => normalize(database.prepare(`select * from ${table}`).all() as object[]));
}

/** All rows of the SQLite database, and the configuration, for a comparison. */
function readAll(dataDir: string): Record<string, unknown> {
  const tables = [...listTables(dataDir), ...MIGRATOR, 'sqlite_master', 'sqlite_sequence'];
  const rows = Object.fromEntries(tables.map((name) => [name, readSqlite(dataDir, name)]));
  return { ...rows, config: readFileSync(join(dataDir, 'guard.json'), 'utf8') };
}

function addBlocks(dataDir: string, count: number): void {
  sqlite(dataDir, (database) => {
    database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
      insert into blocked_visitors (site, kind, value, visitor_id, name, created_at, by_id, by_login)
      select 'site', 'ip', printf('10.%d.%d.%d', i >> 16, (i >> 8) & 255, i & 255), 0, 'x', 1, 1, 'owner' from n`);
  });
}

describe.skipIf(postgresMissing !== null)(`migrate sqlite-to-postgres${withoutPostgres}`, () => {
  let server: PostgresServer;
  let databases = 0;

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.remove());

  /** An empty database. */
  async function target() {
    const name = `target_${++databases}`;
    await server.createDatabase(name);
    const url = server.url(name);
    const query = <Row = Record<string, unknown>>(text: string) => server.query<Row>(text, [], name);
    const countRows = async (tables: readonly string[]) => {
      let rows = 0;
      for (const table of tables) {
        const [found] = await query<{ found: string | null }>(`select to_regclass('${table}')::text as found`);
        if (found?.found != null) rows += (await query(`select 1 from ${table}`)).length;
      }
      return rows;
    };
    return { name, url, query, countRows };
  }

  /** A database with guard's tables, in which a trigger runs for each row that is written to a table. */
  async function targetWithTrigger(table: string, body: string) {
    const created = await target();
    await (await openGuardDatabase({ url: created.url, dataDir: '/', logger: silentLogger() })).destroy();
    await created.query(`create function interfere() returns trigger language plpgsql as $$ begin ${body} end $$`);
    await created.query(`create trigger interfere before insert on ${table} for each row execute function interfere()`);
    return created;
  }

  it('copies every row of every table, and changes neither the file nor the configuration', async () => {
    const dataDir = await dataFolder();
    fillAllTables(dataDir);
    const [before, { url, query }, tables] = [readAll(dataDir), await target(), listTables(dataDir)];
    const { status, stdout, stderr } = await runInChild(...COMMAND, '--data-dir', dataDir, '--to', url);
    expect([status, stderr]).toEqual([0, '']);
    expect(tables.length).toBeGreaterThan(25);
    for (const table of tables) {
      expect(stdout).toMatch(new RegExp(`^${table} +${ROWS}$`, 'm'));
      expect(normalize(await query(`select * from ${table}`))).toEqual(readSqlite(dataDir, table));
    }
    expect(stdout).toContain('1. Set `database` in guard.json');
    expect(readAll(dataDir)).toEqual(before);
  });

  it('gives no number again that SQLite has given, also of a deleted row', async () => {
    const dataDir = await dataFolder();
    addBlocks(dataDir, 12);
    sqlite(dataDir, (database) => database.exec('delete from blocked_visitors where id > 10'));
    const { url, query } = await target();
    expect((await runInChild(...COMMAND, '--data-dir', dataDir, '--to', url)).status).toBe(0);
    const [added] = await query<{ id: string }>(
      `insert into blocked_visitors (site, kind, value, visitor_id, name, created_at, by_login)
       values ('site', 'ip', 'next', 0, 'x', 1, 'owner') returning id`,
    );
    expect(Number(added?.id)).toBe(13);
  });

  it('reports texts with NUL characters, which PostgreSQL can’t store', async ({ skip }) => {
    const dataDir = await dataFolder();
    const isKept = sqlite(dataDir, (database) => {
      const insert = database.prepare('insert into site_facts (site, facts) values (?, ?)');
      for (const site of ['a\0', 'b\0c', 'd']) insert.run(site, `facts\0${site}`);
      const read = database.prepare('select site from site_facts order by site').all() as { site: string }[];
      return read.some(({ site }) => site === 'b\0c');
    });
    // Of the two libraries, node:sqlite stores them.
    if (!isKept) skip('this SQLite library ends texts at NUL');
    const { url, query } = await target();
    const { status, stdout } = await runInChild(...COMMAND, '--data-dir', dataDir, '--to', url);
    expect([status, stdout]).toEqual([0, expect.stringContaining('which is now U+FFFD: 5.')]);
    expect(await query('select site from site_facts')).toContainEqual({ site: 'b\uFFFDc' });
  });

  it('lets guard go on with settings, blocks and second factors, as the guide describes', async () => {
    const dataDir = await dataFolderFor(await fakeConnector(), {}, { trustedProxies: ['127.0.0.1'] });
    // The tests of guard on PostgreSQL name a database of their own there.
    const config = JSON.parse(readFileSync(join(dataDir, 'guard.json'), 'utf8'));
    await writeFile(join(dataDir, 'guard.json'), JSON.stringify({ ...config, database: undefined }));
    const before = await serve(dataDir);
    expect((await callApi(before.url, '/disable-feeds', { body: '{"disable_feed":1}' })).http).toBe(200);
    expect((await callApi(before.url, '/block-addresses', { body: '{"address":"203.0.113.9"}' })).http).toBe(200);
    before.child.kill();
    await once(before.child, 'exit');
    const owner = { site: 'site', userId: 1 };
    const source = await openGuardDatabase({ url: 'sqlite:guard.sqlite', dataDir, logger: silentLogger() });
    const setup = { login: 'owner', secret: 'encrypted', keyId: 'k', challenge: 'c', at: 1 };
    await createFactorStore(source).startSetup(owner, setup);
    await source.updateTable('second_factors').set({ enabled_at: 2, last_step: 5 }).execute();
    await source.destroy();

    const { url, query } = await target();
    const [stop, migrate = '', start] = guideCommands();
    expect([stop, start]).toEqual(['systemctl stop security-optimizer', 'systemctl start security-optimizer']);
    const args = migrate
      .replace('/var/lib/security-optimizer', dataDir)
      .replace(/'postgres:[^']+'/, url)
      .split(' ');
    expect(args.shift()).toBe('security-optimizer');
    const moved = await runInChild(...args);
    expect([moved.status, moved.stderr]).toEqual([0, '']);
    expect(moved.stdout).toContain('1. Start guard');
    expect(JSON.parse(readFileSync(join(dataDir, 'guard.json'), 'utf8'))).toMatchObject({ database: url });

    const guard = await serve(dataDir);
    const visit = (address: string) =>
      fetch(guard.url, { headers: { 'x-forwarded-for': address, accept: 'text/html' } });
    expect([(await visit('203.0.113.9')).status, (await visit('203.0.113.8')).status]).toEqual([403, 200]);
    expect(await (await visit('203.0.113.9')).text()).toContain('You are blocked from this site');
    expect((await fetch(`${guard.url}/feed/`)).status).toBe(404);
    expect((await callApi(guard.url, '/block-addresses', { body: '{"address":"203.0.113.8"}' })).http).toBe(200);
    expect((await visit('203.0.113.8')).status).toBe(403);
    expect((await query('select 1 from blocked_visitors')).length).toBe(2);
    const db = await openGuardDatabase({ url, dataDir, logger: silentLogger() });
    onTestFinished(() => db.destroy());
    expect(await createFactorStore(db).read(owner)).toMatchObject({ secret: 'encrypted', lastStep: 5, enabled: true });
  });

  it('finds the target in the environment, or in the configuration', async () => {
    for (const named of ['environment', 'configuration']) {
      const { url, query } = await target();
      const dataDir = await dataFolder(named === 'configuration' ? { database: url } : {});
      addBlocks(dataDir, 2);
      const env = named === 'environment' ? { SECURITY_OPTIMIZER_DATABASE: url } : {};
      const { status, stdout } = runIn(env, [...COMMAND, '--data-dir', dataDir]);
      expect([status, stdout]).toEqual([0, expect.stringContaining('1. Start guard')]);
      expect((await query('select 1 from blocked_visitors')).length).toBe(2);
    }
  });

  it('refuses a database with rows of guard, and changes nothing in it', async () => {
    const dataDir = await dataFolder();
    fillAllTables(dataDir);
    const { url, query } = await target();
    await query('create table first_starts (site text primary key, at bigint)');
    await query('alter table first_starts owner to guard');
    await query('create table of_another_program (id bigint)');
    await query("insert into first_starts values ('other', 1)");
    const { status, stdout, stderr } = await runInChild(...COMMAND, '--data-dir', dataDir, '--to', url);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain('has rows of guard already, in first_starts. Name an empty database.');
    expect(await query("select tablename from pg_tables where schemaname = 'public' order by 1")).toEqual([
      { tablename: 'first_starts' },
      { tablename: 'of_another_program' },
    ]);
  });

  it.each([
    [
      'drops a row',
      "if new.site = 'a' then return null; end if; return new;",
      '2 rows were written, but the target has 1',
    ],
    ['changes a row', "new.facts = 'other'; return new;", 'the rows of the target differ'],
    ['refuses a row', "raise exception 'no room';", 'no room'],
  ])('commits nothing when the target %s', async (_what, body, message) => {
    const dataDir = await dataFolder();
    sqlite(dataDir, (database) => {
      database.exec("insert into site_facts (site, facts) values ('a', 'x'), ('b', 'y')");
      database.exec("insert into first_starts values ('a', 1)");
    });
    const { url, countRows } = await targetWithTrigger('site_facts', body);
    const before = readAll(dataDir);
    const { status, stdout, stderr } = await runInChild(
      ...COMMAND,
      '--data-dir',
      dataDir,
      '--to',
      url,
      '--write-config',
    );
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain('site_facts: ');
    expect(stderr).toContain(message);
    expect(stderr).toContain('Nothing was copied');
    expect(await countRows(listTables(dataDir))).toBe(0);
    expect(readAll(dataDir)).toEqual(before);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGKILL', 'a lost connection'] as const)(
    'leaves the target empty after %s in the middle, and copies all when it is repeated',
    async (end) => {
      const dataDir = await dataFolder();
      fillAllTables(dataDir);
      // The last table: all others were written before.
      const last = listTables(dataDir).sort().at(-1) as string;
      const { name, url, query, countRows } = await targetWithTrigger(last, 'perform pg_sleep(1); return new;');
      const child = spawn(process.execPath, [bin, ...COMMAND, '--data-dir', dataDir, '--to', url]);
      const ended = once(child, 'exit');
      onTestFinished(() => void child.kill('SIGKILL'));
      const connections = () =>
        query<{ pid: number; wait_event: string }>(
          `select pid, wait_event from pg_stat_activity where datname = '${name}' and application_name = 'security-optimizer'`,
        );
      await eventually(async () => (await connections()).some(({ wait_event }) => wait_event === 'PgSleep'));
      if (end === 'a lost connection') {
        for (const { pid } of await connections()) await query(`select pg_terminate_backend(${pid})`);
      } else {
        child.kill(end);
      }
      const [code] = await ended;
      expect(code).not.toBe(0);
      await eventually(async () => (await connections()).length === 0);
      expect(await countRows(listTables(dataDir))).toBe(0);
      await query('drop function interfere cascade');
      expect((await runInChild(...COMMAND, '--data-dir', dataDir, '--to', url)).status).toBe(0);
      expect(await countRows(listTables(dataDir))).toBe(listTables(dataDir).length * ROWS);
    },
  );

  it('copies long tables in parts, and tells how far it is', async () => {
    const dataDir = await dataFolder();
    addBlocks(dataDir, 120_500);
    const { url, query } = await target();
    const { status, stdout, stderr } = await runInChild(...COMMAND, '--data-dir', dataDir, '--to', url);
    expect([status, stderr]).toEqual([0, 'blocked_visitors: 100000 of 120500 rows\n']);
    expect(stdout).toMatch(/^blocked_visitors +120500$/m);
    expect(await query('select count(distinct value)::int as count from blocked_visitors')).toEqual([
      { count: 120_500 },
    ]);
  });

  it('refuses while a guard runs on the data folder', async () => {
    const dataDir = await dataFolder();
    const lock = openSqlite(join(dataDir, 'guard.lock'), { busyTimeoutMs: 0 });
    onTestFinished(() => lock.close());
    lock.exec('begin exclusive');
    const { url, countRows } = await target();
    const { status, stderr } = await runInChild(...COMMAND, '--data-dir', dataDir, '--to', url);
    expect([status, stderr]).toEqual([1, expect.stringContaining('Stop it first')]);
    expect(await countRows(MIGRATOR)).toBe(0);
  });

  it('names a server that can’t be reached, and a database that does not exist', async () => {
    const dataDir = await dataFolder();
    const nowhere = await runInChild(...COMMAND, '--data-dir', dataDir, '--to', 'postgres://guard@127.0.0.1:1/guard');
    expect([nowhere.status, nowhere.stderr]).toEqual([1, expect.stringContaining('unreachable')]);
    const missing = await runInChild(...COMMAND, '--data-dir', dataDir, '--to', server.url('missing'));
    expect([missing.status, missing.stderr]).toEqual([1, expect.stringContaining('"missing" does not exist')]);
  });
});

describe('migrate sqlite-to-postgres', () => {
  it('requires a PostgreSQL database, a configuration and a database file', async () => {
    const dataDir = await dataFolder();
    const without = runIn({ SECURITY_OPTIMIZER_DATABASE: '' }, [...COMMAND, '--data-dir', dataDir]);
    expect([without.status, without.stderr]).toEqual([2, expect.stringContaining('Name the PostgreSQL database')]);
    const other = run(...COMMAND, '--data-dir', dataDir, '--to', 'sqlite:other.sqlite');
    expect([other.status, other.stderr]).toEqual([2, expect.stringContaining('name a PostgreSQL database')]);
    const args = ['--data-dir', await scratchFolder(), '--to', 'postgres://guard@127.0.0.1:1/guard'];
    expect(run(...COMMAND, ...args)).toMatchObject({ status: 1, stderr: expect.stringContaining('guard.json') });
    await writeFile(join(args[1] ?? '', 'guard.json'), '{}');
    expect(run(...COMMAND, ...args)).toMatchObject({ status: 1, stderr: expect.stringContaining('does not exist') });
    expect(readdirSync(args[1] ?? '')).not.toContain('guard.sqlite');
  });
});
