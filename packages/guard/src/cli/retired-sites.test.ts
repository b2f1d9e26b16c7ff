import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bin, runInChild, serve } from '../../test/support/command-line.js';
import { openTestDatabase } from '../../test/support/database.js';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { dataFolderFor } from '../../test/support/running-guard.js';
import { eventually, scratchFolder } from '../../test/support/scratch.js';
import { SECRET } from '../../test/support/site-config.js';
import { wordpressFolder } from '../../test/support/wordpress-folder.js';
import { openActivityStore } from '../activity/store/open-activity-store.js';
import { silentLogger } from '../lib/logger.js';
import { openSqlite, type SqliteDatabase } from '../storage/sqlite.js';

const MAIN = 'guard.sqlite';
const ACTIVITY = 'activity.sqlite';

const attach = (dataDir: string, wordpress: string, ...more: string[]) =>
  runInChild(
    ...['attach', '--wordpress', wordpress, '--upstream', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0'],
    ...['--data-dir', dataDir, ...more],
  );
const detach = (dataDir: string, ...more: string[]) => runInChild('detach', '--data-dir', dataDir, ...more);
const erase = (dataDir: string, site: string) => runInChild('erase', '--data-dir', dataDir, '--site', site);

async function sitesIn(dataDir: string): Promise<{ id: string; wordpressDir: string; hosts: string[] }[]> {
  return JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8')).sites;
}

/** Creates both databases with all of their tables. */
async function makeDatabases(dataDir: string): Promise<void> {
  await (await openTestDatabase(dataDir, { file: MAIN })).destroy();
  await (await openActivityStore({ dataDir, logger: silentLogger(), clock: Date.now })).close();
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

/** Every table of a database and its columns. */
function tablesIn(database: SqliteDatabase): Map<string, readonly Column[]> {
  const tables = database.prepare(`select name from sqlite_master where type = 'table'`).all() as { name: string }[];
  return new Map(
    tables.map(({ name }) => [name, database.prepare(`pragma table_info("${name}")`).all() as unknown as Column[]]),
  );
}

const opened = <Result>(dataDir: string, file: string, work: (database: SqliteDatabase) => Result): Result => {
  const database = openSqlite(join(dataDir, file), { busyTimeoutMs: 0 });
  try {
    return work(database);
  } finally {
    database.close();
  }
};

/**
 * Inserts rows of a site into every table with a column for sites, whatever its other columns are. Each text names the
 * site.
 * @returns the number of rows by table
 */
function fill(dataDir: string, site: string, rows: number): Map<string, number> {
  const filled = new Map<string, number>();
  let unique = 0;
  for (const file of [MAIN, ACTIVITY]) {
    opened(dataDir, file, (database) => {
      database.exec('begin');
      const tables = [...tablesIn(database)].sort(
        ([a], [b]) => Number(b === 'activity_sites') - Number(a === 'activity_sites'),
      );
      for (const [table, columns] of tables) {
        const own = columns.find(({ name }) => name === 'site');
        if (own === undefined) continue;
        const number = (): number =>
          (database.prepare('select id from activity_sites where site = ?').get(site) as { id: number }).id;
        // One row for each site, or many rows.
        const isKey = own.pk === 1 && columns.every(({ name, pk }) => pk === 0 || name === 'site');
        const count = isKey || table === 'activity_sites' ? 1 : rows;
        const given = columns.filter(
          (column) => !(column.type.toLowerCase() === 'integer' && column.pk === 1 && column.name === 'id'),
        );
        const insert = database.prepare(
          `insert into "${table}" (${given.map(({ name }) => `"${name}"`).join()}) values (${given.map(() => '?').join()})`,
        );
        for (let row = 0; row < count; row++) {
          insert.run(
            ...given.map(({ name, type }) => {
              unique++;
              if (name === 'site') return type.toLowerCase() === 'text' ? site : number();
              if (type.toLowerCase() === 'blob') return Buffer.from(`${site}-${unique}`);
              return type.toLowerCase() === 'text' ? `{"of":"${site}","in":"${name}","n":${unique}}` : unique;
            }),
          );
        }
        filled.set(`${file} ${table}`, count);
      }
      database.exec('commit');
    });
  }
  return filled;
}

/** Number of rows of a site by table; tables without any are omitted. */
function countRows(dataDir: string, site: string): Map<string, number> {
  const counted = new Map<string, number>();
  for (const file of [MAIN, ACTIVITY]) {
    opened(dataDir, file, (database) => {
      for (const [table, columns] of tablesIn(database)) {
        const own = columns.find(({ name }) => name === 'site');
        if (own === undefined) continue;
        const which = own.type.toLowerCase() === 'text' ? '?' : '(select id from activity_sites where site = ?)';
        const { rows } = database
          .prepare(`select count(*) as rows from "${table}" where site = ${which}`)
          .get(site) as {
          rows: number;
        };
        if (rows > 0) counted.set(`${file} ${table}`, rows);
      }
    });
  }
  return counted;
}

/** Files of the data folder that contain a text. */
async function filesWith(dataDir: string, text: string): Promise<string[]> {
  const names = await readdir(dataDir, { recursive: true });
  const found: string[] = [];
  for (const name of names) {
    const file = join(dataDir, name);
    // SQLite deletes its companion files when the last connection is closed, which may happen at garbage collection.
    const isFile = await stat(file).then(
      (entry) => entry.isFile(),
      () => false,
    );
    const bytes = isFile ? await readFile(file).catch(() => Buffer.of()) : Buffer.of();
    if (bytes.includes(text)) found.push(name);
  }
  return found;
}

describe('ids are never given twice', () => {
  it('a new site with the name of a detached one gets another id, also in the same folder, and sees none of its data', async () => {
    const dataDir = await scratchFolder();
    const [first, second] = [await wordpressFolder(), await wordpressFolder()];
    const host = ['--host', 'shop.example.com'];
    expect((await attach(dataDir, first, ...host)).stdout).toContain('site shop-example-com.');
    await detach(dataDir);
    expect((await attach(dataDir, second, ...host)).stdout).toContain('site shop-example-com-2.');
    await detach(dataDir);
    const again = await attach(dataDir, first, ...host);
    expect(again.stdout).toContain('site shop-example-com-3.');
    expect(again.stdout).toContain('This folder was the site shop-example-com before');
    expect(await readFile(join(dataDir, 'sites', 'shop-example-com-3.secret'), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
    expect(await readdir(join(dataDir, 'sites'))).not.toContain('shop-example-com.secret');
  });

  it.each([MAIN, ACTIVITY])(
    'a new site does not get an id that only %s contains, or one whose secret is left',
    async (file) => {
      const dataDir = await scratchFolder();
      await makeDatabases(dataDir);
      opened(dataDir, file, (database) =>
        database.exec(
          file === MAIN
            ? `insert into second_factor_devices values ('shop-example-com', 'x', 1, 1, 1)`
            : `insert into activity_sites (site) values ('shop-example-com')`,
        ),
      );
      await mkdir(join(dataDir, 'sites'));
      await writeFile(join(dataDir, 'sites', 'shop-example-com-2.secret'), SECRET, { mode: 0o600 });
      const attached = await attach(dataDir, await wordpressFolder(), '--host', 'shop.example.com');
      expect(attached.stdout).toContain('site shop-example-com-3.');
      // Reading a database creates no other file.
      expect((await readdir(dataDir)).filter((name) => /-(?:wal|shm)$/.test(name))).toEqual([]);
    },
  );

  it('--site restores the kept data of a detached site, and nothing else', async () => {
    const dataDir = await scratchFolder();
    const [shop, other] = [await wordpressFolder(), await wordpressFolder()];
    await attach(dataDir, shop, '--host', 'shop.example.com', '--home', '/blog');
    await attach(dataDir, other, '--host', 'other.example.com');
    const [before] = await sitesIn(dataDir);
    await detach(dataDir, '--site', 'shop-example-com');
    for (const [id, reason] of [
      ['other-example-com', 'is attached already'],
      ['unknown', 'Nothing is kept of a site unknown'],
    ] as const) {
      expect(await attach(dataDir, shop, '--site', id)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(reason),
      });
    }
    const reattached = await attach(dataDir, shop, '--site', 'shop-example-com');
    expect(reattached).toMatchObject({ status: 0, stdout: expect.not.stringContaining('before') });
    expect((await sitesIn(dataDir)).find(({ id }) => id === 'shop-example-com')).toEqual(before);
    expect((await attach(dataDir, shop, '--site', 'shop-example-com')).status).toBe(0);
    expect((await attach(dataDir, shop, '--site', 'other-example-com')).stderr).toContain(
      'is attached as site shop-example-com',
    );
  });
});

describe('erasing a site', () => {
  it('leaves no row of it in any table with sites, no text of it in any file, and keeps all rows of other sites', async () => {
    const dataDir = await scratchFolder();
    const wordpress = await wordpressFolder();
    await attach(dataDir, wordpress, '--host', 'gone.example.com');
    await attach(dataDir, await wordpressFolder(), '--host', 'stays.example.com');
    await makeDatabases(dataDir);
    const filled = fill(dataDir, 'gone-example-com', 5000);
    expect(filled.size).toBeGreaterThan(20);
    expect(countRows(dataDir, 'gone-example-com')).toEqual(filled);
    const remaining = fill(dataDir, 'stays-example-com', 10);
    // The notes of a running guard about the site's visitors.
    await writeFile(join(dataDir, 'sites', 'gone-example-com.traffic'), '{"since":1,"until":2}');
    const { status, stdout } = await detach(dataDir, '--site', 'gone-example-com', '--purge');
    const rows = [...filled.values()].reduce((sum, count) => sum + count, 0);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringContaining(`Erased: site gone-example-com, ${rows.toLocaleString('en')} rows.`),
    });
    expect(countRows(dataDir, 'gone-example-com')).toEqual(new Map());
    expect(countRows(dataDir, 'stays-example-com')).toEqual(remaining);
    // Only the id is left, so that no other site gets it.
    expect((await readdir(join(dataDir, 'sites'))).filter((name) => name.startsWith('gone'))).toEqual([
      'gone-example-com.retired',
    ]);
    expect(await filesWith(dataDir, 'gone-example-com')).toEqual([join('sites', 'gone-example-com.retired')]);
    expect(await filesWith(dataDir, wordpress)).toEqual([]);
    expect((await attach(dataDir, wordpress, '--site', 'gone-example-com')).stderr).toContain('was erased');
    expect((await attach(dataDir, wordpress, '--host', 'gone.example.com')).stdout).toContain(
      'site gone-example-com-2.',
    );
  });

  it('finds every table: each one has a column for the site, except those without data of sites', async () => {
    const dataDir = await scratchFolder();
    await makeDatabases(dataDir);
    for (const [file, others] of [
      [MAIN, ['alert_heartbeat']],
      [ACTIVITY, ['visit_kinds']],
    ] as const) {
      const tables = opened(dataDir, file, tablesIn);
      const without = [...tables].filter(([, columns]) => !columns.some(({ name }) => name === 'site'));
      expect(without.map(([name]) => name).filter((name) => !/^(?:sqlite|kysely)_/.test(name))).toEqual(others);
    }
  });

  it('is for known detached sites, and may be repeated', async () => {
    const dataDir = await scratchFolder();
    await attach(dataDir, await wordpressFolder());
    await makeDatabases(dataDir);
    fill(dataDir, 'old', 3);
    expect(await erase(dataDir, 'site')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('The site site is attached.'),
    });
    expect(await erase(dataDir, 'unknown')).toMatchObject({
      status: 1,
      stderr: 'Nothing is kept of a site unknown.\n',
    });
    expect((await erase(dataDir, '../site')).status).toBe(2);
    expect((await detach(dataDir, '--purge')).stderr).toContain('--purge needs --site');
    expect(await sitesIn(dataDir)).toHaveLength(1);
    // A site detached by a version that left no note.
    for (const round of [1, 2]) expect([round, (await erase(dataDir, 'old')).status]).toEqual([round, 0]);
    expect(countRows(dataDir, 'old')).toEqual(new Map());
  });

  it('continues where it was killed, and the half-erased site can’t be attached again', async () => {
    const dataDir = await scratchFolder();
    const wordpress = await wordpressFolder();
    await attach(dataDir, wordpress);
    await detach(dataDir);
    await makeDatabases(dataDir);
    fill(dataDir, 'site', 20_000);
    const child = spawn(process.execPath, [bin, 'erase', '--data-dir', dataDir, '--site', 'site'], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    await eventually(async () => (await readFile(join(dataDir, 'sites', 'site.retired'), 'utf8')).includes('erasedAt'));
    child.kill('SIGKILL');
    await ended;
    expect((await attach(dataDir, wordpress, '--site', 'site')).stderr).toContain('was erased');
    expect((await erase(dataDir, 'site')).status).toBe(0);
    expect(countRows(dataDir, 'site')).toEqual(new Map());
  });

  it('creates nothing in a folder that is no data folder, and erases nothing where the configuration is elsewhere', async () => {
    const dataDir = await scratchFolder();
    expect(await erase(dataDir, 'site')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('has no guard.json'),
    });
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('without databases only records the erasure', async () => {
    const dataDir = await scratchFolder();
    await attach(dataDir, await wordpressFolder());
    await detach(dataDir);
    expect(await erase(dataDir, 'site')).toMatchObject({ status: 0, stderr: '' });
    expect(await readdir(dataDir)).not.toContain(MAIN);
  });

  it('names the corrupt logs that guard has moved aside', async () => {
    const dataDir = await scratchFolder();
    await attach(dataDir, await wordpressFolder());
    await detach(dataDir);
    await writeFile(join(dataDir, 'activity.sqlite.corrupt-20260101T000000Z'), 'x');
    expect((await erase(dataDir, 'site')).stderr).toContain('activity.sqlite.corrupt-20260101T000000Z');
  });
});

describe('erasing a site while guard runs', () => {
  /** Two sites of a running guard. The second one was changed last. */
  async function twoSites() {
    const connector = await fakeConnector();
    const sites = ['stays', 'gone'].map((id) => ({ id, upstream: connector.upstream, hosts: [`${id}.example.com`] }));
    const dataDir = await dataFolderFor(connector, {}, { sites });
    for (const { id } of sites) await writeFile(join(dataDir, 'sites', `${id}.secret`), SECRET, { mode: 0o600 });
    const guard = await serve(dataDir);
    for (const id of ['stays', 'gone']) {
      expect((await runInChild('pause', '5', '--data-dir', dataDir, '--site', id)).status).toBe(0);
      expect((await runInChild('resume', '--data-dir', dataDir, '--site', id)).status).toBe(0);
    }
    return { dataDir, guard };
  }

  it('is refused while that guard has the site in memory, before anything is changed', async () => {
    const { dataDir } = await twoSites();
    const file = join(dataDir, 'guard.json');
    const config = JSON.parse(await readFile(file, 'utf8'));
    // Changed by hand, without a signal to guard.
    await writeFile(
      file,
      JSON.stringify({ ...config, sites: config.sites.filter(({ id }: { id: string }) => id !== 'gone') }),
    );
    expect(await erase(dataDir, 'gone')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('The running guard still has the site gone'),
    });
    expect(countRows(dataDir, 'gone').get(`${MAIN} settings`)).toBe(1);
  });

  it('works while that guard serves other sites, and nothing of the site is stored again', async () => {
    const { dataDir, guard } = await twoSites();
    const visit = () => fetch(guard.url, { headers: { host: 'gone.example.com' } }).then(({ status }) => status);
    await visit();
    expect(await detach(dataDir, '--site', 'gone', '--purge')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Erased: site gone'),
    });
    expect(await sitesIn(dataDir)).toHaveLength(1);
    expect(countRows(dataDir, 'gone')).toEqual(new Map());
    await visit();
    guard.child.kill('SIGTERM');
    await once(guard.child, 'exit');
    expect(countRows(dataDir, 'gone')).toEqual(new Map());
    expect(guard.log()).toContain('"event":"sites-changed"');
  });

  it('works once guard was started without it, and guard still receives changes to the other sites', async () => {
    const { dataDir, guard } = await twoSites();
    expect((await detach(dataDir, '--site', 'gone')).status).toBe(0);
    guard.child.kill('SIGTERM');
    await once(guard.child, 'exit');
    const next = await serve(dataDir);
    expect(await erase(dataDir, 'gone')).toMatchObject({ status: 0, stderr: '' });
    expect(countRows(dataDir, 'gone')).toEqual(new Map());
    expect((await runInChild('pause', '5', '--data-dir', dataDir, '--site', 'stays')).status).toBe(0);
    await eventually(() => next.log().includes('"paused"'));
    next.child.kill('SIGTERM');
    await once(next.child, 'exit');
    expect(countRows(dataDir, 'gone')).toEqual(new Map());
  });
});
