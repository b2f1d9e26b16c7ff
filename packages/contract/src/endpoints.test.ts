import { describe, expect, test } from 'vitest';
import { endpoints } from './endpoints.js';
import { errorTable } from './errors.js';
import { messages } from './messages.js';
import { requests } from './requests.js';

describe('a toggle in a request', () => {
  const { schema } = requests['update:lock_system_folders'];

  test.each([
    [0, 0],
    [1, 1],
    ['0', 0],
    ['1', 1],
    [false, 0],
    [true, 1],
  ])('%j is parsed to %j', (sent, expected) => {
    expect(schema.parse({ lock_system_folders: sent })).toEqual({ lock_system_folders: expected });
  });

  test.each([2, -1, 0.5, '', ' 1', 'on', 'true', null, [], [1], {}, undefined])(
    '%j is refused with the allowed values',
    (sent) => {
      const result = schema.safeParse({ lock_system_folders: sent });
      expect(result.error?.issues).toEqual([
        expect.objectContaining({ path: ['lock_system_folders'], message: 'Use 0 or 1.' }),
      ]);
    },
  );
});

describe.each([
  ['page', requests.activityUnknown.schema, (page: unknown) => ({ page })],
  ['from', requests.activityTraffic.schema, (from: unknown) => ({ from })],
  ['to', requests.activityTraffic.schema, (to: unknown) => ({ to })],
  ['since', requests.activityNews.schema, (since: unknown) => ({ list: 'unknown', since })],
  ['id of a visitor', requests.visitorStatus.schema, (id: unknown) => ({ id })],
  ['id of a visit', requests.activityRequest.schema, (id: unknown) => ({ id })],
  ['id of a user', requests.resetUserTwoFactor.schema, (id: unknown) => ({ id })],
  [
    'ID of a renamed user',
    requests['update:disable_usernames'].schema,
    (ID: unknown) => ({ admin_names: [{ ID, user_login: 'editor-1' }] }),
  ],
])('the number %s', (_name, schema, body) => {
  test.each([7, '7'])('may be %j', (sent) => {
    expect(schema.parse(body(sent))).toEqual(schema.parse(body(7)));
  });

  test.each([[[1]], true, false, [[]], [['7']], {}, '', 'x', '7x', '0x7', '1e3', '1.5', 1.5, -1, '-1'])(
    'is refused as %j',
    (sent) => {
      expect(schema.safeParse(body(sent)).success).toBe(false);
    },
  );
});

test('options can be fetched for the existing pages only', () => {
  const { schema } = requests.fetchOptions;
  expect(schema.safeParse({ page: 'security' }).success).toBe(true);
  expect(schema.safeParse({ page: 'login' }).success).toBe(true);
  expect(schema.safeParse({ page: 'activity' }).success).toBe(true);
  expect(schema.safeParse({ page: 'nonsense' }).error?.issues[0]?.message).toBe('Use security, login or activity.');
  expect(schema.safeParse({}).success).toBe(false);
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
