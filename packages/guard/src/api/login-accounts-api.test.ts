import { describe, expect, it } from 'vitest';
import type { TestDatabase } from '../../test/support/database.js';
import { refuseChanges } from '../../test/support/database-faults.js';
import { callApi, loginSite } from '../../test/support/running-guard.js';

describe('disabling common usernames', () => {
  async function withAdmins() {
    const site = await loginSite();
    site.connector.members.set(7, { login: 'Admin', administrator: true });
    site.connector.members.set(8, { login: 'user1', administrator: true });
    site.connector.members.set(9, { login: 'user', administrator: false });
    await site.call('/disable-admin-username', { disable_usernames: 0 });
    return site;
  }

  it('is refused while administrators have one, and names them', async () => {
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

  it('renames all, then forbids the names, and returns the users with their new names', async () => {
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

  it('sends the caller’s browser the cookies of the renamed session', async () => {
    const { connector, guard } = await loginSite();
    connector.members.set(1, { login: 'admin', administrator: true });
    const body = JSON.stringify({ admin_names: [{ ID: 1, user_login: 'boss' }] });
    const { http, headers } = await callApi(guard.url, '/disable-admin-username', { body });
    expect([http, headers.getSetCookie()]).toEqual([200, ['renamed=1; HttpOnly']]);
  });

  it('renames nobody while the setting can’t be stored', async () => {
    const { connector, db, call } = await withAdmins();
    await refuseChanges(db, 'update', 'settings');
    const admin_names = [
      { ID: 7, user_login: 'first' },
      { ID: 8, user_login: 'second' },
    ];
    expect(await call('/disable-admin-username', { admin_names })).toMatchObject({ status: 503 });
    expect(connector.commands).not.toContain('rename-users');
    expect(connector.policy?.policy.disable_usernames).toBe(0);
  });

  it('keeps the caller signed in, also when the new names can’t be recorded', async () => {
    const { connector, guard, db } = await loginSite();
    connector.members.set(1, { login: 'admin', administrator: true });
    await refuseChanges(db, 'insert', 'audit');
    const body = JSON.stringify({ admin_names: [{ ID: 1, user_login: 'boss' }] });
    const { http, headers } = await callApi(guard.url, '/disable-admin-username', { body });
    expect([http, headers.getSetCookie()]).toEqual([200, ['renamed=1; HttpOnly']]);
  });

  it('returns what WordPress itself refuses, and stores nothing', async () => {
    const { connector, call, options } = await withAdmins();
    connector.hiddenNames.add('second');
    const admin_names = [
      { ID: 7, user_login: 'first' },
      { ID: 8, user_login: 'second' },
    ];
    const response = await call('/disable-admin-username', { disable_usernames: 1, admin_names });
    expect(response.fields).toEqual({ 8: 'Username second already exists.' });
    expect((await options()).disable_usernames).toBe(0);
  });
});

describe('the second factor', () => {
  it('ends, when it is switched on, the sessions of all who need it except the caller’s, once', async () => {
    const { connector, call } = await loginSite();
    const response = await call('/2fa', { sg2fa: 1 });
    expect(response.data).toEqual({
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
    const { connector, call, options } = await loginSite();
    connector.failing.add('end-sessions');
    expect(await call('/2fa', { sg2fa: 1 })).toMatchObject({ status: 503 });
    expect((await options()).sg2fa).toBe(0);
    expect(connector.policy?.policy.sg2fa).toBe(0);
  });

  it('is off again when WordPress stops responding before the sessions could be ended', async () => {
    const { connector, call, options } = await loginSite();
    connector.beforePolicy = () => {
      // After the response to this very policy.
      setTimeout(() => {
        connector.mode = 'broken';
      });
    };
    expect(await call('/2fa', { sg2fa: 1 })).toMatchObject({ status: 503, code: 'wordpress_unreachable' });
    expect(connector.policy?.policy.sg2fa).toBe(1);
    connector.beforePolicy = () => undefined;
    connector.mode = 'ok';
    expect((await options()).sg2fa).toBe(0);
  });

  it('is set up at the custom login URL', async () => {
    const { call, options } = await loginSite();
    await call('/custom-login-url', { type: 'custom', login: 'my-door' });
    expect((await options()).two_factor_setup_url).toBe('https://example.com/my-door?action=second-factor-setup');
  });

  it('can be reset for a user who has one, and for nobody else', async () => {
    const { connector, db, call, options } = await loginSite();
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
    expect(message).toBe('editor sets up a new second factor at the next login.');
    const ended = [{ body: { users: [2], keep_cookie: true }, cookie: 'session=owner' }];
    expect(connector.endedSessions).toEqual(ended);
    expect(await call('/reset-user-2fa/2')).toMatchObject({ status: 404, message: 'This user has no second factor.' });
    expect(connector.endedSessions).toEqual(ended);
    expect(await call('/reset-user-2fa/nobody')).toMatchObject({ status: 400, fields: { id: 'Invalid format.' } });
  });
});

describe('users who need a second factor', () => {
  const enrol = (db: TestDatabase, user: number, login: string) =>
    db
      .insertInto('second_factors')
      .values({
        ...{ site: 'site', user_id: user, login, secret: 'x', key_id: 'x', last_step: 0 },
        ...{ setup_challenge: null, enabled_at: 1, created_at: 1 },
      })
      .execute();

  it('are listed with their second factor and their sessions, the caller first', async () => {
    const { db, options } = await loginSite();
    const owner = { ID: 1, user_login: 'owner', role: 'administrator', sessions: 1, you: 1 };
    const editor = { ID: 2, user_login: 'editor', role: 'editor', sessions: 1, you: 0 };
    expect((await options()).two_factor_users).toEqual({
      total: 2,
      set_up: 0,
      users: [
        { ...owner, set_up: 0 },
        { ...editor, set_up: 0 },
      ],
    });
    await enrol(db, 2, 'editor');
    expect((await options()).two_factor_users).toMatchObject({ set_up: 1, users: [{ set_up: 0 }, { set_up: 1 }] });
  });

  it('get a mail when the owner reminds them, unless they have one', async () => {
    const { connector, db, call } = await loginSite();
    connector.members.set(3, { login: 'agency', administrator: true });
    await call('/custom-login-url', { type: 'custom', login: 'team-entrance' });
    const { data, message } = await call('/two-factor-reminder', {});
    expect(data).toEqual({ mailed: 2, failed: 0 });
    expect(message).toBe('2 people got a mail.');
    const mails = connector.mails as { to: string; text: string; html: string }[];
    expect(mails.map(({ to }) => to).sort()).toEqual(['agency@example.com', 'editor@example.com']);
    expect(mails[0]?.text).toContain('https://example.com/team-entrance');
    await enrol(db, 2, 'editor');
    await enrol(db, 3, 'agency');
    expect(await call('/two-factor-reminder', {})).toMatchObject({ status: 502, code: 'mail_not_sent' });
    expect(mails).toHaveLength(2);
  });

  it('are not counted as mailed when WordPress sends nothing', async () => {
    const { connector, call } = await loginSite();
    connector.mailFault = 'Could not instantiate mail function.';
    const { status, code, message } = await call('/two-factor-reminder', {});
    expect({ status, code }).toEqual({ status: 502, code: 'mail_not_sent' });
    expect(message).toContain('Could not instantiate mail function.');
  });
});

describe('the address of the login', () => {
  it('is sent to all who may write on the site', async () => {
    const { connector, call, options } = await loginSite();
    expect((await options()).team_size).toBe(2);
    await call('/custom-login-url', { type: 'custom', login: 'team-entrance' });
    expect((await call('/send-login-url', {})).data).toEqual({ mailed: 2, failed: 0 });
    const mails = connector.mails as { to: string; text: string; html: string }[];
    expect(mails.map(({ to }) => to).sort()).toEqual(['editor@example.com', 'owner@example.com']);
    for (const { text, html } of mails) {
      expect(text).toContain('https://example.com/team-entrance');
      expect(html).toContain('href="https://example.com/team-entrance"');
    }
  });

  it('is sent to nobody when that would be more than 50 people', async () => {
    const { connector, call, options } = await loginSite();
    for (let id = 3; id <= 51; id += 1) connector.members.set(id, { login: `author-${id}`, administrator: false });
    expect((await options()).team_size).toBeNull();
    const { status, message } = await call('/send-login-url', {});
    expect([status, message]).toEqual([502, 'More than 50 people would get a mail, so none was sent.']);
    expect(connector.mails).toEqual([]);
  });
});

describe('further roles with two-factor authentication', () => {
  const getRoles = (data: Record<string, unknown>) =>
    (data.two_factor_roles as { role: string; selected: 0 | 1; required: 0 | 1 }[]).map(
      ({ role, selected, required }) => `${role} ${selected}${required}`,
    );

  it('are empty by default: administrators and editors always need it', async () => {
    const { connector, options } = await loginSite();
    expect(getRoles(await options())).toEqual(['administrator 11', 'editor 11', 'author 00', 'shop_manager 00']);
    expect((await options()).two_factor_roles).toContainEqual({
      role: 'shop_manager',
      name: 'Shop manager',
      selected: 0,
      required: 0,
    });
    expect(connector.policy?.policy.two_factor_roles).toBe('');
  });

  it('are sent to WordPress and recorded in the log; the two that always need it can’t be chosen', async () => {
    const { connector, call, options, audited } = await loginSite();
    const { status, data } = await call('/two-factor-roles', {
      two_factor_roles: ['shop_manager', 'administrator', 'shop_manager'],
    });
    expect(status).toBe(200);
    expect(getRoles(data)).toEqual(['administrator 11', 'editor 11', 'author 00', 'shop_manager 10']);
    expect(getRoles(await options())).toEqual(getRoles(data));
    expect(connector.policy?.policy.two_factor_roles).toBe('shop_manager');
    expect(await audited()).toEqual([['two_factor_roles', '[]', '["shop_manager"]', 'owner']]);
    // While two-factor authentication is off, nobody is logged out.
    expect(connector.endedSessions).toEqual([]);
  });

  it('end their users’ sessions without the factor, once it is on', async () => {
    const { connector, call } = await loginSite();
    await call('/2fa', { sg2fa: 1 });
    connector.endedSessions.length = 0;
    await call('/two-factor-roles', { two_factor_roles: ['shop_manager'] });
    const ended = [{ body: { without_factor: true, roles: ['shop_manager'] }, cookie: undefined }];
    expect(connector.endedSessions).toEqual(ended);
    await call('/two-factor-roles', { two_factor_roles: ['shop_manager', 'author'] });
    expect(connector.endedSessions.at(-1)?.body).toEqual({ without_factor: true, roles: ['author'] });
    await call('/two-factor-roles', { two_factor_roles: [] });
    expect(connector.endedSessions).toHaveLength(2);
    expect(connector.policy?.policy.two_factor_roles).toBe('');
  });

  it('are unchanged when the sessions can’t be ended', async () => {
    const { connector, call, options } = await loginSite();
    await call('/2fa', { sg2fa: 1 });
    connector.failing.add('end-sessions');
    expect(await call('/two-factor-roles', { two_factor_roles: ['shop_manager'] })).toMatchObject({ status: 503 });
    expect(getRoles(await options())).toContain('shop_manager 00');
    expect(connector.policy?.policy.two_factor_roles).toBe('');
  });

  it('must exist on the site', async () => {
    const { call, options } = await loginSite();
    for (const roles of [['shop_managr'], ['author', 'a,b'], ['x'.repeat(61)]]) {
      expect(await call('/two-factor-roles', { two_factor_roles: roles })).toMatchObject({
        status: 400,
        code: 'invalid_input',
        fields: { two_factor_roles: `The site has no role ${roles.at(-1)}.` },
      });
    }
    expect(await call('/two-factor-roles', { two_factor_roles: [7] })).toMatchObject({ status: 400 });
    for (const body of [{}, { two_factor_roles: 'author' }]) {
      expect(await call('/two-factor-roles', body)).toMatchObject({
        status: 400,
        fields: { two_factor_roles: 'Send a list of roles.' },
      });
    }
    expect(getRoles(await options())).toContain('author 00');
  });

  it('remain chosen while the plugin that creates them is inactive, and can be removed', async () => {
    const { connector, call, options } = await loginSite();
    await call('/two-factor-roles', { two_factor_roles: ['shop_manager', 'author'] });
    connector.roles = [{ role: 'administrator', name: 'Administrator' }];
    expect(getRoles(await options())).toEqual(['administrator 11', 'shop_manager 10', 'author 10']);
    await call('/two-factor-roles', { two_factor_roles: ['shop_manager'] });
    expect(connector.policy?.policy.two_factor_roles).toBe('shop_manager');
    expect(getRoles(await options())).toEqual(['administrator 11', 'shop_manager 10']);
  });

  it('can’t be chosen with a connector that does not support them', async () => {
    const { connector, call, options } = await loginSite();
    connector.roles = null;
    expect((await options()).two_factor_roles).toEqual([]);
    expect(await call('/two-factor-roles', { two_factor_roles: ['author'] })).toMatchObject({
      status: 503,
      code: 'connector_outdated',
    });
  });
});
