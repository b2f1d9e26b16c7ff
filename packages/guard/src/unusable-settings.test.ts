import { once } from 'node:events';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runInChild, type ServeProcess, serve } from '../test/support/command-line.js';
import { openTestDatabase, withDatabase } from '../test/support/database.js';
import { fakeConnector } from '../test/support/fake-connector.js';
import { recordedLog } from '../test/support/logs.js';
import { dataFolderFor, runningGuard } from '../test/support/running-guard.js';
import { eventually } from '../test/support/scratch.js';
import { SECRET } from '../test/support/site-config.js';
import { wordpressFolder } from '../test/support/wordpress-folder.js';
import { secretFile } from './config/load-config.js';

/** A data folder with two sites, each with its WordPress, and a connection to its database. */
async function twoSites(broken: object = {}) {
  const [good, bad] = [await fakeConnector(), await fakeConnector()];
  const sites = [
    { id: 'good', upstream: good.upstream, hosts: ['good.example.com', '*.example.com'] },
    { id: 'bad', upstream: bad.upstream, hosts: ['bad.example.com'], ...broken },
  ];
  const dataDir = await dataFolderFor(good, {}, { sites });
  for (const { id } of sites) await writeFile(secretFile(dataDir, id), SECRET, { mode: 0o600 });
  const db = await openTestDatabase(dataDir);
  onTestFinished(() => db.destroy());
  const store = async (name: string, value: string, version = 1) => {
    await db.deleteFrom('settings').where('site', '=', 'bad').where('name', '=', name).execute();
    await db.insertInto('settings').values({ site: 'bad', name, value, version, updated_at: 1 }).execute();
  };
  return { good, bad, dataDir, db, store, sites };
}

/** The status of guard's response to a request for a host. */
async function get(url: string, host: string, path = '/') {
  const outgoing = request(url + path, { headers: { host }, agent: false }).end();
  const [response] = await once(outgoing, 'response');
  response.resume();
  await once(response, 'end');
  return { status: response.statusCode as number };
}

/** Sends SIGHUP and waits until guard has applied the file. */
async function reload(dataDir: string, { child }: ServeProcess): Promise<{ served: string[]; quarantined: string[] }> {
  const file = join(dataDir, 'guard.json');
  await writeFile(`${file}.new`, await readFile(file));
  await rename(`${file}.new`, file);
  const { mtimeNs } = await stat(file, { bigint: true });
  const read = async () => JSON.parse(await readFile(join(dataDir, 'guard.sites'), 'utf8'));
  child.kill('SIGHUP');
  await eventually(async () => (await read()).configuration.writtenAt === String(mtimeNs));
  return read();
}

const values: readonly [string, string, string, RegExp][] = [
  ['no JSON', 'disable_xml_rpc', '{', /stored value of disable_xml_rpc can’t be used: .*expected/],
  ['of another type', 'login_access', '"203.0.113.7"', /stored value of login_access can’t be used: .*expected array/],
  ['not allowed', 'login_attempts', '-1', /stored value of login_attempts can’t be used: /],
  ['a pause without a time', 'paused_until', '"soon"', /stored value of paused_until can’t be used: a number/],
];

