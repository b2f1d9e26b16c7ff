import { loginOptionsSchema } from '@security-optimizer/contract/login';
import { loginEndpoints } from '@security-optimizer/contract/login-endpoints';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../lib/logger.js';
import { type Database, openDatabase } from '../storage/database.js';
import { fakeConnector } from '../testing/fake-connector.js';
import { callApi, dataFolderFor, runningGuard } from '../testing/running-guard.js';
import { eventually } from '../testing/scratch.js';

/** Guard, the fake WordPress, and a second look into guard's database. */
async function start() {
  const connector = await fakeConnector();
  const dataDir = await dataFolderFor(connector);
  const guard = await runningGuard(dataDir);
  await eventually(() => connector.policy !== null);
  const db: Database = await openDatabase({ url: 'sqlite:guard.sqlite', dataDir, logger: silentLogger() });
  onTestFinished(() => db.destroy());
  const call = async (suffix: string, body?: unknown, options: { method?: string; address?: string } = {}) => {
    const { http, body: answer } = await callApi(guard.url, suffix, {
      ...(options.method && { method: options.method }),
      body: body === undefined ? null : JSON.stringify(body),
    });
    expect(http).toBe(answer.status);
    return answer as { status: number; data: Record<string, unknown>; message: string; code?: string; fields?: object };
  };
  const options = async () => (await call('/fetch-options', { page: 'login' })).data;
  const audited = async () =>
    (await db.selectFrom('audit').selectAll().orderBy('at').execute()).map((row) => [
      row.name,
      row.before,
      row.after,
      row.actor_login,
    ]);
  return { connector, guard, db, call, options, audited };
}

describe('the options of the page Login Security', () => {
  it('are those of a fresh site, in the form of the contract', async () => {
    const { options } = await start();
    const data = await options();
    expect(loginOptionsSchema.safeParse(data).error).toBeUndefined();
    expect(data).toEqual({
      sg2fa: 0,
      two_factor_app_passwords: 0,
      reset_2fa: [],
      disable_usernames: 1,
      usernames_data: { all_users: [{ user_login: 'owner' }, { user_login: 'editor' }], admin_matches: [] },
      login_access: [],
      login_attempts: [
        { value: 0, label: 'OFF', selected: 0 },
        { value: 3, label: '3', selected: 0 },
        { value: 5, label: '5', selected: 1 },
      ],
      login_url: [
        { type: 'default', label: 'Default', login: 'https://example.com/wp-login.php', signup: null, selected: 1 },
        { type: 'custom', label: 'Custom', login: '', signup: null, selected: 0 },
      ],
      away_mode: {
        schedule: { type: 'off' },
        away: 0,
        until: null,
        until_text: null,
        next_from: null,
        next_from_text: null,
        timezone: 'Europe/Berlin',
      },
      your_address: '127.0.0.1',
      two_factor_setup_url: 'https://example.com/wp-login.php?action=second-factor-setup',
    });
  });

  it('hold sign-up addresses while visitors may register', async () => {
    const { connector, options } = await start();
    connector.registration = true;
    expect((await options()).login_url).toMatchObject([
      { signup: 'https://example.com/wp-login.php?action=register' },
      { signup: '' },
    ]);
  });
});

