import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { multicall, restBasic, usersBlogs } from '../../attacks/requests.js';
import type { RawResponse } from '../../http/raw.js';
import type { TypedRequest } from '../../http/request.js';
import { killGuard, startGuard } from '../../stacks/guard-process.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';
import {
  createsSession,
  loginForm,
  prepareLoginSuite,
  recordPasswordChecks,
  recover,
  SHOP_PLUGIN,
  sendFrom,
  shopForm,
} from './helpers.js';

const LIMIT = 5;
/** Each attack has its own account, since many failures throttle an account for anonymous clients. */
const VICTIMS = [
  'form',
  'xmlrpc',
  'multicall',
  'rest',
  'plugin',
  'locked',
  'kept',
  'timing',
  'oldhash',
  'forger',
  'own',
] as const;
const victim = (name: (typeof VICTIMS)[number]) => `victim-${name}`;

const attacks: [string, (typeof VICTIMS)[number], (login: string, turn: number) => TypedRequest][] = [
  ['the login form', 'form', (login, turn) => loginForm(login, `guess${turn}`)],
  ['XML-RPC', 'xmlrpc', (login, turn) => usersBlogs(login, `guess${turn}`)],
  [
    'system.multicall with ten guesses each',
    'multicall',
    (login, turn) =>
      multicall(
        login,
        Array.from({ length: 10 }, (_, each) => `guess${turn}x${each}`),
      ),
  ],
  ['REST with basic authentication', 'rest', (login, turn) => restBasic(login, `guess${turn}`)],
  ["a plugin's own form", 'plugin', (login, turn) => shopForm(login, `guess${turn}`)],
];

