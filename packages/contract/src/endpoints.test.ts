import { describe, expect, test } from 'vitest';
import { endpoints, fetchOptions, toggleEndpoints } from './endpoints.js';
import { errorTable } from './errors.js';
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
  ])('%j means %j', (sent, meant) => {
    expect(request.parse({ lock_system_folders: sent })).toEqual({ lock_system_folders: meant });
  });

  test.each([2, -1, 0.5, '', ' 1', 'on', 'true', null, [], [1], {}, undefined])(
    '%j is refused and says what is allowed',
    (sent) => {
      const result = request.safeParse({ lock_system_folders: sent });
      expect(result.error?.issues).toEqual([
        expect.objectContaining({ path: ['lock_system_folders'], message: 'Use 0 or 1.' }),
      ]);
    },
  );
});

test('options can be fetched for the pages that are built, and for no other', () => {
  expect(fetchOptions.request.safeParse({ page: 'security' }).success).toBe(true);
  expect(fetchOptions.request.safeParse({ page: 'login' }).success).toBe(true);
  expect(fetchOptions.request.safeParse({ page: 'activity' }).success).toBe(true);
  expect(fetchOptions.request.safeParse({ page: 'nonsense' }).error?.issues[0]?.message).toBe(
    'Use security, login or activity.',
  );
  expect(fetchOptions.request.safeParse({}).success).toBe(false);
});

test('every call has a name and a path of its own', () => {
  expect(new Set(endpoints.map(({ name }) => name)).size).toBe(endpoints.length);
  const paths = endpoints.flatMap(({ methods, suffix }) => methods.map((method) => `${method} ${suffix}`));
  expect(new Set(paths).size).toBe(paths.length);
});

test('every error of the table has a status that is not a success, and a sentence for people', () => {
  for (const { status, message } of Object.values(errorTable)) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(message.length).toBeGreaterThan(5);
  }
});

test('the fixed texts stand letter by letter as the specification has them', () => {
  expect(messages).toMatchObject({
    noResponse: 'An error occurred. Please try again later',
    notJson: 'No JSON from WP api!',
    notJsonTitle: 'Could not connect to the WordPress REST API',
    nothingFound: 'Nothing was found',
    required: 'This field is required.',
    invalidFormat: 'Invalid format.',
  });
});
