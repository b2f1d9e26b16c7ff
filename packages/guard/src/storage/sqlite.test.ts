import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { scratchFolder } from '../../test/support/scratch.js';
import {
  cachePrepared,
  chooseLibrary,
  openSqlite,
  type SqliteOptions,
  sqliteLibraries,
  toSqliteFault,
} from './sqlite.js';

const libraries = Object.entries(sqliteLibraries).flatMap(([name, load]) => {
  const library = load();
  return library === null ? [] : [{ name, library }];
});

it('a library exists on every supported release of Node', () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const hasOwn = major > 22 || (major === 22 && minor >= 16);
  expect(libraries.map(({ name }) => name)).toContain(hasOwn ? 'node' : 'addOn');
});

it('Node’s own library takes precedence, and without any the error names what to install', () => {
  const own = { DatabaseSync: class {} } as never;
  const other = { DatabaseSync: class {} } as never;
  expect(chooseLibrary({ node: () => own, addOn: () => other })).toBe(own);
  expect(chooseLibrary({ node: () => null, addOn: () => other })).toBe(other);
  try {
    expect(chooseLibrary({ node: () => null, addOn: () => null })).toBe('an error');
  } catch (error) {
    expect(toSqliteFault(error)).toMatchObject({
      fault: 'cannot_open',
      message: expect.stringMatching(/Node 22\.16 or newer, or install/),
    });
  }
});

describe.each(libraries)('the library $name', ({ library }) => {
  async function file() {
    const path = join(await scratchFolder(), 'x.sqlite');
    const open = (options: Partial<SqliteOptions> = {}) => {
      const database = openSqlite(path, { busyTimeoutMs: 0, ...options }, library);
      onTestFinished(() => {
        try {
          database.close();
        } catch {
          // The test has closed it.
        }
      });
      return database;
    };
    return { path, open };
  }

  it('runs, reads and iterates statements, and reports which of them return rows', async () => {
    const database = (await file()).open();
    database.exec('create table t (id integer primary key, text text)');
    const insert = database.prepare('insert into t (text) values (?)');
    expect(insert.columns()).toHaveLength(0);
    expect(insert.run('a')).toMatchObject({ changes: 1, lastInsertRowid: 1 });
    expect(insert.run(null)).toMatchObject({ changes: 1, lastInsertRowid: 2 });
    expect(database.prepare('insert into t (text) values (?) returning id').columns()).toHaveLength(1);
    const select = database.prepare('select id, text from t where id >= ? order by id');
    expect(select.columns()).toHaveLength(2);
    expect(select.all(1).map((row) => ({ ...(row as object) }))).toEqual([
      { id: 1, text: 'a' },
      { id: 2, text: null },
    ]);
    expect({ ...(select.get(2) as object) }).toEqual({ id: 2, text: null });
    expect(select.get(3)).toBeUndefined();
    expect([...select.iterate(1)]).toHaveLength(2);
    expect(cachePrepared(database)('select 1')).toBeDefined();
  });

  it('reports whether a transaction is under way', async () => {
    const database = (await file()).open();
    database.exec('create table t (n integer)');
    database.exec('begin immediate');
    expect(database.isTransaction).toBe(true);
    database.exec('insert into t values (1); rollback');
    expect(database.isTransaction).toBe(false);
    expect(database.prepare('select n from t').all()).toEqual([]);
  });

  it('reports its faults', async () => {
    const { path, open } = await file();
    const database = open();
    database.exec('create table t (n integer unique); insert into t values (1)');
    const catchFault = (work: () => unknown) => {
      try {
        work();
      } catch (error) {
        return toSqliteFault(error).fault;
      }
      return null;
    };
    const reader = open({ readOnly: true });
    expect(catchFault(() => reader.exec('insert into t values (2)'))).toBe('read_only');
    database.exec('begin exclusive');
    expect(catchFault(() => open().exec('insert into t values (3)'))).toBe('locked');
    database.exec('rollback');
    expect(catchFault(() => database.exec('insert into t values (1)'))).toBe('other');
    expect(catchFault(() => openSqlite(join(path, 'x'), { busyTimeoutMs: 0 }, library))).toBe('cannot_open');
  });

  it('waits for a lock as long as configured', async () => {
    const { open } = await file();
    const locker = open();
    locker.exec('create table t (n integer); begin exclusive');
    const waiting = open({ busyTimeoutMs: 200 });
    const start = performance.now();
    expect(() => waiting.exec('insert into t values (1)')).toThrow(/locked/);
    expect(performance.now() - start).toBeGreaterThan(150);
  });

  it('creates no file beside one that it only reads', async () => {
    const { path, open } = await file();
    const database = open();
    database.exec('pragma journal_mode = wal; create table t (n integer)');
    database.close();
    const found = open({ readOnly: true, immutableAtRest: true });
    expect(found.prepare('select count(*) as n from t').get()).toMatchObject({ n: 0 });
    expect(existsSync(`${path}-shm`)).toBe(false);
  });
});
