import { describe, expect, it } from 'vitest';
import { isCrossSite } from './headers.js';

const own = ['shop.example:8080', ['example.org', '*']] as const;

describe('a request that a page of another site made a browser send', () => {
  it.each([
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    [{ 'sec-fetch-site': 'cross-site', origin: 'null' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ origin: 'https://evil.example' }],
    [{ origin: 'https://shop.example.evil' }],
    [{ origin: 'https://evilshop.example' }],
    [{ origin: 'https://evil.example:8080' }],
    [{ origin: 'null' }],
    [{ origin: '' }],
    [{ origin: 'https://shop.example, https://evil.example' }],
    [{ 'sec-fetch-site': 'whatever', origin: 'https://evil.example' }],
    [{ 'sec-fetch-site': 'same-origin, cross-site', origin: 'https://evil.example' }],
  ])('%j', (headers) => expect(isCrossSite(headers, ...own)).toBe(true));
});

describe('a request of the site itself, or of a program', () => {
  it.each([
    [{}],
    [{ 'sec-fetch-site': 'whatever' }],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null' }],
    [{ 'sec-fetch-site': 'same-site', origin: 'https://sister.example' }],
    [{ 'sec-fetch-site': 'none' }],
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://example.org' }],
    [{ origin: 'http://shop.example:8080' }],
    [{ origin: 'https://shop.example' }],
    [{ origin: 'https://www.shop.example' }],
    [{ origin: 'https://SHOP.example.' }],
    [{ origin: 'https://second.shop.example' }],
  ])('%j', (headers) => expect(isCrossSite(headers, ...own)).toBe(false));

  it('knows the site by an address in brackets', () => {
    expect(isCrossSite({ origin: 'http://[::1]:8080' }, '[::1]:8080', [])).toBe(false);
  });

  it('knows the bare domain when the page is on www', () => {
    expect(isCrossSite({ origin: 'https://shop.example' }, 'www.shop.example', [])).toBe(false);
  });
});
