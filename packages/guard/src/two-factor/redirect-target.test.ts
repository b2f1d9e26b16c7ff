import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { siteConfig } from '../../test/support/site-config.js';
import { REDIRECT_MAX, readOwnTarget, toRedirectTarget, toVisibleUrl } from './redirect-target.js';

const at = { scheme: 'https', host: 'example.com' } as const;
const FALLBACK = '/wp-admin/';
const led = (target: string) => toRedirectTarget(target, at, FALLBACK);
/** The host whose page a browser on the site opens. */
const toHost = (location: string) => new URL(location, 'https://example.com/').host;

describe('the redirect after the second factor', () => {
  it.each([
    ['/wp-admin/edit.php?x=1#y', 'https://example.com/wp-admin/edit.php?x=1#y'],
    ['https://example.com/a', 'https://example.com/a'],
    ['http://example.com/a', 'http://example.com/a'],
    ['HTTPS://EXAMPLE.COM/a', 'https://example.com/a'],
    ['a/b', 'https://example.com/a/b'],
    ['/.//evil.example', 'https://example.com//evil.example'],
    ['https:evil.example//x@evil.example:443', 'https://example.com/evil.example//x@evil.example:443'],
    ['?a=https://evil.example/', 'https://example.com/?a=https://evil.example/'],
  ])('to %j is a page of the site', (target, location) => {
    expect(led(target)).toBe(location);
  });

  it.each([
    ['https://shop.example/basket?a=1#b', 'https://shop.example/basket?a=1#b'],
    ['http://shop.example', 'http://shop.example/'],
    ['//shop.example/a', 'https://shop.example/a'],
    ['https://example.com:8443/a', 'https://example.com:8443/a'],
    ['https://example.com.shop.example/', 'https://example.com.shop.example/'],
    ['https://192.0.2.1/', 'https://192.0.2.1/'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ])('to %j, a complete URL, is a page of another host, as WordPress decided', (target, location) => {
    expect(led(target)).toBe(location);
  });

  it.each([
    '',
    '///evil.example',
    '/\\evil.example',
    '\\/evil.example',
    '\\\\evil.example',
    '\t//evil.example',
    '/\t/evil.example',
    ' //evil.example',
    '\n//evil.example',
    '/\r/evil.example',
    'http:\\\\evil.example',
    'http:evil.example',
    'https:/\\evil.example',
    'https:///evil.example',
    'https://\\evil.example',
    'ht\ttps://evil.example/',
    ' https://evil.example/',
    'https://[',
    '//',
    'https://',
  ])('to %j, which a browser may read as another host, is the default page or a page of the site', (target) => {
    expect(toHost(led(target))).toBe('example.com');
  });

  it.each([
    'https://owner@shop.example/',
    'https://owner:secret@shop.example/',
    'https://example.com@evil.example/',
    'https://owner@example.com/',
    '//owner@shop.example',
    'com.example.shop://owner@signed-in',
  ])('to %j, which names a user, is the default page', (target) => {
    expect(led(target)).toBe(FALLBACK);
  });

  it.each(['com.example.shop://signed-in?code=1', 'shop://a', 'shop:///a', 'web+shop://a'])(
    'to %j opens a program on the visitor’s device',
    (target) => {
      expect(led(target)).toBe(target);
    },
  );

  it.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    ' javascript:alert(1)',
    'java\tscript:alert(1)',
    'javascript://example.com/%0aalert(1)',
    'data:text/html,x',
    'data://text/html,x',
    'vbscript://x',
    'blob:https://example.com/1',
    'blob://x',
    'file:///etc/hostname',
    'filesystem:https://example.com/temporary/a',
    'about:blank',
    'about://blank',
    'view-source://example.com',
    'ftp://example.com/',
    'mailto:owner@example.com',
    'tel:123',
    'shop:signed-in',
  ])('to %j executes, shows and opens nothing: it is the default page', (target) => {
    expect(led(target)).toBe(FALLBACK);
  });

  it('keeps the port of the site, which is part of its host', () => {
    const local = { scheme: 'http', host: '127.0.0.1:8080' } as const;
    expect(toRedirectTarget('/a', local, FALLBACK)).toBe('http://127.0.0.1:8080/a');
    expect(toRedirectTarget('http://127.0.0.1:8080/a', local, FALLBACK)).toBe('http://127.0.0.1:8080/a');
    expect(toRedirectTarget('https://example.com:443/a', at, FALLBACK)).toBe('https://example.com/a');
  });
});

