import { describe, expect, it } from 'vitest';
import { restUrl } from './rest-url.js';

const base = 'https://example.com/blog/wp-admin/admin.php?page=site-security';
const route = 'security-optimizer/v1/fetch-options';

describe('restUrl', () => {
  it.each([
    ['https://example.com/wp-json/', 'https://example.com/wp-json/security-optimizer/v1/fetch-options'],
    ['https://example.com/wp-json', 'https://example.com/wp-json/security-optimizer/v1/fetch-options'],
    ['/blog/wp-json/', 'https://example.com/blog/wp-json/security-optimizer/v1/fetch-options'],
    [
      'https://example.com/index.php?rest_route=/',
      'https://example.com/index.php?rest_route=/security-optimizer/v1/fetch-options',
    ],
    ['https://example.com/?rest_route=%2F', 'https://example.com/?rest_route=/security-optimizer/v1/fetch-options'],
    [
      'https://example.com/?rest_route=/&lang=de',
      'https://example.com/?rest_route=/security-optimizer/v1/fetch-options&lang=de',
    ],
    ['https://example.com/wp-json/?lang=de', 'https://example.com/wp-json/security-optimizer/v1/fetch-options?lang=de'],
  ])('appends the route to %s', (root, expected) => {
    expect(restUrl(root, route, {}, base)).toBe(expected);
  });

  it('starts a query after a path and goes on with the one that is there', () => {
    const query = { page: 2, q: 'a b&c', none: undefined };
    expect(restUrl('https://example.com/wp-json/', 'x/v1/y', query, base)).toBe(
      'https://example.com/wp-json/x/v1/y?page=2&q=a%20b%26c',
    );
    expect(restUrl('https://example.com/index.php?rest_route=/', 'x/v1/y', query, base)).toBe(
      'https://example.com/index.php?rest_route=/x/v1/y&page=2&q=a%20b%26c',
    );
  });
});
