import { createHash, createHmac, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RawResponse } from '../../http/raw.js';
import { form, sendRequest, sendUpstream, type TypedRequest } from '../../http/request.js';
import { logIn, type Session } from '../../http/session.js';
import { onEveryStack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins } from '../../stacks/wordpress.js';
import { change, createsSession, loginForm, recover, sendFrom, toComparable } from './helpers.js';

const LOGIN_SLUG = 'silent-door';
const LIMIT = 3;

/** Logs in on any request with a password, and reports that. */
const ANYWHERE = `<?php
add_action( 'wp_loaded', function () {
  if ( isset( $_POST['any_login'] ) ) {
    $user = wp_signon( array( 'user_login' => $_POST['any_login'], 'user_password' => $_POST['any_password'] ) );
    exit( is_wp_error( $user ) ? 'Not logged in' : 'Logged in' );
  }
} );
`;

const pairs: [hidden: string, missing: string][] = [
  ['/wp-login.php', '/wp-logix.php'],
  ['/wp-admin/', '/wp-admix/'],
  ['/wp-admin/profile.php', '/wp-admix/profile.php'],
  ['/wp-signup.php', '/wp-signux.php'],
  ['/index.php/wp-admin/', '/index.php/wp-admix/'],
];

onEveryStack('a hidden login and very long requests', (stack) => {
  const plugin = join(muPlugins(stack), 'log-in-anywhere.php');
  let owner: Session;
  const anywhere = (target: string, password: string): TypedRequest =>
    form(target, new URLSearchParams({ any_login: stack.user, any_password: password }).toString());

  beforeAll(async () => {
    writeFileSync(plugin, ANYWHERE);
    owner = await logIn(stack);
    await change(stack, owner, '/custom-login-url', { type: 'custom', login: LOGIN_SLUG, signup: '' });
    await change(stack, owner, '/limit-login-attempts', { login_attempts: LIMIT });
  });
  afterAll(async () => {
    await recover(stack, 'unblock', '--all');
    await recover(stack, 'login-url', 'reset');
    rmSync(plugin, { force: true });
    await until('the form', async () =>
      (await sendRequest(stack, { target: '/wp-login.php' })).body.includes('loginform'),
    );
    await change(stack, await logIn(stack), '/limit-login-attempts', { login_attempts: 5 });
  });

  /** The parts of a response that a client can compare, with the requested name instead of its sibling's. */
  const shape = (response: RawResponse) =>
    JSON.stringify(toComparable(response))
      .replaceAll('wp-logix', 'wp-login')
      .replaceAll('wp-admix', 'wp-admin')
      .replaceAll('wp-signux', 'wp-signup');
  const expectAlike = async (hidden: TypedRequest, missing: TypedRequest, what: string) => {
    const [there, nothing] = [
      await sendFrom(stack, '127.0.42.1', hidden),
      await sendFrom(stack, '127.0.42.1', missing),
    ];
    expect(there.status, what).toBe(nothing.status);
    expect(shape(there), what).toBe(shape(nothing));
  };

  /** The maximum length for the missing page: longer ones are refused by the web server or by guard. */
  const room = async (request: (length: number) => TypedRequest, from: number, to: number) => {
    let [fits, tooLong] = [from, to];
    const { status: usual } = await sendFrom(stack, '127.0.42.1', request(from));
    expect([404, 301]).toContain(usual);
    while (tooLong - fits > 1) {
      const middle = Math.floor((fits + tooLong) / 2);
      const { status } = await sendFrom(stack, '127.0.42.1', request(middle));
      if (status === usual) fits = middle;
      else tooLong = middle;
    }
    return fits;
  };
  const around = (length: number) => [length - 400, length - 100, length - 1, length, length + 1, length + 100];

  describe.each(pairs)('%s', (hidden, missing) => {
    it('looks like a missing page with a query of any length', async () => {
      const request = (path: string) => (length: number) => ({ target: `${path}?${'a'.repeat(length)}` });
      const limit = await room(request(missing), 3000, 8400);
      for (const length of [6200, ...around(limit)]) {
        await expectAlike(request(hidden)(length), request(missing)(length), `${length}`);
      }
    });

    it.each([{}, { cookie: 'wordpress_logged_in_x=invented' }])(
      'looks like a missing page with as many other headers as are accepted, and a few more: %j',
      async (cookie) => {
        // Three lines that each fill a buffer of a usual web server, and one that fills the rest.
        const full = Object.fromEntries(['a', 'b', 'c'].map((name) => [`x-${name}`, name.repeat(7900)]));
        const request = (target: string) => (length: number) => ({
          target,
          headers: { ...full, 'x-rest': 'r'.repeat(length), ...cookie },
        });
        const limit = await room(request(missing), 3000, 8600);
        for (const length of around(limit)) {
          await expectAlike(request(hidden)(length), request(missing)(length), `${length}`);
        }
      },
    );
  });

  it('lets no plugin check a password of a locked address at a hidden page, however long the request', async () => {
    const from = '127.0.42.9';
    for (let turn = 0; turn < LIMIT; turn++) {
      await sendFrom(stack, from, loginForm(stack.user, `wrong${turn}`, { path: `/${LOGIN_SLUG}` }));
    }
    for (const target of [
      '/wp-admin/?field',
      `/wp-admin/?field&z=${'"'.repeat(6500)}`,
      `/wp-admin/?field&z=${'a'.repeat(6500)}`,
      `/wp-login.php?field&z=${'"'.repeat(6500)}`,
      `/wp-login.php?field&z=${'\xff'.repeat(2600)}`,
      `/${'./'.repeat(3000)}wp-admin/?field`,
    ]) {
      const response = await sendFrom(stack, from, anywhere(target, stack.password));
      expect(response.body, target.slice(0, 40)).not.toContain('Logged in');
      expect(createsSession(response), target.slice(0, 40)).toBe(false);
    }
    // The same from another address logs in, so the plugin works.
    expect((await sendFrom(stack, '127.0.42.10', anywhere('/?field', stack.password))).body).toBe('Logged in');
  });

  describe('a request whose headers from guard arrive incomplete', () => {
    const secret = () => {
      const folder = join(stack.guardDir, 'sites');
      const file = readdirSync(folder).find((name) => name.endsWith('.secret')) as string;
      return readFileSync(join(folder, file), 'utf8').trim();
    };
    const mac = (text: string) => createHmac('sha256', secret()).update(text).digest('hex');
    const id = () => randomBytes(8).toString('hex');
    const guardHeader = (requestId: string, purpose: string) => {
      const keyId = createHash('sha256').update(`security-optimizer key id\n${secret()}`).digest('hex').slice(0, 8);
      const fields = `1 ${keyId} ${Math.floor(Date.now() / 1000)} ${requestId} http 192.0.2.9`;
      return `${fields} ${mac(`${purpose}\n${fields}`)}`;
    };
    const contextHeader = (requestId: string, context: object) => {
      const fields = `1 ${requestId} ${Buffer.from(JSON.stringify(context)).toString('base64url')}`;
      return `${fields} ${mac(`guard-context\n${fields}`)}`;
    };
    /** Directly to WordPress, as guard would. */
    const send = (purpose: string, context: ((requestId: string) => string) | null) => {
      const requestId = id();
      const request = anywhere('/', stack.password);
      return sendUpstream(stack, {
        ...request,
        headers: {
          ...request.headers,
          'x-security-optimizer-guard': guardHeader(requestId, purpose),
          ...(context === null ? {} : { 'x-security-optimizer-context': context(requestId) }),
        },
      });
    };

    it('is refused by WordPress', async () => {
      const order = { login: 'refuse', why: 'locked' };
      expect((await send('guard-request', null)).body).toBe('Logged in');
      expect((await send('guard-request context', (of) => contextHeader(of, order))).body).toBe('Not logged in');
      const unreadable: [string, string, ((requestId: string) => string) | null][] = [
        ['missing', 'guard-request context', null],
        ['missing beside a decoy', 'guard-request decoy context', null],
        ['cut off', 'guard-request context', (of) => contextHeader(of, order).slice(0, -1)],
        ['of another request', 'guard-request', () => contextHeader(id(), order)],
        // nginx accepts no longer line.
        ['too long', 'guard-request context', (of) => contextHeader(of, { ...order, z: 'z'.repeat(5200) })],
        ['no JSON', 'guard-request context', (of) => `1 ${of} e30x ${mac(`guard-context\n1 ${of} e30x`)}`],
      ];
      for (const [how, purpose, context] of unreadable) {
        const response = await send(purpose, context);
        expect([response.status, response.body.includes('ogged in')], how).toEqual([400, false]);
      }
    });
  });

  it('work at the custom URL, with a long spelling or a long query', async () => {
    for (const path of [`/${LOGIN_SLUG}?x=${'"'.repeat(3000)}`, `/${'./'.repeat(3000)}${LOGIN_SLUG}`]) {
      const page = await sendFrom(stack, '127.0.42.11', { target: path });
      expect(page.body, path.slice(0, 20)).toContain('loginform');
    }
    const response = await sendFrom(
      stack,
      '127.0.42.11',
      loginForm(stack.user, stack.password, { path: `/${LOGIN_SLUG}` }),
    );
    expect(createsSession(response)).toBe(true);
  });
});