describe('a site whose stored settings can’t be used is quarantined alone', () => {
  it.each(values)('when a value is %s', async (_, name, value, reason) => {
    const { good, bad, dataDir, store } = await twoSites();
    await store(name, value);
    let requests = 0;
    bad.onRequest = () => void requests++;
    const { logger, text } = recordedLog();
    const guard = await runningGuard(dataDir, logger);
    await eventually(() => good.policy !== null);
    expect(await get(guard.url, 'good.example.com')).toMatchObject({ status: 200 });
    expect(await get(guard.url, 'bad.example.com')).toMatchObject({ status: 503 });
    expect(await get(guard.url, 'bad.example.com', '/xmlrpc.php')).toMatchObject({ status: 503 });
    expect([bad.policy, requests]).toEqual([null, 0]);
    expect(guard.sites).toMatchObject({ sites: [{ id: 'good' }], quarantined: [{ id: 'bad', cause: 'settings' }] });
    const line = text()
      .split('\n')
      .find((entry) => entry.includes('"site-quarantined"')) as string;
    expect(JSON.parse(line)).toMatchObject({ site: 'bad', cause: 'settings', reason: expect.stringMatching(reason) });
    expect(JSON.parse(line).reason).toContain('settings import');
  });

  it('and is served again once `settings import` has corrected the value', async () => {
    const { bad, dataDir, store } = await twoSites();
    await store('disable_xml_rpc', '{');
    const guard = await serve(dataDir);
    // The settings are read after the first note of the sites.
    const noted = async () => JSON.parse(await readFile(join(dataDir, 'guard.sites'), 'utf8'));
    await eventually(async () => (await noted()).quarantined.includes('bad'));
    expect((await noted()).served).toEqual(['good']);
    // Read again, and still no JSON.
    expect(await reload(dataDir, guard)).toMatchObject({ served: ['good'], quarantined: ['bad'] });
    expect(await get(guard.url, 'bad.example.com')).toMatchObject({ status: 503 });
    const file = join(dataDir, 'settings.json');
    await writeFile(file, JSON.stringify({ settings: { login_attempts: 3 } }));
    const command = ['settings', 'import', file, '--data-dir', dataDir, '--site', 'bad'];
    expect(await runInChild(...command)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('stored value of disable_xml_rpc can’t be used'),
    });
    await writeFile(file, JSON.stringify({ settings: { disable_xml_rpc: 1 } }));
    expect(await runInChild(...command)).toMatchObject({
      ...{ status: 0, stderr: '', stdout: expect.stringContaining('The running guard serves bad again.') },
    });
    expect(await noted()).toMatchObject({ served: ['good', 'bad'], quarantined: [] });
    expect(await get(guard.url, 'bad.example.com')).toMatchObject({ status: 200 });
    expect(await get(guard.url, 'bad.example.com', '/xmlrpc.php')).toMatchObject({ status: 403 });
    await eventually(() => bad.policy !== null);
  });

  it('and the record of the change does not claim that a default was in force', async () => {
    const { dataDir, store, db } = await twoSites();
    await store('login_access', '"203.0.113.7"');
    expect((await runInChild('login-access', 'clear', '--data-dir', dataDir, '--site', 'bad')).status).toBe(0);
    const rows = await db.selectFrom('audit').select(['name', 'before', 'after']).execute();
    expect(rows).toEqual([{ name: 'login_access', before: 'null', after: '[]' }]);
  });

  it.each<[string, string[], string, string]>([
    ['away-mode', ['off'], 'away_mode', '{"type":"sometimes"}'],
    ['login-access', ['clear'], 'login_access', '"203.0.113.7"'],
    ['login-url', ['reset'], 'login_url', '{"type":"own"}'],
    ['pause', ['5'], 'paused_until', '"soon"'],
    ['resume', [], 'paused_until', '{'],
  ])('and is served again once `%s` has replaced the value', async (command, args, name, value) => {
    const { dataDir, store } = await twoSites();
    await store(name, value);
    const guard = await serve(dataDir);
    expect(await get(guard.url, 'bad.example.com')).toMatchObject({ status: 503 });
    expect(await runInChild(command, ...args, '--data-dir', dataDir, '--site', 'bad')).toMatchObject({
      ...{ status: 0, stderr: '', stdout: expect.stringContaining('The running guard serves bad again.') },
    });
    expect(await get(guard.url, 'bad.example.com')).toMatchObject({ status: 200 });
  });

  it('and a recovery command that did not mend the reason says so', async () => {
    const { dataDir, store } = await twoSites();
    await writeFile(secretFile(dataDir, 'bad'), 'short');
    await store('login_access', '"203.0.113.7"');
    const guard = await serve(dataDir);
    const on = ['--data-dir', dataDir, '--site', 'bad'];
    expect(await runInChild('login-access', 'clear', ...on)).toMatchObject({
      status: 1,
      stdout: 'The Login Access list is empty. Every address may try to log in.\n',
      stderr: 'The site bad is still in quarantine; `doctor bad` tells why.\n',
    });
    await store('login_attempts', '"many"');
    for (const command of [
      ['pause', '5'],
      ['settings', 'export'],
    ]) {
      const { status, stderr } = await runInChild(...command, ...on);
      expect(status).toBe(1);
      expect(stderr).toMatch(
        /stored value of login_attempts can’t be used: .*security-optimizer settings import.* --site bad/s,
      );
      expect(stderr).not.toContain('database');
    }
    expect(await get(guard.url, 'bad.example.com')).toMatchObject({ status: 503 });
  });

  it('also when it is added to a running guard', async () => {
    const { dataDir, store, sites } = await twoSites();
    await store('login_attempts', '"many"');
    const write = async (list: readonly object[]) => {
      const written = await withDatabase(dataDir, { listen: '127.0.0.1:0', sites: list });
      await writeFile(join(dataDir, 'guard.json'), JSON.stringify(written));
    };
    await write(sites.slice(0, 1));
    const guard = await serve(dataDir);
    await write(sites);
    expect(await reload(dataDir, guard)).toMatchObject({ served: ['good'], quarantined: ['bad'] });
    expect(await get(guard.url, 'bad.example.com')).toMatchObject({ status: 503 });
    expect(await get(guard.url, 'good.example.com')).toMatchObject({ status: 200 });
  });

  it('also when its key could not be used at first: its settings are read before it is served', async () => {
    const { dataDir, store } = await twoSites();
    await store('login_attempts', '"many"');
    await writeFile(secretFile(dataDir, 'bad'), 'short');
    const guard = await serve(dataDir);
    await writeFile(secretFile(dataDir, 'bad'), SECRET);
    expect(await reload(dataDir, guard)).toMatchObject({ served: ['good'], quarantined: ['bad'] });
    expect(await get(guard.url, 'bad.example.com')).toMatchObject({ status: 503 });
  });

  it('while a running guard goes on with the last settings that it could read, and `status` says so', async () => {
    const { dataDir, store, db } = await twoSites();
    await store('disable_xml_rpc', '1');
    const { logger, events } = recordedLog();
    const guard = await runningGuard(dataDir, logger);
    await store('disable_xml_rpc', '{', 2);
    await db.insertInto('site_versions').values({ site: 'bad', version: 1 }).execute();
    await eventually(() => events().includes('settings-reload-failed'));
    expect(await get(guard.url, 'bad.example.com', '/xmlrpc.php')).toMatchObject({ status: 403 });
    const { stdout } = await runInChild('status', '--data-dir', dataDir);
    expect(stdout).toContain('Site bad: settings: the stored value of disable_xml_rpc can’t be used');
    expect(stdout).toContain('Guard goes on with the last settings that it could read');
    expect(stdout).not.toContain('Visitors get 503. settings');
  });
});

