import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { form } from '../../http/request.js';
import { logIn, type Session } from '../../http/session.js';
import { onEveryStack } from '../../stacks/stack.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';
import { change, createsSession, deleteUsers, loginForm, recordPasswordChecks, recover, sendFrom } from './helpers.js';

const LIMIT = 5;
const VICTIM = 'victim-of-many';

/** A plugin that accepts a list of passwords in one request, as an importer or an API may. */
const importer = (recordChecks: string) => `<?php
${recordChecks}add_action( 'wp_loaded', function () {
  if ( ! isset( $_POST['guesses'], $_POST['by'] ) ) { return; }
  $user = get_user_by( 'login', '${VICTIM}' );
  if ( isset( $_POST['early'] ) ) {
    while ( ob_get_level() > 0 ) { ob_end_flush(); }
    echo '[early]';
    flush();
  }
  foreach ( $_POST['guesses'] as $guess ) {
    if ( 'wp_authenticate' === $_POST['by'] ) { $right = ! is_wp_error( wp_authenticate( '${VICTIM}', $guess ) ); }
    else { $right = wp_check_password( $guess, $user->user_pass, $user->ID ); }
    echo $right ? '[right]' : '[wrong]';
  }
  exit;
} );`;

onEveryStack('many passwords in one request', (stack) => {
  const plugin = join(muPlugins(stack), 'importer.php');
  const record = recordPasswordChecks(stack, 'many-checks');
  /** Guesses that WordPress compared and reported to the plugin; it compares some of them with several hashes. */
  const compared = () => record.list();
  let owner: Session;
  let last = 0;
  const newAddress = () => `127.0.43.${++last}`;
  const guess = (by: string, guesses: readonly string[], ...more: string[][]) =>
    form('/', new URLSearchParams([['by', by], ...more, ...guesses.map((each) => ['guesses[]', each])]).toString());

  beforeAll(async () => {
    writeFileSync(plugin, importer(record.php));
    await runInWordPress(
      stack,
      `wp_insert_user( array( 'user_login' => '${VICTIM}', 'user_pass' => '${stack.password}', 'user_email' => '${VICTIM}@example.com', 'role' => 'subscriber' ) );`,
    );
    owner = await logIn(stack);
    await change(stack, owner, '/limit-login-attempts', { login_attempts: LIMIT });
  });
  afterAll(async () => {
    await recover(stack, 'unblock', '--all');
    rmSync(plugin, { force: true });
    await deleteUsers(stack, [VICTIM]);
  });

  describe.each(['wp_authenticate', 'wp_check_password'])('by %s()', (by) => {
    it('are compared until one is wrong; a right one after it is not accepted', async () => {
      const from = newAddress();
      const guesses = [stack.password, 'wrong-1', 'wrong-2', stack.password];
      const response = await sendFrom(stack, from, guess(by, guesses));
      expect(response.body).toBe('[right][wrong][wrong][wrong]');
      if (by === 'wp_authenticate') expect(compared()).toEqual([stack.password, 'wrong-1']);
    });

    it('are not accepted once the header of the response was sent: a failure could not be reported', async () => {
      const response = await sendFrom(stack, newAddress(), guess(by, [stack.password], ['early', '1']));
      expect(response.body).toBe('[early][wrong]');
      if (by === 'wp_authenticate') expect(compared()).toEqual([]);
      expect((await sendFrom(stack, newAddress(), guess(by, [stack.password]))).body).toBe('[right]');
    });

    it('reveal in five requests no more than five guesses do', async () => {
      const from = newAddress();
      for (let turn = 0; turn < LIMIT; turn++) {
        const guesses = Array.from({ length: 20 }, (_, each) => `wrong-${turn}-${each}`);
        const response = await sendFrom(stack, from, guess(by, [...guesses, stack.password]));
        expect(response.body).not.toContain('right');
      }
      expect((await sendFrom(stack, from, loginForm(VICTIM, stack.password))).status).toBe(429);
    });
  });

  it('count as one failure each when a plugin replaces wp_authenticate()', async () => {
    const replacement = join(muPlugins(stack), 'own-authentication.php');
    // One that compares with WordPress's own function: the comparison and the action report the same failure.
    writeFileSync(
      replacement,
      `<?php
function wp_authenticate( $username, $password ) {
  $user = get_user_by( 'login', $username );
  if ( $user && wp_check_password( $password, $user->user_pass, $user->ID ) ) { return $user; }
  $error = new WP_Error( 'refused', 'No.' );
  do_action( 'wp_login_failed', $username, $error );
  return $error;
}`,
    );
    try {
      const from = newAddress();
      for (let turn = 0; turn < LIMIT - 1; turn++) await sendFrom(stack, from, loginForm(VICTIM, `wrong-${turn}`));
      expect(createsSession(await sendFrom(stack, from, loginForm(VICTIM, stack.password)))).toBe(true);
    } finally {
      rmSync(replacement, { force: true });
    }
  });
});
