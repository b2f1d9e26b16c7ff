import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run, runInChild, serve } from '../../test/support/command-line.js';
import { openTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { callApi, dataFolderFor } from '../../test/support/running-guard.js';
import { eventually } from '../../test/support/scratch.js';
import { sqlBlocklistStore } from '../activity/blocklist/blocklist-store.js';
import { sqlLoginAttemptStore } from '../login/login-attempts-store.js';
import { createSettingsStore } from '../settings/settings-store.js';

/** A data folder with access to its database. Guard does not run yet. */
async function dataFolder() {
  const connector = await fakeConnector();
  const dataDir = await dataFolderFor(connector);
  const db: TestDatabase = await openTestDatabase(dataDir);
  onTestFinished(() => db.destroy());
  const settings = createSettingsStore(db);
  const store = async (values: Record<string, unknown>) => {
    const changes = Object.entries(values).map(([name, after]) => ({
      name,
      before: null,
      after: after as never,
      expectedVersion: 0,
    }));
    await settings.write({ site: 'site', changes, actor: { id: 1, login: 'owner', address: null }, at: 1 });
  };
  const stored = async (name: string) => (await settings.read('site')).get(name)?.value;
  const audited = async () =>
    (await db.selectFrom('audit').selectAll().orderBy('at').execute())
      .filter((row) => row.actor_login === 'command line')
      .map((row) => [row.name, JSON.parse(row.before), JSON.parse(row.after)]);
  return { connector, dataDir, db, store, stored, audited };
}

const custom = { type: 'custom', login: 'my-door', signup: '' };
const away = { type: 'period', from_date: '2020-01-01', to_date: '2999-01-01' };
const lock = { failures: 5, lockedUntil: Date.now() + 3_600_000, lastFailure: Date.now(), accounts: [] };
const insertFactor = (db: TestDatabase) =>
  db
    .insertInto('second_factors')
    .values({
      site: 'site',
      user_id: 1,
      login: 'Owner',
      secret: 'x',
      key_id: 'x',
      last_step: 0,
      setup_challenge: null,
      created_at: 1,
      enabled_at: 1,
    })
    .execute();

describe('while guard does not run', () => {
  it.each<[string[], string, unknown, unknown, string]>([
    [['login-url', 'reset'], 'login_url', custom, { ...custom, type: 'default' }, 'wp-login.php'],
    [['login-access', 'clear'], 'login_access', ['192.0.2.1'], [], 'list is empty'],
    [['away-mode', 'off'], 'away_mode', away, { type: 'off' }, 'Away Mode is off'],
  ])('%j changes the stored settings and records who did it', async (args, name, before, after, text) => {
    const { dataDir, store, stored, audited } = await dataFolder();
    await store({ [name]: before });
    expect(run(...args, '--data-dir', dataDir)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(text),
      stderr: '',
    });
    expect(await stored(name)).toEqual(after);
    expect(await audited()).toEqual([[name, before, after]]);
    expect(run(...args, '--data-dir', dataDir).status).toBe(0);
  });

  it('`unblock` ends the lockout of one address, of the /64 of an IPv6 address, or of all', async () => {
    const { dataDir, db, audited } = await dataFolder();
    const attempts = sqlLoginAttemptStore(db);
    const keys = ['192.0.2.1', '2001:db8:0:1::/64', '198.51.100.9', 'device:a'];
    await attempts.save(
      'site',
      keys.map((key) => ({ key, ...lock })),
    );
    const left = async () => (await attempts.load('site')).map(({ key }) => key).sort();
    expect(run('unblock', '192.0.2.1', '--data-dir', dataDir).stdout).toBe('Unlocked: 192.0.2.1.\n');
    expect(run('unblock', '2001:DB8:0:1::77', '--data-dir', dataDir).stdout).toBe('Unlocked: 2001:db8:0:1::/64.\n');
    expect(await left()).toEqual(['198.51.100.9', 'device:a']);
    expect(run('unblock', '192.0.2.1', '--data-dir', dataDir).stdout).toContain('Nothing locks it');
    expect(run('unblock', '--all', '--data-dir', dataDir).stdout).toContain('Unlocked everything: 2');
    expect(await left()).toEqual([]);
    expect((await audited())[0]).toEqual(['login_unblock', { who: ['192.0.2.1'], entries: 1 }, null]);
  });

  it.each(['192.0.2.1', '64:ff9b::192.0.2.1', '2002:c000:201::5', '2001:0:203:4:0:1:3fff:fdfe', '１９２．０．２．１,'])(
    '`unblock %s` ends the lockout and the block of the address that it carries',
    async (typed) => {
      const { dataDir, db } = await dataFolder();
      await sqlLoginAttemptStore(db).save('site', [{ key: '192.0.2.1', ...lock }]);
      const change = { site: 'site', actor: { id: 1, login: 'owner', address: null }, at: 1 };
      const block = { kind: 'ip', value: '192.0.2.1', name: '192.0.2.1', visitorId: null } as const;
      await sqlBlocklistStore(db).block(change, block);
      const { stdout } = run('unblock', typed, '--data-dir', dataDir);
      expect(stdout).toBe('Unblocked: 192.0.2.1.\nUnlocked: 192.0.2.1.\n');
      expect(await sqlLoginAttemptStore(db).load('site')).toEqual([]);
    },
  );

  it('`two-factor reset` deletes the second factor by name or number, also when WordPress is down', async () => {
    const { connector, dataDir, db, audited } = await dataFolder();
    await insertFactor(db);
    const done = await runInChild('two-factor', 'reset', 'owner', '--data-dir', dataDir);
    expect(done).toEqual({ status: 0, stdout: 'Owner sets up a new second factor at the next login.\n', stderr: '' });
    expect(connector.endedSessions).toEqual([{ body: { users: [1] }, cookie: undefined }]);
    expect(await audited()).toEqual([['reset_2fa', { user: 1, login: 'Owner', on: true }, null]]);
    await insertFactor(db);
    await connector.close();
    expect(run('two-factor', 'reset', '1', '--data-dir', dataDir)).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('could not be ended'),
    });
    expect(run('two-factor', 'reset', 'owner', '--data-dir', dataDir)).toMatchObject({
      status: 1,
      stderr: 'No user with a second factor is called owner.\n',
    });
  });

  it.each([
    [['unblock'], 'The command needs: WHO.'],
    [['unblock', 'my-house'], 'my-house is not an address.'],
    [['login-url'], 'The command needs: reset.'],
    [['login-url', 'set'], 'The command needs: reset.'],
    [['login-access', 'clear', 'all'], 'The command needs: clear.'],
    [['two-factor', 'reset'], 'The command needs: reset USER.'],
    [['pause', '0'], 'MINUTES: use 1 to 1440.'],
    [['pause', '1441'], 'MINUTES: use 1 to 1440.'],
    [['pause', '1.5'], 'MINUTES: use 1 to 1440.'],
    [['resume', 'now'], 'Nothing but options can stand here.'],
  ])('%j is refused with exit code 2 and changes nothing', async (args, text) => {
    const { dataDir, audited } = await dataFolder();
    expect(run(...args, '--data-dir', dataDir)).toMatchObject({ status: 2, stderr: expect.stringContaining(text) });
    expect(await audited()).toEqual([]);
  });
});

