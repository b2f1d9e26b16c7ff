import { describe, expect, it } from 'vitest';
import { siteConfig } from '../../test/support/site-config.js';
import { httpsOnly, webServer } from '../../test/support/upstream-server.js';
import { visitDirectly } from './doctor-visits.js';
import { findRedirectLoop } from './redirect-loop.js';

const HOME = 'https://a.example';

/** A web server that redirects every request there. @returns its upstream, and requests like `seen` of `webServer` */
async function createRedirect(location: (upstream: string) => string, status = 301) {
  let own = '';
  const upstream = await webServer((_request, response) => {
    response.writeHead(status, { location: location(own) }).end();
    return true;
  });
  own = upstream.upstream;
  return upstream;
}

describe('the first page of a site', () => {
  it.each<[string, string, (upstream: string) => string]>([
    ['its address', HOME, () => 'https://a.example/'],
    ['its address without a slash', HOME, () => 'https://a.example'],
    ['its address in upper case', HOME, () => 'HTTPS://A.EXAMPLE:443/'],
    ['the same path', HOME, () => '/'],
    ['the same host', HOME, () => '//a.example/'],
    ['the web server’s own address, which guard rewrites', HOME, (upstream) => `${upstream}/`],
    ['its address with a folder', `${HOME}/blog`, () => `${HOME}/blog/`],
    ['its address over HTTP', 'http://a.example:8080', () => 'http://a.example:8080/#top'],
  ])('is a loop when the web server redirects to %s', async (_what, home, location) => {
    for (const status of [301, 302, 307]) {
      const { upstream, seen } = await createRedirect(location, status);
      expect(await findRedirectLoop(siteConfig({ upstream }), home)).toBe(`${home}/`);
      const { protocol, host } = new URL(home);
      expect(seen).toEqual([`${protocol.slice(0, -1)} ${host} 127.0.0.1 127.0.0.1 true`]);
    }
  });

  it.each(['https://www.a.example/', '/en/', '/?lang=en', 'https://a.example/wp-admin/install.php', 'https://[', ''])(
    'is no loop when it redirects to %j',
    async (location) => {
      const { upstream } = await createRedirect(() => location);
      expect(await findRedirectLoop(siteConfig({ upstream }), HOME)).toBeNull();
    },
  );

  it('is no loop when it is served, or nothing answers', async () => {
    const { upstream } = await webServer(httpsOnly);
    expect(await findRedirectLoop(siteConfig({ upstream }), HOME)).toBeNull();
    expect(await findRedirectLoop(siteConfig({ upstream: 'http://127.0.0.1:1' }), HOME)).toBeNull();
  });
});

describe('direct visits by doctor', () => {
  it('use the scheme and host of the site', async () => {
    const { upstream, seen } = await webServer(httpsOnly);
    const { php, page } = await visitDirectly(siteConfig({ upstream }), new URL(HOME));
    expect(seen).toEqual(Array(2).fill('https a.example 127.0.0.1 127.0.0.1 true'));
    expect([php, page]).toMatchObject([{ status: 403 }, { status: 403 }]);
  });

  it('find the scheme when WordPress has never reported it', async () => {
    const { upstream, seen } = await webServer(httpsOnly);
    const { php } = await visitDirectly(siteConfig({ upstream, hosts: ['*.a.example'] }), null);
    expect(php).toMatchObject({ status: 403 });
    expect(seen.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'http www.a.example',
      'https www.a.example',
      'https www.a.example',
    ]);
  });
});
