import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { sqlBlocklistStore } from '../src/activity/blocklist/blocklist-store.js';
import { openSqlite } from '../src/storage/sqlite.js';
import { runInChild, serve } from './support/command-line.js';
import { onPostgres, openTestDatabase } from './support/database.js';
import { type FakeConnector, fakeConnector } from './support/fake-connector.js';
import { addPersonRows, EMAIL, OTHER, PASSWORD_HASH, PERSON, SECRET_KEY } from './support/person-rows.js';
import { callApi, dataFolderFor } from './support/running-guard.js';
import { eventually } from './support/scratch.js';

const visit = (url: string, address: string, path: string) =>
  fetch(`${url}${path}`, { headers: { 'x-forwarded-for': address, 'user-agent': `agent of ${address}` } });

async function startGuardWithPerson() {
  const connector: FakeConnector = await fakeConnector();
  const dataDir = await dataFolderFor(connector, {}, { trustedProxies: ['127.0.0.1'] });
  const guard = await serve(dataDir);
  for (const address of [PERSON, OTHER, PERSON]) expect((await visit(guard.url, address, '/shop/')).status).toBe(200);
  const db = await openTestDatabase(dataDir);
  onTestFinished(() => db.destroy());
  const file = (name: string) => {
    const database = openSqlite(join(dataDir, name), { busyTimeoutMs: 5000, readOnly: true });
    onTestFinished(() => database.close());
    return database;
  };
  await eventually(() => existsSync(join(dataDir, 'activity.sqlite')));
  const log = file('activity.sqlite');
  const listVisits = (address: string) =>
    (
      log
        .prepare('select sum(count) as hits from visits join visitors on visitors.id = visits.visitor where name = ?')
        .get(address) as { hits: number | null }
    ).hits ?? 0;
  await eventually(() => log.prepare(`select 1 from sqlite_master where name = 'attackers'`).get() !== undefined);
  await eventually(() => listVisits(PERSON) === 2 && listVisits(OTHER) === 1);
  const privacy = (...args: string[]) => runInChild('privacy', ...args, '--data-dir', dataDir);
  return { dataDir, guard, db, log, listVisits, privacy };
}

const PERSON_OPTIONS = ['--address', PERSON, '--user', 'person', '--email', EMAIL];

