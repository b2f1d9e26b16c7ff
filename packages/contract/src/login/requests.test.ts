import { describe, expect, test } from 'vitest';
import { settingRequests } from '../settings/requests.js';
import { DISALLOWED_USERNAMES, loginMessages } from './limits.js';
import { loginRequests } from './requests.js';

const { schema: limitLoginAttempts } = settingRequests['update:login_attempts'];
const { schema: disableAdminUsername } = loginRequests['update:disable_usernames'];

test.each([
  [0, 0],
  ['3', 3],
  [5, 5],
])('login attempts %j are parsed to %j', (sent, expected) => {
  expect(limitLoginAttempts.parse({ login_attempts: sent })).toEqual({ login_attempts: expected });
});

test.each([1, 4, '05', null, true, undefined])('login attempts %j are refused', (sent) => {
  expect(limitLoginAttempts.safeParse({ login_attempts: sent }).error?.issues[0]?.message).toBe('Use 0, 3 or 5.');
});

describe('new names of users', () => {
  const expected = [
    { ID: 1, user_login: 'owner' },
    { ID: 7, user_login: 'second' },
  ];
  test.each([[expected], [{ 0: { ID: '1', user_login: 'owner' }, 4: { ID: 7, user_login: 'second' } }]])(
    'may be %j',
    (admin_names) => {
      expect(disableAdminUsername.parse({ admin_names })).toEqual({ admin_names: expected });
    },
  );

  test.each([['owner'], { first: { ID: 1, user_login: 'x' } }, [{ user_login: 'x' }], [{ ID: 0, user_login: 'x' }]])(
    'are refused as %j',
    (admin_names) => {
      const result = disableAdminUsername.safeParse({ admin_names });
      expect(result.error?.issues[0]?.path[0]).toBe('admin_names');
    },
  );

  test('can be omitted only with a switch', () => {
    expect(disableAdminUsername.safeParse({}).error?.issues[0]?.path).toEqual(['disable_usernames']);
  });
});

test.each(['0', '-1', '1.5', 'x', ''])('the user id %j is refused', (id) => {
  expect(loginRequests.resetUserTwoFactor.schema.safeParse({ id }).success).toBe(false);
});

test('the fixed texts and names are those of the specification, letter by letter', () => {
  expect(loginMessages).toEqual({
    usernameTyped: 'Username {name} already typed.',
    usernameExists: 'Username {name} already exists.',
    usernameNotAllowed: 'Username {name} is not allowed.',
    everyDay: "You can't enable Away Mode for every day of the week.",
    tooLongDaily: 'You can enable Away Mode for maximum of 23 hours daily.',
  });
  expect(DISALLOWED_USERNAMES).toEqual(['administrator', 'user1', 'admin', 'user']);
});
