import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { restBasic, usersBlogs } from '../../attacks/requests.js';
import type { TypedRequest } from '../../http/request.js';
import { onUsualStack } from '../../stacks/stack.js';
import { change, createsSession, loginForm, prepareLoginSuite, recover, sendFrom } from './helpers.js';

const LIMIT = 5;
const KEY = ['ck_of_a_shop', 'cs_its_secret'] as const;
const PROGRAM = 'a-phone-owner';
/** Many failures throttle an account, so wrong passwords have their own. */
const REVOKED = 'a-revoked-phone';

/** Keys that a plugin compares itself, as shops do for their REST API. WordPress checks no password then. */
const PLUGIN = `<?php
add_filter( 'wp_is_application_passwords_available', '__return_true' );
add_filter( 'determine_current_user', function ( $user ) {
  $given = isset( $_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'] ) ? $_SERVER['PHP_AUTH_USER'] . ':' . $_SERVER['PHP_AUTH_PW'] : '';
  return $user || ! hash_equals( '${KEY.join(':')}', $given ) ? $user : 1;
}, 15 );
`;

onUsualStack('programs that log in with each request', (stack) => {
  const suite = prepareLoginSuite(stack, {
    plugin: { file: 'programs.php', php: PLUGIN },
    logins: [PROGRAM, REVOKED],
    role: 'editor',
    limit: LIMIT,
  });
  let last = 0;
  const newAddress = () => `127.0.50.${++last}`;
  const canLogIn = async (from: string) =>
    createsSession(await sendFrom(stack, from, loginForm(PROGRAM, stack.password)));
  const isLocked = async (from: string) =>
    (await sendFrom(stack, from, loginForm(PROGRAM, stack.password))).status === 429;

  afterEach(() => recover(stack, 'unblock', '--all'));

  describe('with keys of a plugin', () => {
    it('may send any number of requests: none counts as a guess, alone or in parallel', async () => {
      const from = newAddress();
      const call = async () => (await sendFrom(stack, from, restBasic(...KEY))).status;
      for (let turn = 0; turn < 10; turn++) expect(await call()).toBe(200);
      const statuses = await Promise.all(Array.from({ length: 60 }, call));
      expect(new Set(statuses)).toEqual(new Set([200]));
      expect(await canLogIn(from)).toBe(true);
    });

    it('that are wrong count as guesses, and lock out the address as usual', async () => {
      const from = newAddress();
      for (let turn = 0; turn < LIMIT; turn++) await sendFrom(stack, from, restBasic(KEY[0], `wrong${turn}`));
      expect(await isLocked(from)).toBe(true);
    });

    it('are accepted from a locked address, too, since they contain no password to guess', async () => {
      const from = newAddress();
      for (let turn = 0; turn < LIMIT; turn++) await sendFrom(stack, from, loginForm(PROGRAM, `wrong${turn}`));
      expect(await isLocked(from)).toBe(true);
      expect((await sendFrom(stack, from, restBasic(...KEY))).status).toBe(200);
    });
  });

  describe('with one application password that is wrong', () => {
    it('count once per address, however many requests they send', async () => {
      const from = newAddress();
      for (let turn = 0; turn < LIMIT * 3; turn++)
        expect((await sendFrom(stack, from, restBasic(REVOKED, 'it was revoked'))).status).toBe(401);
      expect(await canLogIn(from)).toBe(true);
    });

    it('are locked out as usual once they try different ones', async () => {
      const from = newAddress();
      for (let turn = 0; turn < LIMIT * 2; turn++) await sendFrom(stack, from, restBasic(REVOKED, 'it was revoked'));
      for (let turn = 0; turn < LIMIT - 1; turn++) await sendFrom(stack, from, restBasic(REVOKED, `guess${turn}`));
      expect(await isLocked(from)).toBe(true);
      // Passwords tried by one address are new for another.
      const other = newAddress();
      for (let turn = 0; turn < LIMIT; turn++) await sendFrom(stack, other, restBasic(REVOKED, `guess${turn}`));
      expect(await isLocked(other)).toBe(true);
    });
  });

  describe('with an application password while the second factor is required', () => {
    const explanation = /Application passwords are not available for accounts that need a second factor\./;
    beforeAll(() => change(stack, suite.owner, '/2fa', { sg2fa: 1 }));
    afterAll(() => change(stack, suite.owner, '/2fa', { sg2fa: 0 }));

    const routes: readonly (readonly [string, (password: string) => TypedRequest])[] = [
      ['REST', (password) => restBasic(PROGRAM, password)],
      ['XML-RPC', (password) => usersBlogs(PROGRAM, password)],
    ];
    it.each(routes)('that is right get the reason for the refusal by %s, and lock nobody out', async (_route, call) => {
      const from = newAddress();
      for (let turn = 0; turn < LIMIT * 2; turn++) {
        const { body } = await sendFrom(stack, from, call(suite.key(PROGRAM)));
        expect(body).toMatch(explanation);
        expect(body).toContain('Login Security, Application Passwords');
      }
      expect(await isLocked(from)).toBe(false);
    });

    it('that is right get a code and a status that differ from those of a wrong one', async () => {
      const right = await sendFrom(stack, newAddress(), restBasic(PROGRAM, suite.key(PROGRAM)));
      expect([right.status, JSON.parse(right.body).code]).toEqual([403, 'application_passwords_need_permission']);
      const wrong = await sendFrom(stack, newAddress(), restBasic(PROGRAM, 'wrong'));
      expect([wrong.status, JSON.parse(wrong.body).code]).toEqual([401, 'rest_not_logged_in']);
    });

    it.each(routes)('that is wrong get the usual response by %s, and are counted', async (_route, call) => {
      const from = newAddress();
      for (let turn = 0; turn < LIMIT; turn++) {
        const { body } = await sendFrom(stack, from, call(`wrong${turn}`));
        expect(body).toMatch(/Incorrect username or password|You are not currently logged in/);
        expect(body).not.toMatch(explanation);
      }
      expect(await isLocked(from)).toBe(true);
    });
  });
});
