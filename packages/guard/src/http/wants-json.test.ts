import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFacts } from '../../test/support/evaluate.js';
import { wantsJson } from './wants-json.js';

const page = { restRoute: null, segments: ['my-account'] };
const rest = { restRoute: '/wp/v2/posts', segments: ['wp-json', 'wp', 'v2', 'posts'] };
const ajax = { restRoute: null, segments: ['wp-admin', 'admin-ajax.php'] };
const NAVIGATION = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8';

describe('a response of guard is JSON', () => {
  it.each([[{}], [{ accept: BROWSER }], [{ accept: '*/*' }], [{ 'sec-fetch-mode': 'no-cors' }]])(
    'for the REST API and admin-ajax.php, whatever they accept: %j',
    (headers) => {
      expect([wantsJson(headers, rest), wantsJson(headers, ajax)]).toEqual([true, true]);
    },
  );

  it.each([
    'application/json',
    'application/json, text/plain, */*',
    'Application/JSON; charset=utf-8',
    'application/ld+json',
    'application/problem+json;q=0.5',
    'text/html;q=0.5, application/json',
    'application/json, text/html',
    'application/json, text/html;q=0.9',
    'text/html;q=0, application/json;q=0.1',
    'application/json;q=oops, text/html;q=0.9',
  ])('for a client that prefers it explicitly: %j', (accept) => {
    expect([wantsJson({ accept }, page), wantsJson({ accept }, null)]).toEqual([true, true]);
  });

  it.each([
    [{ 'x-requested-with': 'XMLHttpRequest' }],
    [{ 'x-requested-with': ' xmlhttprequest ', accept: '*/*' }],
    [{ 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', accept: '*/*' }],
    [{ 'sec-fetch-mode': 'same-origin', 'sec-fetch-dest': 'empty' }],
  ])('for a script that reads the response: %j', (headers) => {
    expect([wantsJson(headers, page), wantsJson(headers, null)]).toEqual([true, true]);
  });
});

describe('a response of guard is a page', () => {
  it.each([
    [{}],
    [{ accept: '' }],
    [{ accept: '*/*' }],
    [{ accept: 'text/*' }],
    [{ accept: BROWSER }],
    [{ accept: 'text/html, application/json' }],
    [{ accept: 'application/json;q=0.8, text/html' }],
    [{ accept: 'application/json;q=0' }],
    [{ accept: 'application/jsonp' }],
    [{ accept: 'text/html', 'x-requested-with': 'XMLHttpRequest' }],
    [{ 'x-requested-with': 'com.example.app' }],
    [{ 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' }],
    [{ 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'script' }],
  ])('for any other client: %j', (headers) => {
    expect([wantsJson(headers, page), wantsJson(headers, null)]).toEqual([false, false]);
  });

  it('for a navigation, which a person views, whatever the other headers say', () => {
    for (const facts of [page, rest, ajax, null]) {
      for (const headers of [{}, { accept: 'application/json' }, { 'x-requested-with': 'XMLHttpRequest' }]) {
        expect(wantsJson({ ...headers, ...NAVIGATION }, facts)).toBe(false);
      }
    }
  });
});

it('the REST API is recognized by each of its addresses', () => {
  for (const target of ['/wp-json/wp/v2/users', '/?rest_route=/wp/v2/users', '/index.php?rest_route=%2Fwp%2Fv2']) {
    expect([target, wantsJson({}, parseFacts(target))]).toEqual([target, true]);
  }
});

it('the function throws for no header', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (accept, mode) => {
      expect(typeof wantsJson({ accept, 'sec-fetch-mode': mode, 'x-requested-with': mode }, page)).toBe('boolean');
    }),
  );
});
