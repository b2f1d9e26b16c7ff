import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bin, type Outcome, serve, waitForOutcome } from '../../test/support/command-line.js';
import type { TestDatabase } from '../../test/support/database.js';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { freePort } from '../../test/support/front-proxy.js';
import { addPersonRows, EMAIL, OTHER, PASSWORD_HASH, PERSON, SECRET_KEY } from '../../test/support/person-rows.js';
import {
  type PostgresServer,
  postgresMissing,
  startPostgres,
  withoutPostgres,
} from '../../test/support/postgres-server.js';
import { callApi, dataFolderFor } from '../../test/support/running-guard.js';
import { eventually, scratchFolder } from '../../test/support/scratch.js';
import { configFile } from '../config/config-file.js';
import { silentLogger } from '../lib/logger.js';
import { openGuardDatabase } from '../migrations.js';
import { openSqlite, type SqliteDatabase } from '../storage/sqlite.js';
import { hasSiteRows } from './erase.js';
import { newSiteId } from './site-entry.js';

/** The commands, with guard's settings in PostgreSQL. */

const PASSWORD = 'p@ss/word-of-the-database';
const VARIABLE = 'SECURITY_OPTIMIZER_DATABASE';

let server: PostgresServer;
let databases = 0;

beforeAll(async () => {
  if (postgresMissing === null) server = await startPostgres({ port: await freePort(), password: PASSWORD });
});
afterAll(() => server?.remove());

/** A new database, as its URL. */
async function newDatabase(): Promise<string> {
  databases++;
  await server.createDatabase(`commands_${databases}`);
  return server.url(`commands_${databases}`);
}

/** A site whose settings are in a new database, and the commands on its data folder. */
async function postgresSite(config: object = {}, { inEnvironment = false } = {}) {
  const connector = await fakeConnector();
  const url = await newDatabase();
  const settings = { ...(inEnvironment ? {} : { database: url }), trustedProxies: ['127.0.0.1'], ...config };
  const dataDir = await dataFolderFor(connector, {}, settings);
  await chmod(join(dataDir, 'guard.json'), 0o600);
  const env = inEnvironment ? { [VARIABLE]: url } : {};
  return {
    ...{ connector, url, dataDir, env },
    command: (...args: string[]) => runWith(env, ...args, '--data-dir', dataDir),
    database: async (): Promise<TestDatabase> => {
      const db = await openGuardDatabase({ url, dataDir, logger: silentLogger() });
      onTestFinished(() => db.destroy());
      return db;
    },
  };
}

function runWith(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Outcome> {
  const child = spawn(process.execPath, [bin, ...args], {
    ...{ stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } },
  });
  return waitForOutcome(child);
}

/** How a password may occur in a text. */
const HIDDEN = [PASSWORD, encodeURIComponent(PASSWORD)];

function expectHidden(...texts: readonly string[]): void {
  for (const text of texts) for (const hidden of HIDDEN) expect(text).not.toContain(hidden);
}

/** A database by which messages name it. */
const toNamed = (url: string) => url.replace(/:[^:@/]+@/, '@');

/** Every row of every table, as JSON. */
async function readAll(db: TestDatabase, except: readonly string[] = []): Promise<string> {
  const tables = (await db.introspection.getTables()).map(({ name }) => name).filter((name) => !except.includes(name));
  const rows = tables.map((name) =>
    db
      .selectFrom(name as 'audit')
      .selectAll()
      .execute(),
  );
  return JSON.stringify(await Promise.all(rows));
}

/** Commands that open the database, most of them to change it. */
const CHANGING: readonly (readonly string[])[] = [
  ['privacy', 'export', '--user', '7'],
  ['privacy', 'erase', '--user', '7', '--yes'],
  ['erase', '--site', 'gone'],
  ['settings', 'export'],
  ['two-factor', 'reset', 'mia'],
  ['unblock', OTHER],
  ['resume'],
];

