import type { RawResponse } from '../../http/raw.js';
import { form, type TypedRequest } from '../../http/request.js';
import { type Attack, answered, fetchResponse, frontPage, type Outcome } from '../attack.js';
import { multicall, restBasic, usersBlogs } from '../requests.js';
import type { AttackedSite } from '../site.js';

const session = (response: RawResponse | null) =>
  response !== null && /^set-cookie: wordpress(?:_sec|_logged_in)?_[0-9a-f]{32}=(?!\+|%20|;)[^;]/im.test(response.head);

/** Holds if the right password alone creates no session and reveals nothing of the account. */
const noSession =
  (request: (login: string, password: string, site: AttackedSite) => TypedRequest) =>
  async (site: AttackedSite): Promise<Outcome> => {
    const { login, password } = site.options.owner ?? { login: '', password: '' };
    const response = await fetchResponse(site, request(login, password, site));
    const found = /isAdmin|"roles"|"name":"[^"]+","url"/.exec(response?.body ?? '')?.[0];
    const got = session(response) ? 'a session' : (found ?? String(response?.status ?? 'no answer'));
    return { ok: !session(response) && found === undefined, got };
  };

const loginForm = (path: string, login: string, password: string) =>
  form(path, new URLSearchParams({ log: login, pwd: password, 'wp-submit': 'Log In', testcookie: '1' }).toString(), {
    cookie: 'wordpress_test_cookie=WP%20Cookie%20check',
  });

const page = answered('the login page is served', (site) => site.loginPath, { content: /loginform/ });

const ways: readonly (readonly [string, Parameters<typeof noSession>[0], Attack['needs']])[] = [
  ['at the form', (login, password, site) => loginForm(site.loginPath, login, password), ['login address']],
  ['by XML-RPC', (login, password) => usersBlogs(login, password), ['XML-RPC open']],
  ['by system.multicall', (login, password) => multicall(login, [password]), ['XML-RPC open']],
  ['by REST', (login, password) => restBasic(login, password), []],
  [
    'at the form, with the second step skipped',
    (login, password, site) => loginForm(`${site.loginPath}?action=login&interim-login=1`, login, password),
    ['login address'],
  ],
];

/** A code for a challenge that this browser never received. */
const steps: readonly (readonly [string, string])[] = [
  ['a code without a challenge', 'step=code&code=000000'],
  ['an enrolment without a challenge', 'step=enrol&code=000000'],
  ['a challenge of one’s own making', `step=code&code=000000&token=${'A'.repeat(43)}`],
];

/** Access that the password alone must not give. */
export const secondFactorAttacks: readonly Attack[] = [
  ...ways.map(([name, request, needs = []]) => ({
    ...{ group: 'second factor' as const, name: `the right password alone ${name}`, expected: 'no session' },
    ...{ needs: ['second factor' as const, 'owner' as const, ...needs], run: noSession(request), twin: page },
  })),
  ...steps.map(([name, fields]) => ({
    ...{ group: 'second factor' as const, name, expected: 'no session', needs: ['login address' as const] },
    run: noSession((_login, _password, site) =>
      form(`${site.loginPath}?action=second-factor`, fields, { origin: site.url.origin }),
    ),
    twin: frontPage,
  })),
];
