import { randomBytes } from 'node:crypto';
import type { RawResponse } from '../../http/raw.js';
import { form, type TypedRequest } from '../../http/request.js';
import { ADDRESS_CLAIMS } from '../../http/spellings.js';
import { type Attack, answered, type Check, frontPage, type Outcome } from '../attack.js';
import { multicall, restBasic, usersBlogs } from '../requests.js';
import type { AttackedSite } from '../site.js';

/** What WordPress's own login form sends. */
function loginForm(path: string, login: string, password: string, headers: Readonly<Record<string, string>> = {}) {
  const fields = new URLSearchParams({ log: login, pwd: password, 'wp-submit': 'Log In', testcookie: '1' });
  return form(path, fields.toString(), { cookie: 'wordpress_test_cookie=WP%20Cookie%20check', ...headers });
}

/** Whether a response creates a session. */
const createsSession = (response: RawResponse | null): boolean =>
  response !== null && /^set-cookie: wordpress_logged_in_[0-9a-f]+=(?!\+|%20|;)[^;]+/im.test(response.head);

/** A username that does not exist and that no earlier attack has used. */
const nobody = () => `nobody-${randomBytes(4).toString('hex')}`;
const sendRequest = (site: AttackedSite, request: TypedRequest, from: string | undefined) =>
  site.request(request, from).catch(() => null);

/** Uses up the permitted failures of an address. */
async function lock(site: AttackedSite, from: string | undefined): Promise<void> {
  for (let attempt = 0; attempt < (site.limit ?? 5); attempt++)
    await sendRequest(site, loginForm(site.loginPath, nobody(), 'wrong'), from);
}

type Guess = (site: AttackedSite, login: string, attempt: number) => TypedRequest;

/** Statuses that are sent without a password check. */
const UNCHECKED = new Set([400, 403, 404, 405, 429]);

/** Holds if no more guesses than the limit can have been checked. */
const bounded =
  (guess: Guess, inParallel: boolean) =>
  async (site: AttackedSite): Promise<Outcome> => {
    const limit = site.limit ?? 5;
    const from = site.newAddress();
    const login = nobody();
    const responses: (RawResponse | null)[] = [];
    const one = async (attempt: number) =>
      void responses.push(await sendRequest(site, guess(site, login, attempt), from));
    const indices = Array.from({ length: limit * 4 }, (_, attempt) => attempt);
    if (inParallel) await Promise.all(indices.map(one));
    else for (const attempt of indices) await one(attempt);
    const unchecked = responses.filter((response) => UNCHECKED.has(response?.status ?? 0)).length;
    return {
      ok: responses.length - unchecked <= limit && !responses.some(createsSession),
      got: `${responses.length - unchecked} of ${responses.length}`,
    };
  };

/** Holds if an address that was locked out at the form is refused with the right password. */
const lockedFor =
  (request: (site: AttackedSite) => TypedRequest) =>
  async (site: AttackedSite): Promise<Outcome> => {
    const from = site.newAddress();
    await lock(site, from);
    const response = await sendRequest(site, request(site), from);
    const in_ = createsSession(response) || /isAdmin|"id":\d+,"name"/.test(response?.body ?? '');
    return { ok: !in_, got: in_ ? 'let in' : String(response?.status ?? 'no answer') };
  };

const owner = (site: AttackedSite) => ({ login: site.owner?.login ?? '', password: site.owner?.password ?? '' });

/** The right password from a new address. */
const ownerLogsIn: Check = {
  name: 'the owner gets in from elsewhere',
  async run(site) {
    if (site.owner === null || !site.options.manyAddresses) return frontPage.run(site);
    const { login, password } = owner(site);
    const response = await sendRequest(site, loginForm(site.loginPath, login, password), site.newAddress());
    return {
      ok: createsSession(response),
      got: createsSession(response) ? 'let in' : String(response?.status ?? 'no answer'),
    };
  },
};

/** A single wrong password gets the response of WordPress. */
const singleFailure: Check = {
  name: 'one wrong password from elsewhere is no crime',
  async run(site) {
    if (!site.options.manyAddresses) return frontPage.run(site);
    const response = await sendRequest(site, loginForm(site.loginPath, nobody(), 'wrong'), site.newAddress());
    return { ok: response?.status === 200, got: String(response?.status ?? 'no answer') };
  },
};

const guesses: readonly (readonly [string, Guess, Attack['needs']])[] = [
  ['the login form', (site, login, attempt) => loginForm(site.loginPath, login, `guess${attempt}`), ['login address']],
  [
    'the login form with a long language, which outgrows buffers',
    (site, login, attempt) => loginForm(`${site.loginPath}?wp_lang=${'a'.repeat(5000)}`, login, `guess${attempt}`),
    ['login address'],
  ],
  [
    'the login form with path info',
    (site, login, attempt) => loginForm(`${site.loginPath}/x`, login, `guess${attempt}`),
    ['login address'],
  ],
  ['XML-RPC', (_site, login, attempt) => usersBlogs(login, `guess${attempt}`), ['XML-RPC open']],
  [
    'system.multicall',
    (_site, login, attempt) =>
      multicall(
        login,
        Array.from({ length: 10 }, (_, each) => `guess${attempt}-${each}`),
      ),
    ['XML-RPC open'],
  ],
];