/** The Activity Log, once guard has its tables. */
async function openLog(dataDir: string): Promise<SqliteDatabase> {
  const file = join(dataDir, 'activity.sqlite');
  await eventually(() => existsSync(file));
  const log = openSqlite(file, { busyTimeoutMs: 5000, readOnly: true });
  onTestFinished(() => log.close());
  await eventually(() => log.prepare(`select 1 from sqlite_master where name = 'attackers'`).get() !== undefined);
  return log;
}

const listVisitors = (log: SqliteDatabase) =>
  (log.prepare('select name from visitors').all() as { name: string }[]).map(({ name }) => name);

const PERSON_OPTIONS = ['--address', PERSON, '--user', 'person', '--email', EMAIL];

describe.skipIf(postgresMissing !== null)(`with PostgreSQL${withoutPostgres}`, () => {
  describe('privacy', () => {
    it('exports a person, without secrets', async () => {
      const { command, database } = await postgresSite();
      await addPersonRows(await database());
      const { status, stdout, stderr } = await command('privacy', 'export', 'site', ...PERSON_OPTIONS);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const data = JSON.parse(stdout);
      expect(data.person).toEqual({ address: PERSON, user: { id: 7, logins: ['person'] }, email: EMAIL });
      expect(data.settings_database).toMatchObject({
        two_factor: [{ login: 'Person', set_up: true, backup_codes_left: 0 }],
        trusted_browsers: [{}],
        failed_logins: [{ key: PERSON, failures: 2 }],
        changes: [
          { by: 'person', name: 'disable_feed' },
          { name: 'block_visitor', before: [], after: [{ name: PERSON }] },
        ],
        jobs: [{ named: [{ login: 'person' }, { name: 'person' }] }],
        removed_files: [{ file: '/uploads/a.php', by: 'Person' }],
        known_logins: [{ from: 'network:192.0.2.0/24' }],
        alerts: [{ channel: EMAIL }],
        reports: [{ state: 'sent' }],
      });
      for (const hidden of [SECRET_KEY, PASSWORD_HASH, `"${OTHER}"`, 'owner', 'editor']) {
        expect(stdout).not.toContain(hidden);
      }
    });

    it('erases a person in both databases while guard runs, and guard’s memory does not restore the data', async () => {
      const { dataDir, command, database } = await postgresSite();
      const guard = await serve(dataDir);
      const db = await database();
      await addPersonRows(db);
      const visit = (path: string) => fetch(`${guard.url}${path}`, { headers: { 'x-forwarded-for': PERSON } });
      expect((await callApi(guard.url, '/disable-feeds', { body: '{"disable_feed":1}' })).http).toBe(200);
      await Promise.all(['/1/', '/2/', '/3/'].map(visit));
      const log = await openLog(dataDir);
      await eventually(() => listVisitors(log).includes(PERSON));
      const before = await db.selectFrom('site_versions').selectAll().execute();
      const { status, stdout, stderr } = await command('privacy', 'erase', ...PERSON_OPTIONS, '--yes');
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatch(/^Erased or anonymised: .*visits \d/);
      expect(stdout).toContain('Kept: Person has a second factor');
      expect(stdout).toContain('the write-ahead log and the back-ups of the PostgreSQL server');

      expect(await db.selectFrom('login_attempts').select('key').execute()).toEqual([{ key: OTHER }]);
      expect(await db.selectFrom('login_unlocks').selectAll().execute()).toEqual([]);
      const [version] = await db.selectFrom('site_versions').selectAll().where('site', '=', 'site').execute();
      expect(version?.version).toBeGreaterThan(Math.max(...before.map((row) => row.version)));
      const rest = await readAll(db, ['second_factors']);
      expect(rest).toContain('personal_data_erased');
      for (const name of [PERSON, EMAIL, 'erson"']) expect(rest).not.toContain(name);
      expect(listVisitors(log)).not.toContain(PERSON);
      expect((await command('privacy', 'erase', ...PERSON_OPTIONS, '--yes')).stdout).toMatch(
        /^Nothing to erase is stored\.\nKept: /,
      );
    });
  });

  describe('erase', () => {
    /** Adds rows of a site to every table that has some; the types are found in the database. */
    async function fill(db: TestDatabase, site: string, rows: number): Promise<readonly string[]> {
      const tables = (await db.introspection.getTables()).filter(({ columns }) =>
        columns.some(({ name }) => name === 'site'),
      );
      for (const { name, columns } of tables) {
        const isSingle = ['site_versions', 'slow_users', 'alert_settings', 'alert_waves', 'site_facts'].includes(name);
        const toValue = (column: (typeof columns)[number], row: number) => {
          if (column.name === 'site') return site;
          if (column.dataType === 'bytea') return Buffer.from(`${site}-${row}`);
          return column.dataType === 'text' ? `${site}-${row}` : (name === 'site_versions' ? 1000 : 0) + row;
        };
        const present = columns.filter((column) => !column.isAutoIncrementing);
        const values = Array.from({ length: isSingle ? 1 : rows }, (_, row) =>
          Object.fromEntries(present.map((column) => [column.name, toValue(column, row)])),
        );
        const tablesOfAny = db as unknown as { insertInto(table: string): ReturnType<TestDatabase['insertInto']> };
        for (let at = 0; at < values.length; at += 500) {
          const part = values.slice(at, at + 500) as never[];
          const insert = tablesOfAny.insertInto(name).values(part) as ReturnType<TestDatabase['insertInto']>;
          await insert.onConflict((conflict) => conflict.doNothing()).execute();
        }
      }
      return tables.map(({ name }) => name);
    }

    const countRows = async (db: TestDatabase, tables: readonly string[], site: string) => {
      const counts = tables.map(async (table) => {
        const rows = await db
          .selectFrom(table as 'audit')
          .select('site')
          .where('site', '=', site)
          .execute();
        return rows.length;
      });
      return (await Promise.all(counts)).reduce((sum, rows) => sum + rows, 0);
    };

    it('leaves no row of the site, keeps all rows of others, and the versions increase', async () => {
      const { command, database, dataDir, url } = await postgresSite();
      const db = await database();
      const tables = await fill(db, 'gone', 2500);
      await db.updateTable('site_versions').set({ version: 5000 }).where('site', '=', 'gone').execute();
      await fill(db, 'site', 3);
      const others = await countRows(db, tables, 'site');
      expect(tables.length).toBeGreaterThan(20);
      expect(others).toBeGreaterThan(tables.length);
      expect(await hasSiteRows('gone', { dataDir, url })).toBe(true);
      const { status, stdout, stderr } = await command('erase', '--site', 'gone');
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatch(/^Erased: site gone, [\d,]{6,} rows\./);
      expect(stdout).toContain(`${toNamed(url)} may keep copies of removed rows`);
      expect(await countRows(db, tables, 'gone')).toBe(0);
      expect(await countRows(db, tables, 'site')).toBe(others);
      expect(await hasSiteRows('gone', { dataDir, url })).toBe(false);
      const kept = await db.selectFrom('site_versions').selectAll().where('site', '=', '').execute();
      expect(kept).toEqual([{ site: '', version: 5001 }]);
      expect((await command('erase', '--site', 'gone')).stdout).toMatch(/^Erased: site gone, 0 rows/);
      expect(await command('erase', '--site', 'other')).toMatchObject({
        status: 1,
        stderr: 'Nothing is kept of a site other.\n',
      });
    });
  });

  describe('back-up and restore', () => {
    it('copy all but the database, say so, and name the programs that copy it', async () => {
      const { command, database, dataDir, url } = await postgresSite();
      await (await database()).destroy();
      const folder = join(await scratchFolder(), 'back-up');
      const { status, stdout, stderr } = await command('back-up', folder);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const { hostname, port, pathname } = new URL(url);
      const server = `--host=${hostname} --port=${port} --username=guard --dbname=${pathname.slice(1)}`;
      expect(stdout).toContain('Keys and the password of the database are among them');
      expect(stdout).toContain(`The settings are in ${toNamed(url)}, and not in this back-up.`);
      expect(stdout).toContain(`\n  pg_dump --format=custom --file=guard.dump ${server}\n`);
      const manifest = await readFile(join(folder, 'back-up.json'), 'utf8');
      expect(JSON.parse(manifest)).toMatchObject({ settingsIn: toNamed(url) });
      expect(Object.keys(JSON.parse(manifest).files).sort()).toEqual(['guard.json', 'sites/site.secret']);
      expectHidden(stdout, manifest);

      const restored = join(await scratchFolder(), 'restored');
      const { stdout: text, ...outcome } = await runWith({}, 'restore', folder, '--data-dir', restored);
      expect(outcome).toEqual({ status: 0, stderr: '' });
      expect(text).toMatch(/^Restored 2 files of /);
      expect(text).toContain(
        `\n  pg_restore --clean --if-exists --no-owner --single-transaction ${server} guard.dump\n`,
      );
      expectHidden(text);
      expect(await readFile(join(restored, 'guard.json'))).toEqual(await readFile(join(dataDir, 'guard.json')));
    });

    it('know the database from the environment of the running guard, without its password', async () => {
      const { dataDir, url, env } = await postgresSite({ logLevel: 'debug' }, { inEnvironment: true });
      const guard = await serve(dataDir, env);
      const folder = join(await scratchFolder(), 'back-up');
      const { status, stdout } = await runWith({}, 'back-up', folder, '--data-dir', dataDir);
      expect(status).toBe(0);
      expect(stdout).toContain('Keys are among them');
      expect(stdout).toContain(`The settings are in ${toNamed(url)}, and not in this back-up.`);
      const recorded = await readFile(join(folder, 'back-up.json'), 'utf8');
      expect(JSON.parse(recorded).environment).toEqual([{ name: VARIABLE, value: toNamed(url) }]);
      const inUse = await readFile(join(dataDir, 'guard.sites'), 'utf8');
      expect(inUse).toContain(toNamed(url));
      expectHidden(stdout, recorded, inUse, guard.log());

      // The commands that would change another database than guard's are refused.
      for (const args of CHANGING) {
        const refused = await runWith({}, ...args, '--data-dir', dataDir);
        expect(refused).toMatchObject({ status: 1, stdout: '' });
        expect(refused.stderr).toContain(`The running guard has its settings in ${toNamed(url)}, by its variable`);
        expect((await runWith(env, ...args, '--data-dir', dataDir)).stderr).not.toContain('The running guard has');
      }
      expect(existsSync(join(dataDir, 'guard.sqlite'))).toBe(false);
      expect((await runWith({}, 'status', '--data-dir', dataDir)).stdout).toContain('Call it with the same variable.');
      const doctor = await runWith({}, 'doctor', 'site', '--json', '--data-dir', dataDir);
      expect(JSON.parse(doctor.stdout)).toContainEqual(
        expect.objectContaining({ code: 'database-other', message: expect.stringContaining(toNamed(url)) }),
      );

      const restored = join(await scratchFolder(), 'restored');
      const without = await runWith({}, 'restore', folder, '--data-dir', restored);
      expect(without).toMatchObject({ status: 1, stdout: '' });
      expect(without.stderr).toContain(`The settings were in ${toNamed(url)}, and are not in this back-up`);
      expect(without.stderr).toContain(`Call \`restore\` with the variable ${VARIABLE} that guard has.`);
      expect((await runWith(env, 'restore', folder, '--data-dir', restored)).status).toBe(0);
    });

    it('refuse to restore settings of an SQLite file for a guard that would look in PostgreSQL', async () => {
      const dataDir = await dataFolderFor(await fakeConnector());
      await (await openGuardDatabase({ url: 'sqlite:guard.sqlite', dataDir, logger: silentLogger() })).destroy();
      const folder = join(await scratchFolder(), 'back-up');
      expect((await runWith({}, 'back-up', folder, '--data-dir', dataDir)).status).toBe(0);
      const url = await newDatabase();
      const restored = join(await scratchFolder(), 'restored');
      const { status, stderr } = await runWith({ [VARIABLE]: url }, 'restore', folder, '--data-dir', restored);
      expect(status).toBe(1);
      expect(stderr).toContain(`from an SQLite file, but guard would look for them in ${toNamed(url)}.`);
      expectHidden(stderr);
    });

    it('include the files that the URL names', async () => {
      const { dataDir, url, command } = await postgresSite();
      await writeFile(join(dataDir, 'database.password'), PASSWORD, { mode: 0o600 });
      const config = JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8'));
      const database = `${toNamed(url)}?passwordfile=database.password`;
      await writeFile(join(dataDir, 'guard.json'), JSON.stringify({ ...config, database }));
      const folder = join(await scratchFolder(), 'back-up');
      expect((await command('back-up', folder)).status).toBe(0);
      const { named } = JSON.parse(await readFile(join(folder, 'back-up.json'), 'utf8'));
      expect(named).toEqual([{ copy: 'named/1-database.password', path: 'database.password', key: 'database' }]);
      // The file is enough for the other commands.
      expect((await command('settings', 'export')).status).toBe(0);
    });
  });

  describe('the other commands', () => {
    it('read and change what guard enforces', async () => {
      const { command, database, dataDir } = await postgresSite();
      const guard = await serve(dataDir);
      const db = await database();
      await addPersonRows(db);
      const exported = await command('settings', 'export');
      expect(exported).toMatchObject({ status: 0, stderr: '' });
      expect(await command('two-factor', 'reset', 'person')).toMatchObject({ status: 0, stderr: '' });
      expect(await db.selectFrom('second_factors').selectAll().execute()).toEqual([]);
      expect(await command('unblock', OTHER)).toMatchObject({ status: 0, stderr: '' });
      expect(await db.selectFrom('login_attempts').selectAll().where('key', '=', OTHER).execute()).toEqual([]);
      const settings = { ...JSON.parse(exported.stdout) };
      const file = join(dataDir, 'settings.json');
      await writeFile(file, JSON.stringify(settings));
      expect(await command('settings', 'import', file)).toMatchObject({ status: 0, stderr: '' });
      expect(guard.log()).not.toContain('"level":50');
      expectHidden(guard.log());
    });

    it('status names the database without its password, as text and as JSON', async () => {
      const { command, database, url } = await postgresSite();
      const before = await command('status');
      expect(before.stdout).toContain(`Database:  none yet; guard makes it when it starts, ${toNamed(url)}\n`);
      await (await database()).destroy();
      const text = await command('status');
      expect(text.stdout).toContain(`Database:  ready, ${toNamed(url)}\n`);
      const json = await command('status', '--json');
      expect(JSON.parse(json.stdout).storage).toEqual({ ok: true, database: toNamed(url), detail: null });
      const doctor = await command('doctor', 'site', '--json');
      expect(JSON.parse(doctor.stdout)).toContainEqual({
        ...{ check: 'database', state: 'ok', code: null, advice: null },
        message: `The database ${toNamed(url)} can be used.`,
      });
      expectHidden(text.stdout, text.stderr, json.stdout, doctor.stdout, doctor.stderr);
    });

    it('a reload with another database names only the key in the log', async () => {
      const { dataDir } = await postgresSite({ logLevel: 'debug' });
      const { child, log } = await serve(dataDir);
      const file = join(dataDir, 'guard.json');
      const config = JSON.parse(await readFile(file, 'utf8'));
      await writeFile(file, JSON.stringify({ ...config, database: await newDatabase() }));
      child.kill('SIGHUP');
      await eventually(() => log().includes('restart-needed'));
      const line = log()
        .split('\n')
        .find((each) => each.includes('restart-needed'));
      expect(JSON.parse(line ?? '')).toMatchObject({ keys: ['database'] });
      expectHidden(log(), await readFile(join(dataDir, 'guard.sites'), 'utf8'));
    });

    it('gives no id to a new site of which the database still has rows, whatever the version of its tables', async () => {
      const { database, dataDir, url } = await postgresSite();
      expect(await hasSiteRows('new-example-com', { dataDir, url })).toBe(false);
      const db = await database();
      await db.insertInto('slow_users').values({ site: 'new-example-com', users: '' }).execute();
      await db
        .deleteFrom('kysely_migration' as 'audit')
        .where('name', '>', '040')
        .execute();
      expect(await newSiteId('new.example.com', configFile.parse({}), { dataDir, url })).toBe('new-example-com-2');
    });
  });

  describe('a database that can’t be used', () => {
    it('is named by every command, with the reason, and without the password', async () => {
      const { command, url, dataDir } = await postgresSite();
      const config = JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8'));
      const configure = (database: string) =>
        writeFile(join(dataDir, 'guard.json'), JSON.stringify({ ...config, database }));
      const closed = url.replace(/:\d+\//, `:${await freePort()}/`);
      await configure(closed);
      for (const args of CHANGING) {
        const { status, stdout, stderr } = await command(...args);
        expect([args.join(' '), status, stdout]).toEqual([args.join(' '), 1, '']);
        expect(stderr).toContain(`The database can’t be used (unreachable): ${toNamed(closed)}: connect ECONNREFUSED`);
        expect(stderr).not.toMatch(/\n {4}at /);
        expectHidden(stderr);
      }
      const status = await command('status', '--json');
      expect(JSON.parse(status.stdout).storage).toMatchObject({
        ...{ ok: false, database: toNamed(closed), detail: expect.stringContaining('unreachable') },
      });
      const doctor = await command('doctor', 'site', '--json');
      expect(JSON.parse(doctor.stdout)).toContainEqual({
        ...{ check: 'database', state: 'problem', code: 'database-unusable' },
        message: expect.stringContaining(`unreachable: ${toNamed(closed)}`),
        advice: expect.stringContaining('Check that the server runs'),
      });
      expectHidden(status.stdout, doctor.stdout);

      await configure(url.replace(encodeURIComponent(PASSWORD), 'another-password'));
      const refused = await command('settings', 'export');
      expect(refused.stderr).toMatch(/\(cannot_open\): postgres:.*password authentication failed/);
      expect(refused.stderr).not.toContain('another-password');
    });

    it.each([
      ['without a database', `postgres://guard:${encodeURIComponent(PASSWORD)}@db.example.com`],
      ['with a character that must be encoded', `postgres://guard:${PASSWORD}@db.example.com/guard`],
      ['with an unknown parameter', `postgres://guard:${encodeURIComponent(PASSWORD)}@db.example.com/guard?x=1`],
    ])('is a mistake %s, which is told without the password', async (_, database) => {
      const dataDir = await dataFolderFor(await fakeConnector(), {}, { database });
      for (const env of [{}, { [VARIABLE]: database }] as const) {
        if (VARIABLE in env) await rm(join(dataDir, 'guard.json')).then(() => writeConfig(dataDir));
        for (const args of [['status'], ['serve'], ['settings', 'export'], ['erase', '--site', 'gone']]) {
          const { status, stdout, stderr } = await runWith(env, ...args, '--data-dir', dataDir);
          expect(status).toBe(1);
          expect(stderr).toContain('The configuration has mistakes:');
          expectHidden(stdout, stderr);
          expect(stderr).not.toContain('ss/word');
        }
      }
    });
  });
});

const writeConfig = (dataDir: string) =>
  writeFile(join(dataDir, 'guard.json'), JSON.stringify({ listen: '127.0.0.1:0', sites: [] }));