describe('every change of Login Security', () => {
  const bodies: Readonly<Record<string, unknown>> = {
    '/limit-login-attempts': { login_attempts: '3' },
    '/login-access': ['127.0.0.0/8'],
    '/custom-login-url': { type: 'custom', login: 'my-door' },
    '/2fa': { sg2fa: true },
    '/two-factor-app-passwords': { two_factor_app_passwords: 1 },
    '/disable-admin-username': { disable_usernames: '0' },
    '/away-mode': { type: 'daily', from_hour: '00:00', to_hour: '00:01' },
  };

  it.each(
    loginEndpoints.filter(({ suffix }) => suffix in bodies).map((endpoint) => [endpoint.name, endpoint] as const),
  )('%s answers in the form of the contract, and twice the same', async (_name, endpoint) => {
    const { call } = await start();
    const [method = 'POST'] = endpoint.methods;
    const body = method === 'GET' ? undefined : bodies[endpoint.suffix];
    const first = await call(endpoint.suffix, body, { method });
    expect(first).toMatchObject({ status: 200 });
    expect(endpoint.response.safeParse(first.data).error).toBeUndefined();
    // A minute after midnight Away Mode may really be on.
    if (endpoint.suffix !== '/away-mode') expect(await call(endpoint.suffix, body, { method })).toEqual(first);
  });

  it('is refused without a session, and tells OPTIONS all methods of its path', async () => {
    const { guard } = await start();
    const answer = await callApi(guard.url, '/away-mode', { method: 'GET', headers: { cookie: null } });
    expect(answer.body.code).toBe('rest_cookie_invalid_nonce');
    const options = await callApi(guard.url, '/away-mode', { method: 'OPTIONS' });
    expect(options.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
  });
});

describe('limiting log-in attempts', () => {
  it('is stored with an audit row, answered as a list, and told to WordPress', async () => {
    const { connector, call, audited } = await start();
    const { data, message } = await call('/limit-login-attempts', { login_attempts: 3 });
    expect(data).toEqual({
      login_attempts: [
        { value: 0, label: 'OFF', selected: 0 },
        { value: 3, label: '3', selected: 1 },
        { value: 5, label: '5', selected: 0 },
      ],
    });
    expect(message).toBe('After 3 failed log-ins an address has to wait.');
    expect(await audited()).toEqual([['login_attempts', '5', '3', 'owner']]);
    expect(connector.policy?.policy.login_attempts).toBe(3);
  });

  it('stays as it was when WordPress can’t be told', async () => {
    const { connector, call, options, audited } = await start();
    connector.failing.add('policy');
    expect(await call('/limit-login-attempts', { login_attempts: 0 })).toMatchObject({ code: 'wordpress_unreachable' });
    connector.failing.clear();
    expect((await options()).login_attempts).toMatchObject([{}, {}, { value: 5, selected: 1 }]);
    expect(await audited()).toEqual([]);
  });
});

describe('the Login Access list', () => {
  it('is taken bare or as entries; empty rows are dropped, doubles too, and spaces around', async () => {
    const { call, options } = await start();
    const list = [' 127.0.0.1', '', '2001:db8::/32', '10.1.*.*', '192.0.2.1 - 192.0.2.9', '127.0.0.1'];
    const kept = ['127.0.0.1', '2001:db8::/32', '10.1.*.*', '192.0.2.1-192.0.2.9'];
    expect((await call('/login-access', list)).data).toEqual({ login_access: kept });
    expect((await call('/login-access', { entries: [...list, '198.51.100.7'] })).status).toBe(200);
    expect((await options()).login_access).toEqual([...kept, '198.51.100.7']);
    expect((await call('/login-access', [])).data).toEqual({ login_access: [] });
  });

  it('names each row that can’t be read by its position', async () => {
    const { call, options } = await start();
    const answer = await call('/login-access', ['127.0.0.1', 'my house', '', '10.0.0.0/33', 7, '1.2.3.4-1.2.3.3']);
    const text = 'Invalid format.';
    expect(answer).toMatchObject({
      status: 400,
      code: 'invalid_input',
      fields: { 1: text, 3: text, 4: text, 5: text },
    });
    expect((await options()).login_access).toEqual([]);
  });

  it('does not shut out the caller unless that is confirmed', async () => {
    const { call, options } = await start();
    expect(await call('/login-access', ['203.0.113.0/24'])).toMatchObject({
      status: 409,
      code: 'would_shut_you_out',
      message: 'Your own address 127.0.0.1 is not in this list, so it would shut you out. Nothing was saved.',
    });
    expect((await options()).login_access).toEqual([]);
    const confirmed = await call('/login-access', { entries: ['203.0.113.0/24'], confirm: true });
    expect(confirmed.data).toEqual({ login_access: ['203.0.113.0/24'] });
  });

  it('has at most 500 rows', async () => {
    const { call } = await start();
    const rows = Array.from({ length: 501 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
    expect((await call('/login-access', { entries: rows, confirm: 1 })).fields).toEqual({
      entries: 'Enter at most 500 addresses.',
    });
    expect((await call('/login-access', { entries: rows.slice(1), confirm: 1 })).status).toBe(200);
  });
});

describe('the Custom Login URL', () => {
  it('is stored without slashes, told to WordPress, and kept when it goes back to default', async () => {
    const { connector, call } = await start();
    const set = await call('/custom-login-url', { type: 'custom', login: '/My-Door/', signup: '' });
    expect(set.message).toBe('The log-in is at /my-door now.');
    expect(set.data.login_url).toMatchObject([{ selected: 0 }, { login: 'my-door', signup: null, selected: 1 }]);
    expect(connector.policy?.policy).toMatchObject({ login_url_login: 'my-door', login_url_signup: '' });
    const back = await call('/custom-login-url', { type: 'default', login: 'https://example.com/wp-login.php' });
    expect(back.data.login_url).toMatchObject([{ selected: 1 }, { login: 'my-door', selected: 0 }]);
    expect(connector.policy?.policy).toMatchObject({ login_url_login: '' });
  });

  it.each([
    ['', 'This field is required.'],
    ['my door', 'Invalid format.'],
    ['door?x', 'Invalid format.'],
    ['../door', 'Invalid format.'],
    ['a//b', 'Invalid format.'],
    ['ab', 'Use 3 to 64 characters.'],
    ['x'.repeat(65), 'Use 3 to 64 characters.'],
    ['wp-admin', 'WordPress uses this address itself. Choose another one.'],
    ['WP-Anything/x', 'WordPress uses this address itself. Choose another one.'],
    ['login', 'WordPress uses this address itself. Choose another one.'],
    ['feed/door', 'WordPress uses this address itself. Choose another one.'],
    ['2026/door', 'WordPress uses this address itself. Choose another one.'],
    ['about', 'This address is taken by a page. Choose another one.'],
  ])('can’t be %j', async (login, text) => {
    const { connector, call } = await start();
    connector.usedPaths.set('about', 'a page');
    const answer = await call('/custom-login-url', { type: 'custom', login });
    expect(answer).toMatchObject({ status: 400, code: 'invalid_input', fields: { login: text } });
    expect(connector.policy?.policy.login_url_login).toBe('');
  });

  it('needs another address for the sign-up while visitors may register', async () => {
    const { connector, call } = await start();
    connector.registration = true;
    const custom = { type: 'custom', login: 'my-door' };
    expect((await call('/custom-login-url', custom)).fields).toEqual({ signup: 'This field is required.' });
    expect((await call('/custom-login-url', { ...custom, signup: 'MY-DOOR' })).fields).toEqual({
      signup: 'Choose another address than the one for the log-in.',
    });
    expect((await call('/custom-login-url', { ...custom, signup: 'join-us' })).status).toBe(200);
    expect(connector.policy?.policy).toMatchObject({ login_url_login: 'my-door', login_url_signup: 'join-us' });
    connector.registration = false;
    await call('/custom-login-url', { type: 'custom', login: 'other-door', signup: null });
    expect(connector.policy?.policy).toMatchObject({ login_url_login: 'other-door', login_url_signup: 'join-us' });
  });
});

describe('disabling common usernames', () => {
  async function withAdmins() {
    const world = await start();
    world.connector.members.set(7, { login: 'Admin', administrator: true });
    world.connector.members.set(8, { login: 'user1', administrator: true });
    world.connector.members.set(9, { login: 'user', administrator: false });
    await world.call('/disable-admin-username', { disable_usernames: 0 });
    return world;
  }

  it('is refused while administrators have one, and says which', async () => {
    const { call, options } = await withAdmins();
    expect(await call('/disable-admin-username', { disable_usernames: 1 })).toMatchObject({
      status: 409,
      code: 'common_usernames_in_use',
      message:
        'Administrators with a common username: Admin, user1. Choose new usernames for them first. Nothing was saved.',
      fields: { 7: 'Username Admin is not allowed.', 8: 'Username user1 is not allowed.' },
    });
    expect((await options()).disable_usernames).toBe(0);
  });

  it.each([
    [{ 7: 'first' }, { 8: 'This field is required.' }],
    [{ 7: '', 8: 'second' }, { 7: 'This field is required.' }],
    [{ 7: 'fïrst', 8: 'second' }, { 7: 'Invalid format.' }],
    [{ 7: 'x'.repeat(61), 8: 'second' }, { 7: 'Invalid format.' }],
    [{ 7: 'first', 8: 'FIRST' }, { 8: 'Username FIRST already typed.' }],
    [{ 7: 'Owner', 8: 'second' }, { 7: 'Username Owner already exists.' }],
    [{ 7: 'ADMINISTRATOR', 8: 'second' }, { 7: 'Username ADMINISTRATOR is not allowed.' }],
    [{ 1: 'boss', 7: 'first', 8: 'second' }, { 1: 'This user is not an administrator with a common username.' }],
  ])('refuses the new names %j', async (names, fields) => {
    const { connector, call } = await withAdmins();
    const admin_names = Object.entries(names).map(([ID, user_login]) => ({ ID, user_login }));
    expect(await call('/disable-admin-username', { admin_names })).toMatchObject({ code: 'invalid_input', fields });
    expect(connector.members.get(8)?.login).toBe('user1');
    expect(connector.commands).not.toContain('rename-users');
  });

  it('renames all, then forbids the names, and answers with the users as they are now', async () => {
    const { connector, call, audited } = await withAdmins();
    const admin_names = { 0: { ID: 7, user_login: ' first ' }, 3: { ID: '8', user_login: 'second' } };
    const { status, data, message } = await call('/disable-admin-username', { admin_names });
    expect([status, message]).toEqual([200, 'The usernames are changed.']);
    expect(data).toMatchObject({ disable_usernames: 1, usernames_data: { admin_matches: [] } });
    expect(connector.members.get(7)?.login).toBe('first');
    expect(connector.policy?.policy).toMatchObject({
      disable_usernames: 1,
      disallowed_usernames: 'administrator,user1,admin,user',
    });
    expect(await audited()).toEqual(
      expect.arrayContaining([
        ['username:7', '"Admin"', '"first"', 'owner'],
        ['username:8', '"user1"', '"second"', 'owner'],
        ['disable_usernames', '0', '1', 'owner'],
      ]),
    );
  });

  it('hands the caller’s browser the cookies of the renamed session', async () => {
    const { connector, guard } = await start();
    connector.members.set(1, { login: 'admin', administrator: true });
    const body = JSON.stringify({ admin_names: [{ ID: 1, user_login: 'boss' }] });
    const { http, headers } = await callApi(guard.url, '/disable-admin-username', { body });
    expect([http, headers.getSetCookie()]).toEqual([200, ['renamed=1; HttpOnly']]);
  });

  it('passes on what WordPress itself refuses, and stores nothing', async () => {
    const { connector, call, options } = await withAdmins();
    connector.hiddenNames.add('second');
    const admin_names = [
      { ID: 7, user_login: 'first' },
      { ID: 8, user_login: 'second' },
    ];
    const answer = await call('/disable-admin-username', { disable_usernames: 1, admin_names });
    expect(answer.fields).toEqual({ 8: 'Username second already exists.' });
    expect((await options()).disable_usernames).toBe(0);
  });
});

describe('the second factor', () => {
  it('ends the sessions of all who need it but the caller’s when it is switched on, once', async () => {
    const { connector, call } = await start();
    const answer = await call('/2fa', { sg2fa: 1 });
    expect(answer.data).toEqual({
      sg2fa: 1,
      two_factor_setup_url: 'https://example.com/wp-login.php?action=second-factor-setup',
    });
    const ended = [{ body: { needs_factor: true, keep_cookie: true }, cookie: 'session=owner' }];
    expect(connector.endedSessions).toEqual(ended);
    expect(connector.policy?.policy.sg2fa).toBe(1);
    await call('/2fa', { sg2fa: 1 });
    expect(connector.endedSessions).toEqual(ended);
  });

  it('is off again when the sessions could not be ended', async () => {
    const { connector, call, options } = await start();
    connector.failing.add('end-sessions');
    expect(await call('/2fa', { sg2fa: 1 })).toMatchObject({ status: 503 });
    expect((await options()).sg2fa).toBe(0);
    expect(connector.policy?.policy.sg2fa).toBe(0);
  });

  it('is set up at the custom address', async () => {
    const { call, options } = await start();
    await call('/custom-login-url', { type: 'custom', login: 'my-door' });
    expect((await options()).two_factor_setup_url).toBe('https://example.com/my-door?action=second-factor-setup');
  });

  it('can be reset for a user who has one, and for nobody else', async () => {
    const { connector, db, call, options } = await start();
    await db
      .insertInto('second_factors')
      .values({
        site: 'site',
        user_id: 2,
        login: 'editor',
        secret: 'x',
        key_id: 'x',
        last_step: 0,
        setup_challenge: null,
        enabled_at: 1,
        created_at: 1,
      })
      .execute();
    expect((await options()).reset_2fa).toEqual([{ ID: 2, user_login: 'editor' }]);
    const { data, message } = await call('/reset-user-2fa/2');
    expect(data).toEqual({ reset_2fa: [] });
    expect(message).toBe('editor sets up a new second factor at the next log-in.');
    const ended = [{ body: { users: [2], keep_cookie: true }, cookie: 'session=owner' }];
    expect(connector.endedSessions).toEqual(ended);
    expect(await call('/reset-user-2fa/2')).toMatchObject({ status: 404, message: 'This user has no second factor.' });
    expect(connector.endedSessions).toEqual(ended);
    expect(await call('/reset-user-2fa/nobody')).toMatchObject({ status: 400, fields: { id: 'Invalid format.' } });
  });
});

describe('Away Mode', () => {
  it('is planned in the time zone of the site, and read again by GET', async () => {
    const { call } = await start();
    const [tomorrow = ''] = new Date(Date.now() + 2 * 86_400_000).toISOString().split('T');
    const set = await call('/away-mode', { type: 'period', from_date: tomorrow, to_date: tomorrow });
    expect(set.data).toMatchObject({ type: 'period', from_date: tomorrow, away_mode: { away: 0, until: null } });
    expect(set.message).toMatch(/^Away Mode begins on \w+ \d+ \w+ \d{4}, 00:00\.$/);
    expect((await call('/away-mode', undefined, { method: 'GET' })).data).toEqual(set.data);
    expect((await call('/away-mode', { type: 'off' })).message).toBe('Away Mode is off.');
  });

  it('refuses what the rules refuse', async () => {
    const { call } = await start();
    expect((await call('/away-mode', {})).fields).toEqual({ type: 'This field is required.' });
    expect((await call('/away-mode', { type: 'daily', from_hour: '06:00', to_hour: '05:30' })).fields).toEqual({
      to_hour: 'You can enable Away Mode for maximum of 23 hours daily.',
    });
  });

  it('can’t be changed while it is on', async () => {
    const { call, db } = await start();
    const today = new Date(Date.now() + 7_200_000).toISOString().slice(0, 10);
    const on = { type: 'period', from_date: '2020-01-01', to_date: today };
    await call('/away-mode', { type: 'weekly', weekly: ['monday'] });
    await db
      .updateTable('settings')
      .set({ value: JSON.stringify(on) })
      .where('name', '=', 'away_mode')
      .execute();
    for (const input of [{ type: 'off' }, { type: 'weekly', value: ['sunday'] }]) {
      expect(await call('/away-mode', input)).toMatchObject({
        status: 409,
        code: 'away_mode_on',
        message: expect.stringMatching(/^Away Mode is on until \w+ \d+ \w+ \d{4}, 00:00\.$/),
      });
    }
  });
});