it('exports the stored data of a person, readable and without secrets', async () => {
  const { db, dataDir, privacy } = await startGuardWithPerson();
  await addPersonRows(db);
  const { status, stdout, stderr } = await privacy('export', 'site', ...PERSON_OPTIONS);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const data = JSON.parse(stdout);
  expect(data.person).toEqual({ address: PERSON, user: { id: 7, logins: ['person'] }, email: EMAIL });
  const visits = data.activity_log.visits as { requests: number }[];
  for (const each of visits) {
    expect(each).toMatchObject({ address: PERSON, target: '/shop/', agent: `agent of ${PERSON}`, status: 200 });
  }
  expect(visits.reduce((sum, { requests }) => sum + requests, 0)).toBe(2);
  expect(data.settings_database).toMatchObject({
    two_factor: [{ login: 'Person', set_up: true }],
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
  // Neither secrets nor data of others in the same rows.
  for (const secret of [SECRET_KEY, PASSWORD_HASH, `"${OTHER}"`, `agent of ${OTHER}"`, 'owner', 'editor']) {
    expect(stdout).not.toContain(secret);
  }

  const output = join(dataDir, 'person.json');
  expect(await privacy('export', ...PERSON_OPTIONS, '--output', output)).toEqual({ status: 0, stdout: '', stderr: '' });
  expect(JSON.parse(await readFile(output, 'utf8')).person).toEqual(data.person);
  expect((await stat(output)).mode & 0o777).toBe(0o600);
});

/** Failed logins of another address with a name that is an e-mail address, as the log stores them. */
async function tryLogins(guard: Awaited<ReturnType<typeof startGuardWithPerson>>, tried: string) {
  const { url } = guard.guard;
  expect((await visit(url, OTHER, '/tried/')).status).toBe(200);
  await eventually(() => guard.listVisits(OTHER) === 2);
  const database = openSqlite(join(guard.dataDir, 'activity.sqlite'), { busyTimeoutMs: 5000 });
  database.prepare(`update visits set tried = ?, failed = 3 where id = (select max(id) from visits)`).run(tried);
  database
    .prepare(
      `insert into top_visits (site, day, what, value, hits, excess) values ((select id from activity_sites), ?, ?, ?, 3, 0)`,
    )
    .run(new Date().toISOString().slice(0, 10), 'failed-login', tried);
  database.close();
  const count = (table: string, column: string) =>
    (
      guard.log.prepare(`select count(*) as rows from ${table} where lower(${column}) = ?`).get(EMAIL) as {
        rows: number;
      }
    ).rows;
  return () => [count('visits', 'tried'), count('top_visits', 'value')];
}

it.each([
  ['--email', 'for somebody who is named by that address alone'],
  ['--user', 'for a user whose name is that address'],
])('finds and erases failed logins that were tried with an e-mail address as the name: %s, %s', async (option) => {
  const running = await startGuardWithPerson();
  await addPersonRows(running.db);
  const remaining = await tryLogins(running, 'Person@Example.com');
  expect(remaining()).toEqual([1, 1]);
  const data = JSON.parse((await running.privacy('export', 'site', option, EMAIL)).stdout);
  expect(data.activity_log).toMatchObject({
    visits: [{ tried: 'Person@Example.com', wrong_passwords: 3 }],
    most_frequent: [{ value: 'Person@Example.com', hits: 3 }],
  });
  // The address that tried it is not disclosed.
  expect(JSON.stringify(data)).not.toContain(OTHER);
  // The other way round: what was stored for the e-mail address belongs to the user of that name.
  expect(data.settings_database).toMatchObject({ alerts: [{ channel: EMAIL }], reports: [{ state: 'sent' }] });
  expect((await running.privacy('erase', 'site', option, EMAIL, '--yes')).stdout).toMatch(/^Erased or anonymised/);
  expect(remaining()).toEqual([0, 0]);
  expect(running.listVisits(OTHER)).toBe(2);
});

it('finds the user whose stored name is the e-mail address', async () => {
  const { db, privacy } = await startGuardWithPerson();
  const factor = { site: 'site', user_id: 9, login: EMAIL, secret: SECRET_KEY, key_id: 'k', last_step: 0 };
  await db
    .insertInto('second_factors')
    .values({ ...factor, setup_challenge: null, created_at: 1, enabled_at: 1 })
    .execute();
  const data = JSON.parse((await privacy('export', 'site', '--email', EMAIL)).stdout);
  expect(data.person.user).toEqual({ id: 9, logins: [EMAIL] });
  expect(data.settings_database.two_factor).toMatchObject([{ login: EMAIL }]);
});

it('finds a person by an address that carries the stored one', async () => {
  const { privacy } = await startGuardWithPerson();
  const { stdout } = await privacy('export', 'site', '--address', `64:ff9b::${PERSON}`);
  const data = JSON.parse(stdout);
  expect(data.person.address).toBe(PERSON);
  expect(stdout).toContain(`agent of ${PERSON}`);
});

it('erases a person while guard runs, and guard’s memory does not restore the data', async () => {
  const { dataDir, guard, db, log, listVisits, privacy } = await startGuardWithPerson();
  await addPersonRows(db);
  expect((await callApi(guard.url, '/disable-feeds', { body: '{"disable_feed":1}' })).http).toBe(200);
  // In guard's memory when the command begins.
  await Promise.all([1, 2, 3].map((page) => visit(guard.url, PERSON, `/late/${page}/`)));
  const { status, stdout, stderr } = await privacy('erase', ...PERSON_OPTIONS, '--yes');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^Erased or anonymised: .*visits \d/);
  expect(stdout).toContain('Kept: Person has a second factor');
  expect(listVisits(PERSON)).toBe(0);
  expect(listVisits(OTHER)).toBe(1);

  // Guard continues with the same counters and no longer finds the person.
  expect((await visit(guard.url, OTHER, '/after/')).status).toBe(200);
  await eventually(() => listVisits(OTHER) === 2);
  expect(listVisits(PERSON)).toBe(0);
  for (const [table, column] of [
    ['visitors', 'name'],
    ['top_visits', 'value'],
    ['attackers', 'value'],
    ['events', 'address'],
  ]) {
    expect(log.prepare(`select count(*) as rows from ${table} where ${column} = ?`).get(PERSON)).toEqual({ rows: 0 });
  }
  expect(log.prepare(`select count(*) as rows from visit_texts where text like ?`).get(`%${PERSON}`)).toEqual({
    rows: 0,
  });
  // The counts for paging agree with the rows.
  const rows = log.prepare('select count(*) as rows from visits').get();
  expect(log.prepare('select sum(rows) as rows from visit_stretches where kind = 0').get()).toEqual(rows);
  expect(log.prepare('select sum(rows) as rows from visit_sums where kind = 0').get()).toEqual(rows);

  expect(await db.selectFrom('login_attempts').select('key').execute()).toEqual([{ key: OTHER }]);
  expect(await db.selectFrom('login_unlocks').selectAll().execute()).toEqual([]);
  expect(await db.selectFrom('second_factor_devices').selectAll().execute()).toEqual([]);
  expect(await db.selectFrom('second_factors').select('user_id').execute()).toEqual([{ user_id: 7 }]);
  expect(await db.selectFrom('report_sends').selectAll().execute()).toEqual([]);
  // Copies remain, since they belong to the site.
  expect(await db.selectFrom('removed_files').select(['file', 'login', 'content']).orderBy('id').execute()).toEqual([
    { file: '/uploads/a.php', login: '', content: btoa('a') },
    { file: '/uploads/b.php', login: 'owner', content: btoa('b') },
  ]);
  for (const file of ['audit', 'jobs', 'alert_queue'] as const) {
    const text = JSON.stringify(await db.selectFrom(file).selectAll().execute());
    expect(text).not.toContain(PERSON);
    expect(text).not.toMatch(/"(login|actor_login|name)\\?":\\?"person\\?"/);
  }
  expect(await db.selectFrom('audit').select('name').where('name', '=', 'personal_data_erased').execute()).not.toEqual(
    [],
  );

  expect((await privacy('erase', ...PERSON_OPTIONS, '--yes')).stdout).toMatch(/^Nothing to erase is stored\.\nKept: /);
  guard.child.kill();
  await eventually(() => guard.child.exitCode !== null);
  expect((await privacy('erase', ...PERSON_OPTIONS, '--yes')).stdout).toMatch(/^Nothing to erase is stored\.\n/);
  for (const name of [...(onPostgres ? [] : ['guard.sqlite']), 'activity.sqlite']) {
    expect((await readFile(join(dataDir, name))).includes(PERSON)).toBe(false);
  }
});

it('keeps a block, a lock and the settings of the owner, and reports it', async () => {
  const { guard, db, log, privacy, listVisits } = await startGuardWithPerson();
  await addPersonRows(db);
  const store = sqlBlocklistStore(db);
  const change = { site: 'site', actor: { id: 1, login: 'owner', address: null }, at: Date.now() };
  const visitor = log.prepare('select id from visitors where name = ?').get(OTHER) as { id: number };
  await store.block(change, { kind: 'ip', value: OTHER, visitorId: visitor.id, name: OTHER, note: 'spam' });
  await eventually(async () => (await visit(guard.url, OTHER, '/')).status === 403);
  const { stdout } = await privacy('erase', '--address', OTHER, '--yes');
  expect(stdout).toContain(`Kept: ${OTHER} is blocked.`);
  expect(stdout).toContain(`Kept: ${OTHER} is locked by failed logins until`);
  expect(listVisits(OTHER)).toBe(0);
  expect((await visit(guard.url, OTHER, '/')).status).toBe(403);
  expect(
    (await store.list('site', { until: Date.now(), skip: 0, limit: 5 })).map(({ name, note }) => [name, note]),
  ).toEqual([[OTHER, 'spam']]);
  expect(listVisits(PERSON)).toBe(2);
});

it.each([
  [['export'], 'Name the person'],
  [['export', '--address', 'nowhere'], 'is not an address'],
  [['export', '--email', 'nobody'], 'is no e-mail address'],
  [['erase', 'elsewhere', '--user', '1', '--yes'], 'No site has the id elsewhere'],
  [['erase', '--user', '1'], 'Confirm with --yes'],
])('%j is refused', async (args, message) => {
  const dataDir = await dataFolderFor(await fakeConnector());
  const { status, stderr } = await runInChild('privacy', ...args, '--data-dir', dataDir);
  expect(status).toBeGreaterThan(0);
  expect(stderr).toContain(message);
});