describe('a redirect to an arbitrary target', () => {
  const parts = [
    ...['/', '\\', '//', ':', '@', '.', '..', '?', '#', '%2f', '%5c', '%09', ' ', '\t', '\n', '\r', '\u0000', '\u00a0'],
    ...['https:', 'http:', 'HTTP:', 'javascript:', 'data:', 'blob:', 'shop:', 'evil.example', 'example.com'],
    ...['\uff0f', '\uff3c', '\u3002', '\u202e', 'x', ']', '['],
  ];
  const targets = fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map((pieces) => pieces.join(''));

  it('leads to another host only when the URL is complete', () => {
    fc.assert(
      fc.property(targets, (target) => {
        const location = led(target);
        const url = new URL(location, 'https://example.com/');
        if (url.protocol !== 'http:' && url.protocol !== 'https:') return;
        expect(url.host === 'example.com' || /^(?:https?:)?\/\/[^/\\]/i.test(target)).toBe(true);
      }),
      { numRuns: 20_000 },
    );
  });

  it('has no scheme that executes or shows its content, no user information, and is one line of ASCII', () => {
    fc.assert(
      fc.property(fc.oneof(targets, fc.string({ unit: 'binary' }), fc.webUrl()), (target) => {
        const location = led(target);
        const url = new URL(location, 'https://example.com/');
        expect(url.protocol).not.toMatch(/^(?:javascript|data|blob|vbscript|file|filesystem|about|view-source|ftp):$/);
        expect([url.username, url.password]).toEqual(['', '']);
        expect(location).toMatch(/^[\x20-\x7e]+$/);
      }),
      { numRuns: 20_000 },
    );
  });

  it('is the target when that is a complete http or https URL', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (target) => {
        expect(led(target)).toBe(new URL(target).href);
      }),
    );
  });
});

describe('the target of WordPress’s own response to a login', () => {
  const site = siteConfig({ upstream: 'http://127.0.0.1:8081' });
  const get = { method: 'GET', ...at, target: '/sso/?token=1' } as const;
  const post = { ...get, method: 'POST', target: '/wp-login.php' } as const;
  const own = (request: Parameters<typeof readOwnTarget>[0], status: number, ...headers: string[]) =>
    readOwnTarget(request, { status, headers, site });

  it.each([301, 302, 303, 307, 308])('is the Location of a redirect with status %i', (status) => {
    expect(own(post, status, 'Location', '/my-account/')).toBe('https://example.com/my-account/');
    expect(own(get, status, 'X-Other', '1', 'location', 'https://shop.example/a#b')).toBe('https://shop.example/a#b');
    expect(own(get, status, 'Location', 'com.example.shop://in')).toBe('com.example.shop://in');
    expect(own(get, status)).toBeNull();
  });

  it('is resolved against the requested page when it is relative', () => {
    expect(own({ ...get, target: '/shop/sso/?token=1' }, 302, 'Location', 'account')).toBe(
      'https://example.com/shop/sso/account',
    );
    expect(own(get, 302, 'Location', '?done=1')).toBe('https://example.com/sso/?done=1');
  });

  it('has the visitor’s host in place of that of the web server', () => {
    expect(own(post, 302, 'Location', 'http://127.0.0.1:8081/a')).toBe('https://example.com/a');
    expect(toVisibleUrl('http://127.0.0.1:8081/a?b=1', at, site)).toBe('https://example.com/a?b=1');
    expect(toVisibleUrl('https://shop.example/a', at, site)).toBe('https://shop.example/a');
  });

  it('is the page that a link opened, but not the page that responds to a form', () => {
    expect(own(get, 200, 'Content-Type', 'text/html; charset=UTF-8')).toBe('https://example.com/sso/?token=1');
    expect(own(post, 200, 'Content-Type', 'text/html')).toBeNull();
    expect(own(get, 200, 'Content-Type', 'application/json')).toBeNull();
    expect(own(get, 200)).toBeNull();
  });

  it('is null for an error', () => {
    for (const status of [201, 204, 400, 403, 404, 500]) {
      expect(own(get, status, 'Location', '/a', 'Content-Type', 'text/html')).toBeNull();
    }
  });

  it('keeps the bytes of a Location that is not ASCII', () => {
    const bytes = Buffer.from('/größe/ü?ä').toString('latin1');
    expect(own(post, 302, 'Location', bytes)).toBe('https://example.com/gr%c3%b6%c3%9fe/%c3%bc?%c3%a4');
  });

  it('is at most as long as web servers accept', () => {
    const longest = `https://shop.example/${'a'.repeat(REDIRECT_MAX - 21)}`;
    expect(longest).toHaveLength(REDIRECT_MAX);
    expect(own(post, 302, 'Location', longest)).toBe(longest);
    expect(own(post, 302, 'Location', `${longest}a`)).toBeNull();
    expect(own(post, 302, 'Location', 'https://[')).toBeNull();
  });

  it('is a URL or null, whatever the Location contains', () => {
    const bytes = fc.uint8Array({ maxLength: 60 }).map((all) => Buffer.from(all).toString('latin1'));
    fc.assert(
      fc.property(bytes, (location) => {
        const target = own(post, 302, 'Location', location);
        expect(target === null || URL.canParse(target)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