const guessing: readonly Attack[] = guesses.flatMap(([name, guess, needs = []]) =>
  [true, false].map((inParallel) => ({
    ...{ group: 'passwords' as const, name: `guessing by ${name}, ${inParallel ? 'all at once' : 'one by one'}` },
    ...{ expected: 'no more than the limit', needs: ['login limit' as const, ...needs] },
    ...{ run: bounded(guess, inParallel), twin: singleFailure },
  })),
);

/** Each guess claims another client address. */
const claimed: readonly Attack[] = ADDRESS_CLAIMS.map((header) => ({
  group: 'passwords',
  name: `guessing with another ${header} each time`,
  expected: 'no more than the limit',
  needs: ['login limit', 'login address'],
  run: bounded(
    (site, login, attempt) =>
      loginForm(site.loginPath, login, `guess${attempt}`, {
        [header]: header === 'forwarded' ? `for=203.0.113.${attempt + 1}` : `203.0.113.${attempt + 1}`,
      }),
    false,
  ),
  twin: {
    name: 'a page with the same header',
    run: (site) => answered('', { target: '/', headers: { [header]: '203.0.113.200' } }).run(site),
  },
}));

const locked: readonly Attack[] = (
  [
    ['the right password at the form', (site) => loginForm(site.loginPath, owner(site).login, owner(site).password)],
    [
      'the right password behind a query of quotes, which outgrows headers',
      (site) => loginForm(`${site.loginPath}?z=${'"'.repeat(6500)}`, owner(site).login, owner(site).password),
    ],
    ['the right password by REST', (site) => restBasic(owner(site).login, owner(site).password)],
  ] as readonly (readonly [string, (site: AttackedSite) => TypedRequest])[]
).map(([name, request]) => ({
  ...{ group: 'passwords', name: `${name}, from a locked address`, expected: 'not let in' },
  needs: ['login limit', 'login address', 'owner session', 'more addresses'],
  ...{ run: lockedFor(request), twin: ownerLogsIn },
}));

const basic = { authorization: `Basic ${Buffer.from('staging:open').toString('base64')}` };

/** A lockout closes the login, and no page that needs no login. */
const servedWhileLocked = (what: string, target: string): Check => ({
  name: `${what} with basic authentication, from a locked address`,
  async run(site) {
    const from = site.newAddress();
    await lock(site, from);
    const response = await sendRequest(site, { target, headers: basic }, from);
    return { ok: response?.status === 200, got: String(response?.status ?? 'no answer') };
  },
});

/** Basic authentication that may belong to the web server neither bypasses a lockout nor closes pages during one. */
const besideBasic: readonly Attack[] = (
  [
    [
      'the right password at the form',
      (site) => loginForm(site.loginPath, owner(site).login, owner(site).password, basic),
      servedWhileLocked('a style', '/wp-includes/css/buttons.min.css'),
      [],
    ],
    [
      'the right password by XML-RPC',
      (site) => {
        const call = usersBlogs(owner(site).login, owner(site).password);
        return { ...call, headers: { ...call.headers, ...basic } };
      },
      servedWhileLocked('what anybody may read in REST', '/wp-json/wp/v2/posts'),
      ['XML-RPC open'],
    ],
  ] as readonly (readonly [string, (site: AttackedSite) => TypedRequest, Check, NonNullable<Attack['needs']>])[]
).map(([name, request, twin, needs]) => ({
  ...{ group: 'passwords', name: `${name} beside basic authentication, from a locked address` },
  ...{ expected: 'not let in', run: lockedFor(request), twin },
  needs: ['login limit', 'login address', 'owner session', 'more addresses', ...needs],
}));

/** Responses to a locked address reveal nothing. */
const silent: Attack = {
  ...{ group: 'passwords', name: 'telling right from wrong while locked', expected: 'the same answer' },
  needs: ['login limit', 'login address', 'owner session', 'more addresses'],
  async run(site) {
    const from = site.newAddress();
    await lock(site, from);
    const { login, password } = owner(site);
    const attempt = async (name: string, password: string) => {
      const response = await sendRequest(site, loginForm(site.loginPath, name, password), from);
      return `${response?.status} ${response?.body.replace(/\d+|nonce="[^"]*"/g, '')}`;
    };
    const responses = new Set([
      await attempt(login, password),
      await attempt(login, 'wrong'),
      await attempt(nobody(), 'wrong'),
    ]);
    return { ok: responses.size === 1, got: `${responses.size} kinds of answers` };
  },
  twin: ownerLogsIn,
};

/** Every password route that is visible from outside. These attacks lock out the addresses that they come from. */
export const passwordAttacks: readonly Attack[] = [...guessing, ...claimed, ...locked, ...besideBasic, silent];