describe('while guard runs', () => {
  const moveClock = new URL('../../test/support/move-clock.mjs', import.meta.url);
  /** The time between two pushes of the policy. */
  const BETWEEN_PUSHES_MS = 5000;

  async function running(
    values: Record<string, unknown>,
    prepare: (db: TestDatabase) => Promise<void> = async () => {},
    stepMs = BETWEEN_PUSHES_MS,
  ) {
    const folder = await dataFolder();
    await folder.store(values);
    await prepare(folder.db);
    const guard = await serve(folder.dataDir, { NODE_OPTIONS: `--import=${moveClock}?step=${stepMs}` });
    const { connector } = folder;
    await eventually(() => connector.policy !== null);
    const status = async (path: string, init: RequestInit = {}) =>
      (await fetch(`${guard.url}${path}`, { redirect: 'manual', ...init })).status;
    /** The next change is pushed to WordPress at once, because the last push was long ago. */
    const passes = () => void guard.child.kill('SIGUSR2');
    return { ...folder, guard, status, passes };
  }

  it('the login is back at its default address within seconds, in WordPress too', async () => {
    const { connector, dataDir, passes } = await running({ login_url: custom });
    expect(connector.policy?.policy.login_url_login).toBe('my-door');
    passes();
    expect((await runInChild('login-url', 'reset', '--data-dir', dataDir)).status).toBe(0);
    await eventually(() => connector.policy?.policy.login_url_login === '');
  });

  it('an allowlist that locks everyone out is removed, and Away Mode too', async () => {
    const { dataDir, guard } = await running({ login_access: ['203.0.113.0/24'], away_mode: away });
    const logIn = async () => (await fetch(`${guard.url}/wp-login.php`, { redirect: 'manual' })).status;
    expect(await logIn()).not.toBe(200);
    await runInChild('login-access', 'clear', '--data-dir', dataDir);
    await runInChild('away-mode', 'off', '--data-dir', dataDir);
    await eventually(async () => (await logIn()) === 200);
  });

  it('a locked address may try again after `unblock`', async () => {
    const { dataDir, guard } = await running({}, (db) =>
      sqlLoginAttemptStore(db).save('site', [{ key: '127.0.0.1', ...lock }]),
    );
    const logIn = async () =>
      (await fetch(`${guard.url}/wp-login.php`, { method: 'POST', body: 'log=a&pwd=b' })).status;
    await runInChild('login-access', 'clear', '--data-dir', dataDir);
    await runInChild('unblock', '198.51.100.1', '--data-dir', dataDir);
    expect(await logIn()).toBe(429);
    await runInChild('unblock', '127.0.0.1', '--data-dir', dataDir);
    await eventually(async () => (await logIn()) !== 429);
  });

  it('status includes the accounts that guard throttles, so it reports the policy as in force', async () => {
    const { connector, dataDir, guard, passes } = await running({});
    passes();
    for (let round = 0; round < 21; round++) await guessFrom(guard.url, `127.0.41.${1 + Math.floor(round / 4)}`);
    await eventually(() => connector.policy?.policy.slow_users === '1');
    const inSync = async () => {
      const { stdout } = await runInChild('status', '--data-dir', dataDir, '--json');
      return JSON.parse(stdout).sites[0].policyInSync;
    };
    expect(await inSync()).toBe(true);
    // Killing guard does not change WordPress. The next guard starts without throttled accounts.
    guard.child.kill('SIGKILL');
    await once(guard.child, 'exit');
    expect(await inSync()).toBe(true);
    await serve(dataDir);
    await eventually(() => connector.policy?.policy.slow_users === '');
    expect(await inSync()).toBe(true);
  });

  it('blocked visitors are allowed again after `unblock`: an address, a range, a user', async () => {
    const { connector, dataDir, db, guard, passes } = await running({});
    passes();
    const blocks = sqlBlocklistStore(db);
    const change = { site: 'site', actor: { id: 7, login: 'intruder', address: null }, at: Date.now() };
    await blocks.block(change, { kind: 'ip', value: '127.0.0.1', name: '127.0.0.1', visitorId: 0 });
    await blocks.block(change, { kind: 'range', value: '198.51.100.0/24', name: '198.51.100.0/24', visitorId: null });
    await blocks.block(change, { kind: 'user', value: '1', name: 'owner', visitorId: 1 });
    const home = async () => (await fetch(guard.url)).status;
    await eventually(async () => (await home()) === 403 && connector.policy?.policy.blocked_users === '1');
    passes();
    expect(run('unblock', 'nobody', '--data-dir', dataDir)).toMatchObject({ status: 2 });
    const args = { '127.0.0.1': '127.0.0.1', '198.51.100.*': '198.51.100.0/24', owner: 'owner' };
    for (const [word, name] of Object.entries(args)) {
      expect((await runInChild('unblock', word, '--data-dir', dataDir)).stdout).toBe(`Unblocked: ${name}.\n`);
    }
    expect(await blocks.count('site', Number.MAX_SAFE_INTEGER)).toBe(0);
    await eventually(async () => (await home()) !== 403 && connector.policy?.policy.blocked_users === '');
  });

  it('a pause switches all protections off, in WordPress too, until it ends; status and log report it', async () => {
    const { connector, dataDir, guard, status, passes } = await running({
      login_access: ['203.0.113.0/24'],
      sg2fa: 1,
    });
    expect(await status('/xmlrpc.php', { method: 'POST' })).not.toBe(200);
    passes();
    const paused = await runInChild('pause', '30', '--data-dir', dataDir);
    expect(paused.stdout).toMatch(/^Everything is off until \d{4}-/);
    await eventually(async () => (await status('/xmlrpc.php', { method: 'POST' })) === 200);
    expect(await status('/wp-login.php')).toBe(200);
    await eventually(() => connector.policy?.policy.sg2fa === 0 && connector.policy.policy.disable_xml_rpc === 0);
    await eventually(() => guard.log().includes('"event":"paused"'));
    const report = await runInChild('status', '--data-dir', dataDir);
    expect(report.stdout).toContain('everything is off until');
    expect(report.status).toBe(1);
    passes();
    await runInChild('resume', '--data-dir', dataDir);
    await eventually(async () => (await status('/xmlrpc.php', { method: 'POST' })) !== 200);
    await eventually(() => connector.policy?.policy.sg2fa === 1);
  });

  it('a pause ends by itself, also one that was set before guard started', async () => {
    const { connector, guard, status, passes } = await running(
      { paused_until: Date.now() + 600_000 },
      undefined,
      600_000,
    );
    expect(await status('/xmlrpc.php', { method: 'POST' })).toBe(200);
    expect(connector.policy?.policy.disable_xml_rpc).toBe(0);
    // Ten minutes later, also according to WordPress's clock.
    connector.clockAhead = 600_000;
    passes();
    await eventually(() => guard.log().includes('"event":"pause-ended"'));
    expect(await status('/xmlrpc.php', { method: 'POST' })).not.toBe(200);
    await eventually(() => connector.policy?.policy.disable_xml_rpc === 1);
  });

  it('the API still returns the stored settings during a pause', async () => {
    const { guard } = await running({ paused_until: Date.now() + 60_000 });
    const { body } = await callApi(guard.url, '/fetch-options', { body: '{"page":"security"}' });
    expect(body.data).toMatchObject({ disable_xml_rpc: 1 });
  });
});

/** A wrong password from an address of this machine. */
function guessFrom(url: string, localAddress: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/wp-login.php`, { method: 'POST', localAddress }, (response) => {
      response.resume().on('end', resolve);
    });
    sent.on('error', reject).end('log=owner&pwd=wrong');
  });
}
