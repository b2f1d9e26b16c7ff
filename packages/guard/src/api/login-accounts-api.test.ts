import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { loginSite } from '../testing/login-site.js';
import { callApi } from '../testing/running-guard.js';

describe('disabling common usernames', () => {
  async function withAdmins() {
    const world = await loginSite();
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
    const { connector, guard } = await loginSite();
    connector.members.set(1, { login: 'admin', administrator: true });
    const body = JSON.stringify({ admin_names: [{ ID: 1, user_login: 'boss' }] });
    const { http, headers } = await callApi(guard.url, '/disable-admin-username', { body });
    expect([http, headers.getSetCookie()]).toEqual([200, ['renamed=1; HttpOnly']]);
  });

  it('renames nobody while the setting can’t be stored', async () => {
    const { connector, db, call } = await withAdmins();
    await sql`CREATE TRIGGER full BEFORE UPDATE ON settings BEGIN SELECT RAISE(ABORT, 'full'); END`.execute(db);
    const admin_names = [
      { ID: 7, user_login: 'first' },
      { ID: 8, user_login: 'second' },
    ];
    expect(await call('/disable-admin-username', { admin_names })).toMatchObject({ status: 503 });
    expect(connector.commands).not.toContain('rename-users');
    expect(connector.policy?.policy.disable_usernames).toBe(0);
  });

  it('keeps the caller signed in, also when the new names can’t be written down', async () => {
    const { connector, guard, db } = await loginSite();
    connector.members.set(1, { login: 'admin', administrator: true });
    await sql`CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END`.execute(db);
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
    const { connector, call } = await loginSite();
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
    const { connector, call, options } = await loginSite();
    connector.failing.add('end-sessions');
    expect(await call('/2fa', { sg2fa: 1 })).toMatchObject({ status: 503 });
    expect((await options()).sg2fa).toBe(0);
    expect(connector.policy?.policy.sg2fa).toBe(0);
  });

  it('is off again when WordPress goes away before the sessions could be ended', async () => {
    const { connector, call, options } = await loginSite();
    connector.beforePolicy = () => {
      // Behind the answer to this very policy.
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

  it('is set up at the custom address', async () => {
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
    expect(message).toBe('editor sets up a new second factor at the next log-in.');
    const ended = [{ body: { users: [2], keep_cookie: true }, cookie: 'session=owner' }];
    expect(connector.endedSessions).toEqual(ended);
    expect(await call('/reset-user-2fa/2')).toMatchObject({ status: 404, message: 'This user has no second factor.' });
    expect(connector.endedSessions).toEqual(ended);
    expect(await call('/reset-user-2fa/nobody')).toMatchObject({ status: 400, fields: { id: 'Invalid format.' } });
  });
});