onUnlikeStacks('guessing passwords', (stack) => {
  const record = recordPasswordChecks(stack, 'password-checks');
  const checks = () => record.list().length;
  const php = `<?php
${SHOP_PLUGIN}
${record.php}add_action( 'wp_loaded', function () {
  if ( isset( $_GET['chat'] ) ) { sleep( 3 ); exit( 'nothing new' ); }
} );`;
  prepareLoginSuite(stack, {
    plugin: { file: 'count-checks.php', php },
    logins: VICTIMS.map(victim),
    limit: LIMIT,
  });
  let last = 0;
  /** An unused client address. */
  const newAddress = () => `127.0.31.${++last}`;
  const error = (response: RawResponse) =>
    /<div id="login_error"[^>]*>([\s\S]*?)<\/div>/.exec(response.body)?.[1]?.trim();
  const lockOut = async (from: string, login: string) => {
    for (let turn = 0; turn < LIMIT; turn++) await sendFrom(stack, from, loginForm(login, `wrong-${turn}`));
  };

  describe.each(attacks)('by %s', (_route, name, guess) => {
    it('allows at most five checks, however many requests run in parallel', async () => {
      const from = newAddress();
      const responses = await Promise.all(
        Array.from({ length: 100 }, (_, turn) => sendFrom(stack, from, guess(victim(name), turn))),
      );
      expect(checks()).toBeGreaterThanOrEqual(1);
      expect(checks()).toBeLessThanOrEqual(LIMIT);
      expect(responses.filter(createsSession)).toEqual([]);
      // Now the address is locked out, and the right password is no longer compared.
      record.clear();
      const right = await sendFrom(stack, from, loginForm(victim(name), stack.password));
      expect(createsSession(right)).toBe(false);
      expect(right.status).toBe(429);
      expect(checks()).toBe(0);
    });
  });

  it('compares no password in the shop for a locked visitor, and still serves the site', async () => {
    const from = newAddress();
    await lockOut(from, victim('locked'));
    record.clear();
    expect((await sendFrom(stack, from, shopForm(victim('locked'), stack.password))).body).toContain('Not logged in');
    expect(checks()).toBe(0);
    const page = await sendFrom(stack, from, { target: '/hello-world/' });
    expect(page.status).toBe(200);
  });

  it('gives a locked visitor the same response for the right and a wrong password', async () => {
    const from = newAddress();
    await lockOut(from, victim('locked'));
    const right = await sendFrom(stack, from, loginForm(victim('locked'), stack.password));
    const wrong = await sendFrom(stack, from, loginForm(victim('locked'), 'wrong'));
    expect([right.status, plain(right.body)]).toEqual([wrong.status, plain(wrong.body)]);
    expect(right.status).toBe(429);
    expect(Number(right.headers['retry-after'])).toBeGreaterThan(3000);
  });

  it('keeps a lockout when guard is killed, until a command ends it', async () => {
    const from = newAddress();
    await lockOut(from, victim('kept'));
    const right = loginForm(victim('kept'), stack.password);
    // No wait between the last response and the kill: the failure is already stored.
    await killGuard(stack);
    await startGuard(stack);
    expect((await sendFrom(stack, from, right)).status).toBe(429);
    expect(await recover(stack, 'unblock', from)).toContain(from);
    await until('the address may log in', async () => createsSession(await sendFrom(stack, from, right)));
  });

  it('does not delay logins when other requests of the same address hang', async () => {
    const from = newAddress();
    let over = 0;
    const chats = Array.from({ length: 5 }, async () => {
      await sendFrom(stack, from, { target: '/?chat=1' });
      over++;
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(createsSession(await sendFrom(stack, from, loginForm(victim('kept'), stack.password)))).toBe(true);
    expect(over).toBe(0);
    await Promise.all(chats);
  });

  it('resets the failures after a success', async () => {
    const from = newAddress();
    for (let round = 0; round < 2; round++) {
      for (let turn = 0; turn < LIMIT - 1; turn++) {
        const response = await sendFrom(stack, from, loginForm(victim('kept'), `wrong-${turn}`));
        expect(response.status).toBe(200);
      }
      expect(createsSession(await sendFrom(stack, from, loginForm(victim('kept'), stack.password)))).toBe(true);
    }
  });

  describe("where a plugin replaces WordPress's wp_authenticate()", () => {
    const replacement = join(muPlugins(stack), 'own-authentication.php');
    // Does not use WordPress, like a plugin for an external directory.
    beforeAll(() =>
      writeFileSync(
        replacement,
        `<?php
function wp_authenticate( $username, $password ) {
  file_put_contents( '${record.file}', "$password\\n", FILE_APPEND | LOCK_EX );
  if ( '${stack.password}' === $password ) { return get_user_by( 'login', $username ); }
  $error = new WP_Error( 'refused', 'No.' );
  do_action( 'wp_login_failed', $username, $error );
  return $error;
}`,
      ),
    );
    afterAll(() => rmSync(replacement, { force: true }));

    it.each([
      ['the login form', loginForm],
      ["a plugin's own form", shopForm],
    ])('allows five checks, too, and then not even the right password: %s', async (_route, request) => {
      const from = newAddress();
      record.clear();
      await Promise.all(
        Array.from({ length: 12 }, (_, turn) => sendFrom(stack, from, request(victim('own'), `guess${turn}`))),
      );
      const compared = () => readFileSync(record.file, 'utf8').split('\n');
      const guessed = () => compared().filter((line) => line.startsWith('guess'));
      expect(guessed().length).toBeLessThanOrEqual(LIMIT);
      for (let turn = 12; turn < 20; turn++) await sendFrom(stack, from, request(victim('own'), `guess${turn}`));
      expect(guessed()).toHaveLength(LIMIT);
      const response = await sendFrom(stack, from, shopForm(victim('own'), stack.password));
      expect(response.body).toContain('Not logged in');
      expect(compared()).not.toContain(stack.password);
      expect(createsSession(await sendFrom(stack, newAddress(), loginForm(victim('own'), stack.password)))).toBe(true);
    });
  });

  describe('for an unknown name and a wrong password', () => {
    const counter = join(muPlugins(stack), 'count-hashes.php');
    const hashes = join(stack.dir, 'password-hashes');
    // Records what takes the time of a response. Since WordPress 6.8 that is bcrypt, when it compares with a hash of
    // its
    // kind and when it creates one. Before, it is phpass, whose hasher WordPress lets a plugin replace.
    beforeAll(async () => {
      writeFileSync(hashes, '');
      chmodSync(hashes, 0o666);
      writeFileSync(
        counter,
        `<?php
function note_slow_hash( $kind ) { file_put_contents( '${hashes}', "$kind\\n", FILE_APPEND | LOCK_EX ); }
if ( function_exists( 'wp_fast_hash' ) ) {
  add_filter( 'check_password', function ( $right, $password, $hash ) {
    if ( str_starts_with( $hash, '$wp$' ) ) { note_slow_hash( 'bcrypt' ); }
    return $right;
  }, -1000, 3 );
  add_filter( 'wp_hash_password_options', function ( $options ) {
    // Also asked when a hash is looked at, which costs nothing.
    if ( in_array( 'wp_hash_password', array_column( debug_backtrace(), 'function' ), true ) ) { note_slow_hash( 'bcrypt' ); }
    return $options;
  } );
} else {
  require_once ABSPATH . WPINC . '/class-phpass.php';
  class Counting_Hasher extends PasswordHash {
    public function crypt_private( $password, $setting ) {
      note_slow_hash( 'phpass' );
      return parent::crypt_private( $password, $setting );
    }
  }
  $GLOBALS['wp_hasher'] = new Counting_Hasher( 8, true );
}`,
      );
      // An account from before 6.8 that has not logged in since, and its application password.
      await runInWordPress(
        stack,
        `require_once ABSPATH . WPINC . '/class-phpass.php';
        $id   = get_user_by( 'login', '${victim('oldhash')}' )->ID;
        $hash = ( new PasswordHash( 8, true ) )->HashPassword( '${stack.password}' );
        $GLOBALS['wpdb']->update( $GLOBALS['wpdb']->users, array( 'user_pass' => $hash ), array( 'ID' => $id ) );
        $keys                = get_user_meta( $id, '_application_passwords', true );
        $keys[0]['password'] = $hash;
        update_user_meta( $id, '_application_passwords', $keys );`,
      );
    });
    afterAll(() => {
      rmSync(counter, { force: true });
      rmSync(hashes, { force: true });
    });

    it.each([
      ['the login form', loginForm],
      // For users with one application password. Their number affects the work.
      ['REST with basic authentication', restBasic],
      ["a plugin's own form", shopForm],
    ])('gives the same response and computes as many hashes: %s', async (_route, guess) => {
      const cost = async (login: string) => {
        writeFileSync(hashes, '');
        const response = await sendFrom(stack, newAddress(), guess(login, 'wrong'));
        return {
          status: response.status,
          message: error(response) ?? response.body,
          hashes: readFileSync(hashes, 'utf8').split('\n').filter(Boolean),
        };
      };
      const [known, unknown] = [await cost(victim('timing')), await cost('nobody-at-all')];
      expect(unknown).toEqual(known);
      expect(await cost(victim('oldhash'))).toEqual(known);
      expect(known.hashes.length).toBeGreaterThan(0);
      expect(known.message).toMatch(/incorrect password|Not logged in|not currently logged in/);
    });
  });

  it.each(['x-forwarded-for', 'x-real-ip', 'forwarded', 'cf-connecting-ip', 'true-client-ip', 'client-ip'])(
    'counts by the address of the connection, whatever %s claims',
    async (name) => {
      const from = newAddress();
      for (let turn = 0; turn < LIMIT; turn++) {
        const value = name === 'forwarded' ? `for=203.0.113.${turn}` : `203.0.113.${turn}`;
        await sendFrom(stack, from, loginForm(`nobody-${turn}`, 'wrong', { headers: { [name]: value } }));
      }
      const headers = { [name]: name === 'forwarded' ? 'for=203.0.113.99' : '203.0.113.99' };
      expect((await sendFrom(stack, from, loginForm(victim('forger'), stack.password, { headers }))).status).toBe(429);
      // The forged address itself is not locked out.
      expect(createsSession(await sendFrom(stack, newAddress(), loginForm(victim('forger'), stack.password)))).toBe(
        true,
      );
    },
  );
});

/** A page without the parts that always differ: nonces and remaining seconds. */
function plain(body: string): string {
  return body.replace(/nonce="[^"]*"/g, 'nonce').replace(/\d+ (?:minutes?|seconds?)/g, 'a while');
}
