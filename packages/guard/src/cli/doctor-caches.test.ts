import { afterAll, describe, expect, it } from 'vitest';
import { about, type Behind, doctorSite, removeTemplate, type Setup } from '../../test/support/doctor-site.js';
import { areInstalled } from '../../test/support/front-proxy.js';
import { nginxCache, nginxInFront, varnishCache } from '../../test/support/page-caches.js';
import { visit } from './visit.js';

/** `doctor` with the caches that providers run, in front of guard and behind it. */

const NO_STORE = 'no-cache, must-revalidate, max-age=0, no-store, private';

const toPage = (status: number, scheme: string, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'content-type': 'text/html', ...headers },
  body: `<link rel="stylesheet" href="${scheme}://example.com/wp-includes/style.css">`,
});

/** Responds as WordPress does: caches may store the first page alone. */
const wordpress: Behind['page'] = ({ url = '' }, scheme) => {
  const { pathname } = new URL(url, 'http://site.invalid');
  if (pathname === '/') return toPage(200, scheme);
  return toPage(pathname === '/wp-login.php' ? 200 : 404, scheme, { 'cache-control': NO_STORE });
};

/** A WordPress with a plugin that redirects visitors by http. */
const redirecting: Behind['page'] = (request, scheme) =>
  scheme === 'https'
    ? wordpress(request, scheme)
    : { status: 301, headers: { location: `https://example.com${request.url}` }, body: '' };

const WITHOUT_SCHEME = '$host$request_uri';
const BEHIND_PROXY = '$http_x_forwarded_proto$host$request_uri';

/** What `doctor` reports about the cache. */
const examineCache = async (setup: Setup) => about(await (await doctorSite(setup)).examine(), 'cache');

const MIXED = {
  state: 'problem',
  code: 'cache-mixes-schemes',
  message: expect.stringMatching(/^A page cache gives visitors by https the copy that it made for http/),
};
const CACHES = [
  {
    name: 'nginx',
    program: 'nginx',
    start: (server: string, hasScheme: boolean) => nginxCache(server, hasScheme ? BEHIND_PROXY : WITHOUT_SCHEME),
  },
  { name: 'Varnish', program: 'varnishd', start: varnishCache },
];

afterAll(removeTemplate);

for (const { name, program, start } of CACHES) {
  // Debian's package of that name has the program.
  const isMissing = !areInstalled(program, 'openssl');

  describe.skipIf(isMissing)(`doctor and ${name} behind guard`, () => {
    const behind = (page: Behind['page'], hasScheme: boolean): Setup => ({
      behind: { page, through: (server) => start(server, hasScheme) },
    });

    it('reports a key without the scheme, although only the first page is stored', async () => {
      expect(await examineCache(behind(wordpress, false))).toMatchObject(MIXED);
    });

    it('reports a redirect to https that visitors by https get', async () => {
      expect(await examineCache(behind(redirecting, false))).toMatchObject({
        ...MIXED,
        message: expect.stringContaining('it redirects to itself'),
      });
    });

    it.each([
      ['pages', wordpress],
      ['redirects', redirecting],
    ])('reports nothing about %s where the scheme is in the key', async (_, page) => {
      expect(await examineCache(behind(page, true))).toMatchObject({ state: 'ok' });
    });

    it('leaves the first page of visitors by https as it was', async () => {
      const made: string[] = [];
      const site = await doctorSite(
        behind((request, scheme) => {
          if (request.url === '/') made.push(scheme);
          return wordpress(request, scheme);
        }, false),
      );
      await site.examine();
      expect(new Set(made)).toEqual(new Set(['https']));
    });
  });

  describe.skipIf(isMissing)(`doctor and ${name} between a server with TLS and guard`, () => {
    const inFront = (page: Behind['page'], hasScheme: boolean): Setup => ({
      behind: { page },
      front: { forwardsHttp: true },
      beforeGuard: (guard) => start(guard, hasScheme),
    });

    it.each([
      ['pages', wordpress],
      ['redirects', redirecting],
    ])('reports a key without the scheme, for %s', async (_, page) => {
      expect(await examineCache(inFront(page, false))).toMatchObject(MIXED);
    });

    it.each([
      ['pages', wordpress],
      ['redirects', redirecting],
    ])('reports for %s with the scheme in the key only that blocked visitors get them', async (_, page) => {
      expect(await examineCache(inFront(page, true))).toMatchObject({ state: 'warning', code: 'cache-before-page' });
    });
  });
}

describe.skipIf(!areInstalled('nginx', 'openssl'))('doctor and an nginx in front of guard that caches', () => {
  const examine = async (page: Behind['page'], key: string, options: Parameters<typeof nginxInFront>[2] = {}) => {
    const site = await doctorSite({ behind: { page } });
    return { ...site, front: await nginxInFront(`http://127.0.0.1:${site.guard.port}`, key, options) };
  };

  it.each([
    ['pages', wordpress],
    ['redirects', redirecting],
  ])('reports a key without the scheme, for %s', async (_, page) => {
    const site = await examine(page, WITHOUT_SCHEME);
    expect(about(await site.examine(site.front), 'cache')).toMatchObject(MIXED);
  });

  it('reports it although a visitor by https has filled the cache with the first page', async () => {
    const site = await examine(wordpress, WITHOUT_SCHEME);
    const visited = await visit(new URL('https://example.com/'), site.front);
    expect(visited).toMatchObject({ status: 200, body: expect.stringContaining('https://') });
    expect(about(await site.examine(site.front), 'cache')).toMatchObject(MIXED);
  });

  it('reports with the scheme in the key only that blocked visitors get the first page', async () => {
    const site = await examine(wordpress, '$scheme$host$request_uri');
    const finding = about(await site.examine(site.front), 'cache');
    expect(finding).toMatchObject({ state: 'warning', code: 'cache-before-page' });
    expect(finding.message).toMatch(/answers \/ \(x-cache: HIT\)/i);
  });

  it('reports that it stores the login page, against the word of WordPress', async () => {
    const site = await examine(wordpress, '$scheme$host$request_uri', {
      lines: ['proxy_ignore_headers Cache-Control;'],
    });
    const finding = about(await site.examine(site.front), 'cache');
    expect(finding).toMatchObject({ state: 'problem', code: 'cache-before-login' });
  });

  it('still notices a forged address where the cache stores whatever it gets', async () => {
    const lines = ['proxy_ignore_headers Cache-Control;', 'proxy_cache_valid any 1m;'];
    const site = await examine(wordpress, '$scheme$host$request_uri', { lines, forwardedFor: '$http_x_forwarded_for' });
    expect(about(await site.examine(site.front), 'client-address')).toMatchObject({ code: 'client-forgeable' });
  });
});
