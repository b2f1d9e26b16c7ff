import { afterEach, describe, expect, it } from 'vitest';
import { usersBlogs } from '../../attacks/requests.js';
import type { TypedRequest } from '../../http/request.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { createsSession, loginForm, prepareLoginSuite, recover, sendFrom } from './helpers.js';

const LIMIT = 5;
const [PENDING, BANNED, CUSTOMER, LEADER] = [
  'refused-pending',
  'refused-banned',
  'refused-not',
  'refused-led',
] as const;

/** Plugins that refuse a login before WordPress compares the password, after it, or by a redirect of their own. */
const PLUGIN = `<?php
add_filter( 'wp_authenticate_user', function ( $user ) {
  $waits = ! is_wp_error( $user ) && '${PENDING}' === $user->user_login;
  return $waits ? new WP_Error( 'pending', 'Your account waits for approval.' ) : $user;
} );
add_filter( 'authenticate', function ( $user, $login ) {
  return '${BANNED}' === $login ? new WP_Error( 'banned', 'You may not come in.' ) : $user;
}, 99, 2 );
// Shows its own login page again, as plugins with a page for it do.
add_filter( 'authenticate', function ( $user, $login ) {
  if ( '${LEADER}' === $login && is_wp_error( $user ) ) {
    wp_redirect( home_url( '/?login=failed' ) );
    exit;
  }
  return $user;
}, 101, 2 );
`;

onUnlikeStacks('a password that a plugin refuses', (stack) => {
  prepareLoginSuite(stack, {
    plugin: { file: 'refused-by-plugins.php', php: PLUGIN },
    logins: [PENDING, BANNED, CUSTOMER, LEADER],
    limit: LIMIT,
  });
  let last = 0;
  const newAddress = () => `127.0.88.${100 + ++last}`;
  const canLogIn = async (from: string) =>
    createsSession(await sendFrom(stack, from, loginForm(CUSTOMER, stack.password)));
  const isLocked = async (from: string) =>
    (await sendFrom(stack, from, loginForm(CUSTOMER, stack.password))).status === 429;

  afterEach(() => recover(stack, 'unblock', '--all'));

  describe.each([
    ['before WordPress compares it', PENDING, 'Your account waits for approval.'],
    ['after WordPress has compared it', BANNED, 'You may not come in.'],
  ])('%s', (_when, login, words) => {
    it('locks nobody out when it is right, and the message of the plugin is shown', async () => {
      const from = newAddress();
      for (let turn = 0; turn < LIMIT + 2; turn++)
        expect((await sendFrom(stack, from, loginForm(login, stack.password))).body).toContain(words);
      expect(await canLogIn(from)).toBe(true);
    });

    const routes: readonly (readonly [string, (login: string, password: string) => TypedRequest])[] = [
      ["WordPress's own form", loginForm],
      ['XML-RPC', usersBlogs],
    ];
    it.each(routes)('counts as a failure when it is wrong, by %s', async (_route, attempt) => {
      const from = newAddress();
      for (let turn = 0; turn < LIMIT; turn++) await sendFrom(stack, from, attempt(login, `guess${turn}`));
      expect(await isLocked(from)).toBe(true);
    });
  });

  it('with a redirect to its own page counts as usual', async () => {
    const from = newAddress();
    for (let turn = 0; turn < LIMIT; turn++) {
      const response = await sendFrom(stack, from, loginForm(LEADER, `guess${turn}`));
      expect([response.status, response.headers.location]).toEqual([302, `${stack.url}/?login=failed`]);
    }
    expect(await isLocked(from)).toBe(true);
  });
});
