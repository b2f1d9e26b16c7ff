import { describe, expect, it } from 'vitest';
import { toCanonicalPath } from '../http/canonical-path.js';
import { toRequestFacts } from '../http/request-facts.js';
import { toAddress } from '../lib/address.js';
import { defaultSitePaths, type SitePaths } from '../site.js';
import { compileLoginPolicy, defaultLoginSettings, type LoginSettings } from './login-policy.js';

const inBlog: SitePaths = {
  home: '/blog',
  admin: '/blog/core/wp-admin',
  includes: '/blog/core/wp-includes',
  content: '/blog/wp-content',
  uploads: '/blog/wp-content/uploads',
  rest: '/wp-json',
};
const custom = { login_url: { type: 'custom', login: 'my-door', signup: 'Join/Us' } } as const;

function route(
  target: string,
  settings: Partial<LoginSettings> = {},
  more: { method?: string; cookie?: boolean; paths?: SitePaths; multisite?: boolean } = {},
): string {
  const canonical = toCanonicalPath(target);
  if (!canonical.ok) throw new Error(target);
  const paths = more.paths ?? defaultSitePaths;
  const facts = toRequestFacts({
    method: more.method ?? 'GET',
    address: toAddress([0, 0, 0xffff, 0xc0000201]),
    path: canonical.path,
    query: canonical.query,
    paths,
    credentials: {
      hasLoginCookie: more.cookie === true,
      hasAuthorization: false,
      hasBasic: false,
      overridesMethod: false,
    },
  });
  const login = { ...defaultLoginSettings, ...settings };
  const { multisite = false } = more;
  return compileLoginPolicy({ login, paths, timeZone: 'UTC', multisite }).getRoute(facts);
}

describe('the route of a request', () => {
  it('is found for WordPress’s own login and admin area', () => {
    expect(route('/wp-login.php')).toBe('login');
    expect(route('/WP-LOGIN.php/x?action=register')).toBe('login');
    expect(route('/wp-admin')).toBe('admin');
    expect(route('/wp-admin/install.php')).toBe('admin');
    expect(route('/wp-admin/admin-ajax.php/x')).toBe('ajax');
    expect(route('/wp-admin/css/login.css')).toBe('asset');
    expect(route('/wp-admin/css/x.php')).toBe('admin');
    expect(route('/wp-signup.php')).toBe('other');
    expect(route('/my-door')).toBe('other');
    expect(route('/wp-content/a.css')).toBe('other');
  });

  it('is form for actions of wp-login.php that anonymous clients may use', () => {
    for (const settings of [{}, custom]) {
      expect(route('/wp-login.php?action=postpass', settings, { method: 'POST' })).toBe('form');
      expect(route('/wp-login.php?action=confirmaction&request_id=1&confirm_key=k', settings)).toBe('form');
    }
    const closed = ['action=postpass', 'action=postpass&action=login', 'action=confirmaction&request_id=1'];
    for (const query of closed) expect(route(`/wp-login.php?${query}`, custom)).toBe('hidden');
    const twice = '/wp-login.php?action=postpass&action=login';
    expect(route(twice, custom, { method: 'POST' })).toBe('hidden');
  });

  it('with a custom address: is found for that address in any letter case only', () => {
    expect(route('/My-Door/', custom)).toBe('login');
    expect(route('/join/us', custom)).toBe('signup');
    expect(route('/my-door/x', custom)).toBe('other');
    expect(route('/x/my-door', custom)).toBe('other');
    expect(route('/blog/my-door', custom, { paths: inBlog })).toBe('login');
    expect(route('/my-door', custom, { paths: inBlog })).toBe('other');
    expect(route('/my-door', { ...custom, login_access: ['192.0.2.0/24'] })).toBe('login');
    for (const page of ['/my-door', '/join/us']) {
      expect(route(page, { ...custom, login_access: ['198.51.100.1'] })).toBe('other');
    }
  });

  it('with a custom address in a network: is the login below each folder that may be a site', () => {
    for (const paths of [defaultSitePaths, inBlog]) {
      const { home } = paths;
      const network = { paths, multisite: true };
      expect(route(`${home}/Second/my-door/`, custom, network)).toBe('login');
      expect(route(`${home}/index.php/second/my-door`, custom, network)).toBe('login');
      expect(route(`${home}/my-door`, custom, network)).toBe('login');
      for (const path of ['/second/x/my-door', '/second/my-door/x', '/a.b/my-door', '/second/join/us', '/second']) {
        expect([path, route(home + path, custom, network)]).toEqual([path, 'other']);
      }
      expect(route(`${home}/second/my-door`, { ...custom, login_access: ['198.51.100.1'] }, network)).toBe('other');
    }
    expect(route('/second/my-door', {}, { multisite: true })).toBe('other');
  });

  it('with a custom address: is hidden for the admin area without a session cookie', () => {
    expect(route('/wp-admin/', custom)).toBe('hidden');
    expect(route('/wp-admin/', custom, { cookie: true })).toBe('admin');
    expect(route('/wp-login.php', custom, { cookie: true })).toBe('hidden');
    for (const part of ['install.php', 'upgrade.php', 'maint/repair.php', 'load-styles.php', 'js/common.js']) {
      expect(route(`/wp-admin/${part}`, custom, { cookie: true })).toBe('asset');
    }
    expect(route('/wp-admin/', { ...custom, login_access: ['198.51.100.1'] }, { cookie: true })).toBe('hidden');
    expect(route('/wp-admin/admin-post.php', custom)).toBe('ajax');
    expect(route('/wp-admin/js/password-strength-meter.min.js', custom)).toBe('other');
    expect(route('/blog/core/wp-admin/x.php', custom, { paths: inBlog })).toBe('hidden');
  });

  it('has the login paths of a site in a folder of the network', () => {
    const login = { ...defaultLoginSettings, ...custom };
    const getPaths = (...routeSegments: string[]) =>
      compileLoginPolicy({ login, paths: inBlog, timeZone: 'UTC', multisite: true }).getLoginPaths({ routeSegments });
    expect(getPaths('second', 'my-door')).toEqual({
      loginPath: '/blog/second/my-door',
      scriptPath: '/blog/second/wp-login.php',
      folder: 'second',
    });
    const network = { loginPath: '/blog/my-door', scriptPath: '/blog/core/wp-login.php', folder: null };
    expect(getPaths('my-door')).toEqual(network);
    expect(getPaths('second')).toEqual(network);
  });

  it('has the path of WordPress’s own script', () => {
    const input = { login: { ...defaultLoginSettings, ...custom }, paths: inBlog, timeZone: 'UTC' };
    const facts = { routeSegments: ['my-door'] };
    const scriptPath = '/blog/core/wp-login.php';
    expect(compileLoginPolicy(input).getLoginPaths(facts)).toMatchObject({ scriptPath, loginPath: '/blog/my-door' });
    const usual = compileLoginPolicy({ ...input, login: defaultLoginSettings });
    expect(usual.getLoginPaths(facts)).toMatchObject({ scriptPath, loginPath: scriptPath });
  });
});
