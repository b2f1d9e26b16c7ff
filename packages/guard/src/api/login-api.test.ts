import { loginEndpoints } from '@security-optimizer/contract/login/endpoints';
import { loginOptionsSchema } from '@security-optimizer/contract/login/schemas';
import { describe, expect, it } from 'vitest';
import { callApi, loginSite } from '../../test/support/running-guard.js';

/** A schedule that closes nothing yet, at whatever day and hour the tests run. */
function laterPeriod() {
  const day = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
  return { type: 'period', from_date: day, to_date: day } as const;
}

describe('the options of the page Login Security', () => {
  it('are those of a new site, as the contract defines', async () => {
    const { options } = await loginSite();
    const data = await options();
    expect(loginOptionsSchema.safeParse(data).error).toBeUndefined();
    expect(data).toEqual({
      sg2fa: 0,
      two_factor_app_passwords: 0,
      two_factor_roles: [
        { role: 'administrator', name: 'Administrator', selected: 1, required: 1 },
        { role: 'editor', name: 'Editor', selected: 1, required: 1 },
        { role: 'author', name: 'Author', selected: 0, required: 0 },
        { role: 'shop_manager', name: 'Shop manager', selected: 0, required: 0 },
      ],
      two_factor_users: {
        total: 2,
        set_up: 0,
        users: [
          { ID: 1, user_login: 'owner', role: 'administrator', sessions: 1, set_up: 0, you: 1 },
          { ID: 2, user_login: 'editor', role: 'editor', sessions: 1, set_up: 0, you: 0 },
        ],
      },
      team_size: 2,
      reset_2fa: [],
      disable_usernames: 1,
      usernames_data: { all_users: [{ user_login: 'owner' }, { user_login: 'editor' }], admin_matches: [] },
      login_access: [],
      login_attempts: [
        { value: 0, label: 'OFF', selected: 0 },
        { value: 3, label: '3', selected: 0 },
        { value: 5, label: '5', selected: 1 },
      ],
      locked_addresses: 0,
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

  it('contain sign-up addresses while visitors may register', async () => {
    const { connector, options } = await loginSite();
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
    '/two-factor-reminder': {},
    '/send-login-url': {},
    '/two-factor-app-passwords': { two_factor_app_passwords: 1 },
    '/disable-admin-username': { disable_usernames: '0' },
    '/away-mode': laterPeriod(),
  };

  it.each(
    loginEndpoints.filter(({ suffix }) => suffix in bodies).map((endpoint) => [endpoint.name, endpoint] as const),
  )('%s responds as the contract defines, and equally when it is repeated', async (_name, endpoint) => {
    const { call } = await loginSite();
    const [method = 'POST'] = endpoint.methods;
    const body = method === 'GET' ? undefined : bodies[endpoint.suffix];
    const first = await call(endpoint.suffix, body, { method });
    expect(first).toMatchObject({ status: 200 });
    expect(endpoint.response.safeParse(first.data).error).toBeUndefined();
    expect(await call(endpoint.suffix, body, { method })).toEqual(first);
  });

  it('is refused without a session; OPTIONS returns all methods of its path', async () => {
    const { guard } = await loginSite();
    const response = await callApi(guard.url, '/away-mode', { method: 'GET', headers: { cookie: null } });
    expect(response.body.code).toBe('rest_cookie_invalid_nonce');
    const options = await callApi(guard.url, '/away-mode', { method: 'OPTIONS' });
    expect(options.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
  });
});

describe('limiting login attempts', () => {
  it('is stored with an audit row, returned as a list, and sent to WordPress', async () => {
    const { connector, call, audited } = await loginSite();
    const { data, message } = await call('/limit-login-attempts', { login_attempts: 3 });
    expect(data).toEqual({
      login_attempts: [
        { value: 0, label: 'OFF', selected: 0 },
        { value: 3, label: '3', selected: 1 },
        { value: 5, label: '5', selected: 0 },
      ],
    });
    expect(message).toBe('After 3 failed logins an address has to wait.');
    expect(await audited()).toEqual([['login_attempts', '5', '3', 'owner']]);
    expect(connector.policy?.policy.login_attempts).toBe(3);
  });

  it('is unchanged when WordPress does not respond', async () => {
    const { connector, call, options, audited } = await loginSite();
    connector.failing.add('policy');
    expect(await call('/limit-login-attempts', { login_attempts: 0 })).toMatchObject({ code: 'wordpress_unreachable' });
    connector.failing.clear();
    expect((await options()).login_attempts).toMatchObject([{}, {}, { value: 5, selected: 1 }]);
    expect(await audited()).toEqual([]);
  });
});

describe('the Login Access list', () => {
  it('accepts texts or entries; empty rows, duplicates and surrounding spaces are removed', async () => {
    const { call, options } = await loginSite();
    const list = [' 127.0.0.1', '', '2001:db8::/32', '10.1.*.*', '192.0.2.1 - 192.0.2.9', '127.0.0.1'];
    const stored = ['127.0.0.1', '2001:db8::/32', '10.1.*.*', '192.0.2.1-192.0.2.9'];
    expect((await call('/login-access', list)).data).toEqual({ login_access: stored });
    expect((await call('/login-access', { entries: [...list, '198.51.100.7'] })).status).toBe(200);
    expect((await options()).login_access).toEqual([...stored, '198.51.100.7']);
    expect((await call('/login-access', [])).data).toEqual({ login_access: [] });
  });

  it('is stored in plain text, so that it shows what applies, however it was typed', async () => {
    const { call, options } = await loginSite();
    const typed = [
      '１２７．０．０．１',
      '192.0.2.1\u2013192.0.2.9,',
      '\u200e2001:db8::/32\u200b',
      '١٠.١.*.*',
      '127.0.0.1',
      '\u200b',
      ' .',
    ];
    const stored = ['127.0.0.1', '192.0.2.1-192.0.2.9', '2001:db8::/32', '10.1.*.*'];
    expect((await call('/login-access', typed)).data).toEqual({ login_access: stored });
    expect((await call('/login-access', ['127.0.0.1', '127.0.0.¹', '\u202e127.0.0.1'])).fields).toEqual({
      1: 'Invalid format. Check “¹”.',
      2: 'Invalid format. Check “U+202E”.',
    });
    expect((await options()).login_access).toEqual(stored);
  });

  it('names each invalid row by its position', async () => {
    const { call, options } = await loginSite();
    const response = await call('/login-access', ['127.0.0.1', 'my house', '', '10.0.0.0/33', 7, '1.2.3.4-1.2.3.3']);
    const text = (part: string) => `Invalid format. Check “${part}”.`;
    expect(response).toMatchObject({
      status: 400,
      code: 'invalid_input',
      fields: { 1: text('my'), 3: text('/33'), 4: text('-'), 5: text('1.2.3.4-1.2.3.3') },
    });
    expect((await options()).login_access).toEqual([]);
  });

  it('is not emptied by rows that are no text', async () => {
    const { call, options } = await loginSite();
    await call('/login-access', ['127.0.0.1']);
    for (const rows of [[[]], [[[]], ''], [['127.0.0.1']], [{}], [{ toString: 1 }], [null]]) {
      expect(await call('/login-access', rows)).toMatchObject({
        status: 400,
        fields: { 0: 'Invalid format. Check “-”.' },
      });
    }
    expect((await options()).login_access).toEqual(['127.0.0.1']);
  });

  it('accepts pasted rows: several in one, masks, short ranges, brackets, zones and comments', async () => {
    const { call, options } = await loginSite();
    const typed = [
      '127.0.0.1, 192.0.2.7;198.51.100.0 255.255.255.0',
      '192.0.2.20 \u2013 29 # the office',
      '[2001:db8::7]:443 (at home)',
      'fe80::1%eth0,',
    ];
    const stored = ['127.0.0.1', '192.0.2.7', '198.51.100.0/24', '192.0.2.20-192.0.2.29', '2001:db8::7', 'fe80::1'];
    expect((await call('/login-access', typed)).data).toEqual({ login_access: stored });
    expect((await options()).login_access).toEqual(stored);
  });

  it.each(['0.0.0.0/0', '127.0.0.1, ::/0', '*.*.*.*', '0.0.0.0 0.0.0.0', '0.0.0.0-255.255.255.255'])(
    'needs a confirmation before %s allows everybody',
    async (row) => {
      const { call, options } = await loginSite();
      const rows = ['127.0.0.1', row];
      expect(await call('/login-access', rows)).toMatchObject({
        status: 409,
        code: 'means_everybody',
        message: 'A range in this list means everybody, so everyone may try to log in. Nothing was saved.',
      });
      expect((await options()).login_access).toEqual([]);
      expect((await call('/login-access', { entries: rows, confirm: true })).status).toBe(200);
    },
  );

  it('does not lock out the caller without a confirmation', async () => {
    const { call, options } = await loginSite();
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
    const { call } = await loginSite();
    const rows = Array.from({ length: 501 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
    expect((await call('/login-access', { entries: rows, confirm: 1 })).fields).toEqual({
      entries: 'Enter at most 500 addresses.',
    });
    expect((await call('/login-access', { entries: rows.slice(1), confirm: 1 })).status).toBe(200);
  });
});

describe('the Custom Login URL', () => {
  it('is stored without slashes, sent to WordPress, and kept when the default is restored', async () => {
    const { connector, call } = await loginSite();
    const set = await call('/custom-login-url', { type: 'custom', login: '/My-Door/', signup: '' });
    expect(set.message).toBe('The login is at /my-door now.');
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
    const { connector, call } = await loginSite();
    connector.usedPaths.set('about', 'a page');
    const response = await call('/custom-login-url', { type: 'custom', login });
    expect(response).toMatchObject({ status: 400, code: 'invalid_input', fields: { login: text } });
    expect(connector.policy?.policy.login_url_login).toBe('');
  });

  it('needs another address for the sign-up while visitors may register', async () => {
    const { connector, call } = await loginSite();
    connector.registration = true;
    const custom = { type: 'custom', login: 'my-door' };
    expect((await call('/custom-login-url', custom)).fields).toEqual({ signup: 'This field is required.' });
    expect((await call('/custom-login-url', { ...custom, signup: 'MY-DOOR' })).fields).toEqual({
      signup: 'Choose another address than the one for the login.',
    });
    expect((await call('/custom-login-url', { ...custom, signup: 'join-us' })).status).toBe(200);
    expect(connector.policy?.policy).toMatchObject({ login_url_login: 'my-door', login_url_signup: 'join-us' });
    connector.registration = false;
    await call('/custom-login-url', { type: 'custom', login: 'other-door', signup: null });
    expect(connector.policy?.policy).toMatchObject({ login_url_login: 'other-door', login_url_signup: 'join-us' });
  });

  it('needs only the login address while nobody may register', async () => {
    const { call } = await loginSite();
    const response = await call('/custom-login-url', { type: 'custom', login: '', signup: null });
    expect(response.fields).toEqual({ login: 'This field is required.' });
  });

  it('never becomes the stored sign-up address', async () => {
    const { connector, call } = await loginSite();
    connector.registration = true;
    await call('/custom-login-url', { type: 'custom', login: 'my-door', signup: 'join-us' });
    connector.registration = false;
    await call('/custom-login-url', { type: 'custom', login: 'join-us', signup: null });
    expect(connector.policy?.policy).toMatchObject({ login_url_login: 'join-us', login_url_signup: '' });
  });
});

describe('Away Mode', () => {
  it('explains in plain words that a type is no text', async () => {
    const { call } = await loginSite();
    expect((await call('/away-mode', { type: 7 })).fields).toEqual({ type: 'Invalid format.' });
  });

  it('is planned in the time zone of the site, and returned by GET', async () => {
    const { call } = await loginSite();
    const later = laterPeriod();
    const set = await call('/away-mode', later);
    expect(set.data).toMatchObject({ ...later, away_mode: { away: 0, until: null } });
    expect(set.message).toMatch(/^Away Mode begins on \d{4}-\d\d-\d\d 00:00\.$/);
    expect((await call('/away-mode', undefined, { method: 'GET' })).data).toEqual(set.data);
    expect((await call('/away-mode', { type: 'off' })).message).toBe('Away Mode is off.');
  });

  it('refuses invalid schedules', async () => {
    const { call } = await loginSite();
    expect((await call('/away-mode', {})).fields).toEqual({ type: 'This field is required.' });
    expect((await call('/away-mode', { type: 'daily', from_hour: '06:00', to_hour: '05:30' })).fields).toEqual({
      to_hour: 'You can enable Away Mode for maximum of 23 hours daily.',
    });
  });

  it('starts at once only when the caller confirms it', async () => {
    const { call, options } = await loginSite();
    const toHour = (ms: number) =>
      new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'Europe/Berlin' }).format(ms);
    const schedule = {
      type: 'daily',
      from_hour: toHour(Date.now() - 3_600_000),
      to_hour: toHour(Date.now() + 3_600_000),
    };
    for (const confirm of [undefined, false, 0, '0']) {
      expect(await call('/away-mode', { ...schedule, confirm })).toMatchObject({
        status: 409,
        code: 'away_starts_at_once',
        message: expect.stringMatching(/^Away Mode would start at once and last until \d{4}-\d\d-\d\d \d\d:\d\d\./),
      });
    }
    expect(await options()).toMatchObject({ away_mode: { schedule: { type: 'off' } } });
    expect(await call('/away-mode', { ...schedule, confirm: 'yes' })).toMatchObject({ status: 400 });
    expect(await call('/away-mode', { ...schedule, confirm: true })).toMatchObject({
      status: 200,
      data: { away_mode: { away: 1 } },
    });
  });

  it('can’t be changed while it is on', async () => {
    const { call, db } = await loginSite();
    const today = new Date(Date.now() + 7_200_000).toISOString().slice(0, 10);
    const on = { type: 'period', from_date: '2020-01-01', to_date: today };
    expect(await call('/away-mode', laterPeriod())).toMatchObject({ status: 200 });
    await db
      .updateTable('settings')
      .set({ value: JSON.stringify(on) })
      .where('name', '=', 'away_mode')
      .execute();
    for (const input of [{ type: 'off' }, { type: 'weekly', value: ['sunday'] }]) {
      expect(await call('/away-mode', input)).toMatchObject({
        status: 409,
        code: 'away_mode_on',
        message: expect.stringMatching(/^Away Mode is on until \d{4}-\d\d-\d\d 00:00\.$/),
      });
    }
  });
});