describe('alert settings that can’t be used', () => {
  it('keep neither guard nor the site from being served', async () => {
    const { dataDir, db } = await twoSites();
    await db.insertInto('alert_settings').values({ site: 'bad', value: '{"webhook": "secret"' }).execute();
    const { logger, text } = recordedLog();
    const { url } = await runningGuard(dataDir, logger);
    expect(await get(url, 'bad.example.com')).toMatchObject({ status: 200 });
    const line = text()
      .split('\n')
      .find((entry) => entry.includes('"alert-settings-unusable"')) as string;
    expect(JSON.parse(line)).toMatchObject({ level: 'error', site: 'bad' });
    expect(text()).not.toContain('"secret"');
  });
});

describe('commands', () => {
  const faults: readonly [string, object, string, string][] = [
    [
      'an entry with mistakes',
      { upstream: 'https://wordpress.internal' },
      '',
      'sites[1].upstream: use the http origin',
    ],
    ['stored settings that can’t be used', {}, '"x"', 'stored value of login_attempts can’t be used'],
  ];

  it.each(faults)('work for the other sites, and name %s', async (_, broken, stored, reason) => {
    const { dataDir, store } = await twoSites(broken);
    if (stored !== '') await store('login_attempts', stored);
    const on = ['--data-dir', dataDir];
    const status = await runInChild('status', ...on, '--json');
    expect(status).toMatchObject({ status: 1, stderr: '' });
    const report = JSON.parse(status.stdout);
    expect(report.sites).toMatchObject([{ id: 'good' }]);
    const cause = stored === '' ? 'entry' : 'settings';
    expect(report.quarantined).toMatchObject([{ id: 'bad', cause, reason: expect.stringContaining(reason) }]);
    const list = await runInChild('sites', 'list', ...on);
    expect(list).toMatchObject({ status: 0, stderr: expect.stringContaining(reason) });
    expect(list.stdout).toMatch(/^bad +bad\.example\.com/m);
    expect(await runInChild('sites', 'show', 'good', ...on)).toMatchObject({ status: 0, stderr: '' });
    expect(await runInChild('sites', 'show', 'bad', ...on)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('bad.example.com'),
      stderr: expect.stringContaining(reason),
    });
    expect(await runInChild('pause', '5', ...on, '--site', 'good')).toMatchObject({ status: 0, stderr: '' });
    expect((await runInChild('doctor', 'bad', ...on)).stdout).toContain(reason);
    expect((await runInChild('settings', 'export', ...on, '--site', 'good')).status).toBe(0);
    const removed = await runInChild('sites', 'remove', '--site', 'bad', ...on);
    expect([removed.status, removed.stdout]).toEqual([0, expect.stringContaining('Detached: bad.')]);
    const left = JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8')).sites;
    expect(left).toMatchObject([{ id: 'good' }]);
  });

  it('never change the entry, nor give its folder or hosts to another site', async () => {
    const wordpress = await wordpressFolder();
    const { dataDir, good } = await twoSites({ wordpressDir: wordpress, colour: 'blue' });
    const attach = (folder: string, host: string) =>
      runInChild(
        ...['attach', '--data-dir', dataDir, '--wordpress', folder, '--host', host, '--upstream', good.upstream],
      );
    expect(await attach(wordpress, 'new.example.org')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/site bad in guard\.json has mistakes:\n {2}sites\[1\]\.colour.*sites remove/s),
    });
    expect(await attach(await wordpressFolder(), 'bad.example.com')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('The site bad already takes the host bad.example.com'),
    });
    expect((await attach(await wordpressFolder(), 'new.example.org')).stdout).toContain(
      'Attached: site new-example-org',
    );
    const { sites } = JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8'));
    expect(sites.map(({ id }: { id: string }) => id)).toEqual(['good', 'bad', 'new-example-org']);
    expect(sites[1]).toMatchObject({ colour: 'blue', hosts: ['bad.example.com'] });
    const all = await runInChild('attach', '--all', '--data-dir', dataDir);
    expect(all).toMatchObject({ status: 1, stderr: expect.stringContaining('Site bad: its entry has mistakes') });
    expect((await runInChild('erase', '--site', 'bad', '--data-dir', dataDir)).stderr).toContain('bad is attached');
  });

  it('remove an entry without an id of its own by its place, and nothing else', async () => {
    const { dataDir } = await twoSites({ id: 'good' });
    const on = ['--data-dir', dataDir];
    const refused = await runInChild('sites', 'remove', '--site', 'good', ...on);
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining("--site 'sites[1]'") });
    const removed = await runInChild('sites', 'remove', '--site', 'sites[1]', ...on);
    expect(removed).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('Detached: sites[1].') });
    expect((await runInChild('sites', 'show', 'good', ...on)).status).toBe(0);
    expect(await readFile(secretFile(dataDir, 'good'), 'utf8')).toBe(SECRET);
  });
});
