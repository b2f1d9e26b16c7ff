import { describe, expect, it } from 'vitest';
import { addressOf } from '../lib/address.js';
import { canonicalPath } from '../proxy/canonical-path.js';
import { requestFacts } from '../proxy/request-facts.js';
import { defaultSitePaths, type SitePaths } from '../site.js';
import { compileLogin } from './login-policy.js';
import { defaultLoginSettings, type LoginSettings } from './login-settings.js';

const inBlog: SitePaths = {
  home: '/blog',
  admin: '/blog/core/wp-admin',
  includes: '/blog/core/wp-includes',
  content: '/blog/wp-content',
  uploads: '/blog/wp-content/uploads',
  rest: '/wp-json',
};
const custom = { login_url: { type: 'custom', login: 'my-door', signup: 'Join/Us' } } as const;

function road(
  target: string,
  settings: Partial<LoginSettings> = {},
  more: { method?: string; cookie?: boolean; paths?: SitePaths } = {},
): string {
  const canonical = canonicalPath(target);
  if (!canonical.ok) throw new Error(target);
  const paths = more.paths ?? defaultSitePaths;
  const facts = requestFacts({
    method: more.method ?? 'GET',
    address: addressOf([0, 0, 0xffff, 0xc0000201]),
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
  return compileLogin({ login: { ...defaultLoginSettings, ...settings }, paths, timeZone: 'UTC' }).road(facts);
}

describe('the road of a request', () => {
  it('to WordPress’s own login and admin area', () => {
    expect(road('/wp-login.php')).toBe('login');
    expect(road('/WP-LOGIN.php/x?action=register')).toBe('login');
    expect(road('/wp-admin')).toBe('admin');
    expect(road('/wp-admin/install.php')).toBe('admin');
    expect(road('/wp-admin/admin-ajax.php/x')).toBe('ajax');
    expect(road('/wp-admin/css/login.css')).toBe('asset');
    expect(road('/wp-admin/css/x.php')).toBe('admin');
    expect(road('/wp-signup.php')).toBe('other');
    expect(road('/my-door')).toBe('other');
    expect(road('/wp-content/a.css')).toBe('other');
  });

  it('to what strangers may do at wp-login.php', () => {
    for (const settings of [{}, custom]) {
      expect(road('/wp-login.php?action=postpass', settings, { method: 'POST' })).toBe('form');
      expect(road('/wp-login.php?action=confirmaction&request_id=1&confirm_key=k', settings)).toBe('form');
    }
    const closed = ['action=postpass', 'action=postpass&action=login', 'action=confirmaction&request_id=1'];
    for (const query of closed) expect(road(`/wp-login.php?${query}`, custom)).toBe('hidden');
    const twice = '/wp-login.php?action=postpass&action=login';
    expect(road(twice, custom, { method: 'POST' })).toBe('hidden');
  });

  it('with a custom address: by it in any letters, and by nothing beside it', () => {
    expect(road('/My-Door/', custom)).toBe('login');
    expect(road('/join/us', custom)).toBe('signup');
    expect(road('/my-door/x', custom)).toBe('other');
    expect(road('/x/my-door', custom)).toBe('other');
    expect(road('/blog/my-door', custom, { paths: inBlog })).toBe('login');
    expect(road('/my-door', custom, { paths: inBlog })).toBe('other');
    expect(road('/my-door', { ...custom, login_access: ['192.0.2.0/24'] })).toBe('login');
    for (const door of ['/my-door', '/join/us']) {
      expect(road(door, { ...custom, login_access: ['198.51.100.1'] })).toBe('other');
    }
  });

  it('with a custom address: the admin area only with a session cookie, and its open parts not even then', () => {
    expect(road('/wp-admin/', custom)).toBe('hidden');
    expect(road('/wp-admin/', custom, { cookie: true })).toBe('admin');
    expect(road('/wp-login.php', custom, { cookie: true })).toBe('hidden');
    for (const part of ['install.php', 'upgrade.php', 'maint/repair.php', 'load-styles.php', 'js/common.js']) {
      expect(road(`/wp-admin/${part}`, custom, { cookie: true })).toBe('asset');
    }
    expect(road('/wp-admin/', { ...custom, login_access: ['198.51.100.1'] }, { cookie: true })).toBe('hidden');
    expect(road('/wp-admin/admin-post.php', custom)).toBe('ajax');
    expect(road('/wp-admin/js/password-strength-meter.min.js', custom)).toBe('other');
    expect(road('/blog/core/wp-admin/x.php', custom, { paths: inBlog })).toBe('hidden');
  });

  it('knows where WordPress’s own script lies', () => {
    const input = { login: { ...defaultLoginSettings, ...custom }, paths: inBlog, timeZone: 'UTC' };
    expect(compileLogin(input)).toMatchObject({
      scriptPath: '/blog/core/wp-login.php',
      loginPath: '/blog/my-door',
    });
    expect(compileLogin({ ...input, login: defaultLoginSettings }).loginPath).toBe('/blog/core/wp-login.php');
  });
});
