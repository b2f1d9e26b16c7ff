import { describe, expect, it } from 'vitest';
import { type RewriteContext, rewriteLocation, rewriteLocationHeaders, rewriteRefresh } from './rewrite-location.js';

const plain: RewriteContext = { scheme: 'http', host: 'shop.example', upstream: '127.0.0.1:8081', target: '/here' };
const secure: RewriteContext = { ...plain, scheme: 'https' };
const odd: RewriteContext = { ...secure, host: 'Shop.example:8443' };

describe('a redirect that names the upstream web server', () => {
  it.each([
    [
      'the client’s host with the upstream port',
      plain,
      'http://shop.example:8081/a/?b#c',
      'http://shop.example/a/?b#c',
    ],
    ['the same for a client that uses HTTPS', secure, 'http://shop.example:8081/a/', 'https://shop.example/a/'],
    ['the same for a client that uses another port', odd, 'http://shop.example:8081/', 'https://Shop.example:8443/'],
    ['the upstream address', secure, 'http://127.0.0.1:8081/a', 'https://shop.example/a'],
    ['in a different letter case', plain, 'HTTP://SHOP.example:8081/A', 'http://shop.example/A'],
    ['without a scheme', secure, '//127.0.0.1:8081/a', 'https://shop.example/a'],
    ['without a path', plain, 'http://shop.example:8081', 'http://shop.example'],
    ['with only a query', plain, 'http://shop.example:8081?a', 'http://shop.example?a'],
    [
      'with a path that looks like a host',
      plain,
      'http://127.0.0.1:8081//evil.example/',
      'http://shop.example//evil.example/',
    ],
    ['a path with user information', plain, 'http://127.0.0.1:8081/@evil.example', 'http://shop.example/@evil.example'],
  ])('is rewritten to the client’s own host: %s', (_name, ends, url, expected) => {
    expect(rewriteLocation(url, ends)).toBe(expected);
  });

  it.each([
    [
      'http://shop.example/a',
      { ...plain, host: 'shop.example:8080', upstream: '192.0.2.1:80' },
      'http://shop.example:8080/a',
    ],
    [
      'http://[2001:db8::1]:8081/a',
      { ...plain, host: '[2001:db8::1]', upstream: '[::1]:8081' },
      'http://[2001:db8::1]/a',
    ],
    ['http://[::1]:8081/a', { ...plain, host: '[2001:db8::1]', upstream: '[::1]:8081' }, 'http://[2001:db8::1]/a'],
    ['http://web/a', { ...plain, upstream: 'web:80' }, 'http://shop.example/a'],
  ])('is recognized with default ports and IPv6: %s', (url, ends, expected) => {
    expect(rewriteLocation(url, ends)).toBe(expected);
  });
});

describe('a redirect from https to http on the client’s own host', () => {
  it('stays on https', () => {
    expect(rewriteLocation('http://shop.example/wp-admin/', secure)).toBe('https://shop.example/wp-admin/');
    expect(rewriteLocation('http://shop.example:80/a', secure)).toBe('https://shop.example/a');
    expect(rewriteLocation('http://shop.example:8443/a', odd)).toBe('https://Shop.example:8443/a');
  });

  it('is not rewritten when it leads to the requested address, since that would be a loop', () => {
    expect(rewriteLocation('http://shop.example/here', secure)).toBe('http://shop.example/here');
    expect(rewriteLocation('http://shop.example', { ...secure, target: '/' })).toBe('http://shop.example');
  });

  it('stays on https after a form, since the form is not sent again', () => {
    expect(rewriteLocation('http://shop.example/here', { ...secure, target: null })).toBe('https://shop.example/here');
  });
});

describe('any other redirect', () => {
  it.each([
    '/a',
    '',
    '?a',
    'a/b',
    'http://shop.example/a',
    '//shop.example/a',
    'https://shop.example/a',
    'https://pay.example/',
    'http://evil.example:8081/',
    'http://127.0.0.1:8082/',
    'http://shop.example.evil.example:8081/',
    'http://127.0.0.1:8081@evil.example/',
    'http://shop.example:8081@evil.example/',
    'http://user@127.0.0.1:8081/',
    'http://127.0.0.1:8081\\@evil.example/',
    'http://127.0.0.1:8081\t/a',
    'http:/127.0.0.1:8081/a',
    'ftp://127.0.0.1:8081/a',
    'http://shop.example:/a',
    'javascript:alert(1)//127.0.0.1:8081/',
  ])('is not changed: %s', (url) => {
    expect(rewriteLocation(url, plain)).toBe(url);
  });

  it('is never changed from http to https, or back', () => {
    expect(rewriteLocation('https://shop.example/here', plain)).toBe('https://shop.example/here');
    expect(rewriteLocation('https://shop.example/here', secure)).toBe('https://shop.example/here');
  });
});

describe('Refresh', () => {
  it.each([
    ['0; url=http://127.0.0.1:8081/a', '0; url=https://shop.example/a'],
    ['5;URL="http://shop.example:8081/a?b=\'c\'"', '5;URL="https://shop.example/a?b=\'c\'"'],
    ["5, url = 'http://127.0.0.1:8081/' ", "5, url = 'https://shop.example/' "],
    ['1;http://127.0.0.1:8081/a', '1;https://shop.example/a'],
    ['30', '30'],
    ['5; ', '5; '],
    ['0; url=https://pay.example/?to=http://127.0.0.1:8081/', '0; url=https://pay.example/?to=http://127.0.0.1:8081/'],
  ])('%s', (value, expected) => {
    expect(rewriteRefresh(value, secure)).toBe(expected);
  });
});

it('a value of many spaces is read in linear time', () => {
  // WordPress may echo what a client sent.
  const value = `0;url=${' '.repeat(60_000)}x${' '.repeat(60_000)}x`;
  const begun = process.cpuUsage();
  expect(rewriteRefresh(value, secure)).toBe(value);
  expect(rewriteLocation(value, secure)).toBe(value);
  expect(process.cpuUsage(begun).user).toBeLessThan(500_000);
});

describe('the headers of a response', () => {
  it('are rewritten where they contain a URL, in any letter case, and nowhere else', () => {
    const url = 'http://127.0.0.1:8081/a';
    const headers = ['LOCATION', url, 'content-Location', url, 'refresh', `0;url=${url}`, 'X-Url', url, 'Link', url];
    rewriteLocationHeaders(headers, () => secure);
    const visible = 'https://shop.example/a';
    expect(headers).toEqual([
      ...['LOCATION', visible, 'content-Location', visible, 'refresh', `0;url=${visible}`],
      ...['X-Url', url, 'Link', url],
    ]);
  });

  it('cost nothing when none of them contains a URL', () => {
    const headers = ['Content-Type', 'a', 'Expires', 'b', 'X-Robots', 'c', 'Constructor', 'd', '__proto__', 'e'];
    rewriteLocationHeaders(headers, () => {
      throw new Error('asked');
    });
    expect(headers).toHaveLength(10);
  });
});
