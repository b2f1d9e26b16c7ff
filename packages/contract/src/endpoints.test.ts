import { describe, expect, test } from 'vitest';
import { activityRequest } from './activity/attackers.js';
import { activityNews, activityTraffic, activityUnknown, visitorStatus } from './activity/endpoints.js';
import { endpoints, fetchOptions, toggleEndpoints } from './endpoints.js';
import { errorTable } from './errors.js';
import { disableAdminUsername, resetUserTwoFactor } from './login/endpoints.js';
import { messages } from './messages.js';

describe('a toggle in a request', () => {
  const { request } = toggleEndpoints[0] as (typeof toggleEndpoints)[number];

  test.each([
    [0, 0],
    [1, 1],
    ['0', 0],
    ['1', 1],
    [false, 0],
    [true, 1],
  ])('%j is parsed to %j', (sent, expected) => {
    expect(request.parse({ lock_system_folders: sent })).toEqual({ lock_system_folders: expected });
  });

  test.each([2, -1, 0.5, '', ' 1', 'on', 'true', null, [], [1], {}, undefined])(
    '%j is refused with the allowed values',
    (sent) => {
      const result = request.safeParse({ lock_system_folders: sent });
      expect(result.error?.issues).toEqual([
        expect.objectContaining({ path: ['lock_system_folders'], message: 'Use 0 or 1.' }),
      ]);
    },
  );
});

describe.each([
  ['page', activityUnknown, (page: unknown) => ({ page })],
  ['from', activityTraffic, (from: unknown) => ({ from })],
  ['to', activityTraffic, (to: unknown) => ({ to })],
  ['since', activityNews, (since: unknown) => ({ list: 'unknown', since })],
  ['id of a visitor', visitorStatus, (id: unknown) => ({ id })],
  ['id of a visit', activityRequest, (id: unknown) => ({ id })],
  ['id of a user', resetUserTwoFactor, (id: unknown) => ({ id })],
  ['ID of a renamed user', disableAdminUsername, (ID: unknown) => ({ admin_names: [{ ID, user_login: 'editor-1' }] })],
])('the number %s', (_name, { request }, body) => {
  test.each([7, '7'])('may be %j', (sent) => {
    expect(request.parse(body(sent))).toEqual(request.parse(body(7)));
  });

  test.each([[[1]], true, false, [[]], [['7']], {}, '', 'x', '7x', '0x7', '1e3', '1.5', 1.5, -1, '-1'])(
    'is refused as %j',
    (sent) => {
      expect(request.safeParse(body(sent)).success).toBe(false);
    },
  );
});

test('options can be fetched for the existing pages only', () => {
  expect(fetchOptions.request.safeParse({ page: 'security' }).success).toBe(true);
  expect(fetchOptions.request.safeParse({ page: 'login' }).success).toBe(true);
  expect(fetchOptions.request.safeParse({ page: 'activity' }).success).toBe(true);
  expect(fetchOptions.request.safeParse({ page: 'nonsense' }).error?.issues[0]?.message).toBe(
    'Use security, login or activity.',
  );
  expect(fetchOptions.request.safeParse({}).success).toBe(false);
});

test('every endpoint has a unique name and path', () => {
  expect(new Set(endpoints.map(({ name }) => name)).size).toBe(endpoints.length);
  const paths = endpoints.flatMap(({ methods, suffix }) => methods.map((method) => `${method} ${suffix}`));
  expect(new Set(paths).size).toBe(paths.length);
});

test('every error has an error status and a sentence for people', () => {
  for (const { status, message } of Object.values(errorTable)) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(message.length).toBeGreaterThan(5);
  }
});

test('the fixed texts are those of the specification, letter by letter', () => {
  expect(messages).toMatchObject({
    noResponse: 'An error occurred. Please try again later',
    notJson: 'No JSON from WP api!',
    notJsonTitle: 'Could not connect to the WordPress REST API',
    nothingFound: 'Nothing was found',
    required: 'This field is required.',
    invalidFormat: 'Invalid format.',
  });
});
