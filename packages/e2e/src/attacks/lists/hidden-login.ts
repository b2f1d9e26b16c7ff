import type { RawResponse } from '../../http/raw.js';
import { form } from '../../http/request.js';
import { listSpellings, toSpelledRequest } from '../../http/spellings.js';
import {
  type Attack,
  answered,
  type Check,
  fetchResponse,
  frontPage,
  limited,
  type Outcome,
  silentAbout,
} from '../attack.js';
import { LIMITED_STATUS } from '../requests.js';
import type { AttackedSite } from '../site.js';

/** Names of login pages, each with a name of the same length that does not exist. */
const siblings: Readonly<Record<string, string>> = {
  'wp-login.php': 'wp-logix.php',
  'wp-register.php': 'wp-registex.php',
  'wp-signup.php': 'wp-signux.php',
  'wp-activate.php': 'wp-activatx.php',
  'wp-admin': 'wp-admix',
  login: 'logix',
  admin: 'admix',
  dashboard: 'dashboarx',
};

const targets = [
  ...['/wp-login.php', '/wp-login.php?action=lostpassword', '/wp-login.php?action=register'],
  ...[
    '/wp-login.php?redirect_to=/wp-admin/',
    '/wp-admin',
    '/wp-admin/',
    '/wp-admin/index.php',
    '/wp-admin/profile.php',
  ],
  ...['/wp-admin/install.php', '/wp-admin/upgrade.php', '/wp-admin/css/login.min.css', '/wp-register.php'],
  ...['/wp-signup.php', '/wp-activate.php', '/login', '/login/', '/admin', '/dashboard'],
];

/** Everything that distinguishes two responses for a client, without values that always differ. */
function describeResponse(response: RawResponse | null): string {
  if (response === null) return 'no answer';
  const { date: _, 'content-length': __, etag: ___, ...headers } = response.headers;
  const body = response.body.replace(/nonce["=:]+[0-9A-Za-z+/=]+/g, 'NONCE').replace(/[0-9a-f]{8,}/g, 'RANDOM');
  return JSON.stringify({ status: response.status, headers, body });
}

/** Holds if the response equals that of a missing page, except for the name. */
const equalsMissing =
  (target: string, more: { method?: string; headers?: Record<string, string> } = {}) =>
  async (site: AttackedSite): Promise<Outcome> => {
    const name = Object.keys(siblings).find((known) => target.startsWith(`/${known}`)) ?? '';
    const sibling = siblings[name] ?? '';
    const response = await fetchResponse(site, { ...more, target });
    const missing = await fetchResponse(site, { ...more, target: target.replace(name, sibling) });
    if (response?.status === LIMITED_STATUS && missing?.status === LIMITED_STATUS) return limited;
    const same = describeResponse(response) === describeResponse(missing).replaceAll(sibling, name);
    const statuses = `${response?.status ?? 'no answer'} beside ${missing?.status ?? 'no answer'}`;
    return { ok: same && response?.status !== 200, got: same ? statuses : `${statuses}, which look different` };
  };

const atItsAddress: Check = {
  name: 'the login at its own address',
  run: (site) => answered('', site.loginPath, { content: /id=["']loginform["']/ }).run(site),
};
/** Whether it still works can only be checked with the custom URL. */
const twin: Check = {
  name: atItsAddress.name,
  run: (site) => (site.lacks(['login address']) === null ? atItsAddress : frontPage).run(site),
};

const LOGIN_FORM = /id=["']loginform["']|name=["']pwd["']|id=["']user_login["']|wp-submit|Already Installed/i;

/** Attacks that try to find the hidden login. */
export const hiddenLoginAttacks: readonly Attack[] = [
  ...targets.map((target) => ({
    ...{
      group: 'hidden login' as const,
      name: target,
      expected: 'like a missing page',
      needs: ['hidden login' as const],
    },
    ...{ run: equalsMissing(target), twin },
  })),
  ...['HEAD', 'POST', 'OPTIONS'].map((method) => ({
    ...{ group: 'hidden login' as const, name: `${method} /wp-login.php`, expected: 'like a missing page' },
    ...{ needs: ['hidden login' as const], run: equalsMissing('/wp-login.php', { method }), twin },
  })),
  {
    ...{ group: 'hidden login', name: 'a query of 6,200 letters', expected: 'like a missing page' },
    ...{ needs: ['hidden login'], run: equalsMissing(`/wp-login.php?${'a'.repeat(6200)}`), twin },
  },
  {
    ...{ group: 'hidden login', name: 'headers of 28 KB', expected: 'like a missing page', needs: ['hidden login'] },
    ...{ run: equalsMissing('/wp-login.php', { headers: { 'x-long': 'a'.repeat(28_000) } }), twin },
  },
  {
    ...{ group: 'hidden login', name: 'an invented session', expected: 'like a missing page', needs: ['hidden login'] },
    run: equalsMissing('/wp-admin/', {
      headers: { cookie: `wordpress_logged_in_${'0'.repeat(32)}=owner%7C1%7Cx%7Cx` },
    }),
    twin,
  },
  ...['/wp-login.php', '/wp-admin/install.php'].flatMap((path) =>
    listSpellings(path).map((spelling) => ({
      ...{ group: 'hidden login' as const, name: `${path}, ${spelling.how}`, expected: 'no login is shown' },
      needs: ['hidden login' as const],
      run: silentAbout((site) => toSpelledRequest(spelling, site.host), LOGIN_FORM),
      twin,
    })),
  ),
  ...[
    ...[
      '/',
      '/?p=1',
      '/feed/',
      '/wp-sitemap.xml',
      '/robots.txt',
      '/wp-json/',
      '/wp-json/wp/v2/posts',
      '/nothing-here/',
    ],
    ...['/xmlrpc.php?rsd', '/wp-admin/', '/?author=1', '/wp-json/wp/v2/users'],
  ].map((target) => ({
    ...{ group: 'hidden login' as const, name: `the address at ${target}`, expected: 'not told' },
    needs: ['hidden login' as const, 'login address' as const],
    run: silentAbout(target, (site) => new RegExp(site.loginPath.slice(1).replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))),
    twin: atItsAddress,
  })),
  ...(
    [
      ['admin-ajax', answered('admin-ajax', '/wp-admin/admin-ajax.php?action=nothing', { statuses: [400] })],
      ['admin-post', answered('admin-post', '/wp-admin/admin-post.php', { statuses: [200] })],
      ['cron', answered('cron', '/wp-cron.php')],
      [
        'the password of a post',
        answered(
          'the password of a post',
          (site) =>
            form('/wp-login.php?action=postpass', 'post_password=sesame', { referer: `${site.url.origin}/?p=1` }),
          { statuses: [302] },
        ),
      ],
    ] as const
  ).map(([name, check]) => ({
    ...{ group: 'hidden login' as const, name: `the login by way of ${name}`, expected: 'no login is shown' },
    needs: ['hidden login' as const],
    run: silentAbout(`/wp-login.php?action=${name === 'the password of a post' ? 'postpass' : 'login'}`, LOGIN_FORM),
    twin: check,
  })),
];
