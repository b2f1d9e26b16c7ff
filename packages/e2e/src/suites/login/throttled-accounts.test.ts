import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { getCookies, logIn, type Session } from '../../http/session.js';
import { onUsualStack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';
import { change, createsSession, loginForm, recover, sendFrom } from './helpers.js';

const VICTIM = 'victim-of-many-addresses';
/** Number of failures of anonymous clients after which an account is throttled. */
const SLOW_AFTER = 20;

onUsualStack('an account that many addresses attack', (stack) => {
  const plugin = join(muPlugins(stack), 'count-compared.php');
  const record = join(stack.dir, 'compared');
  const compared = () => readFileSync(record, 'utf8').split('\n').filter(Boolean);
  let owner: Session;
  let last = 0;
  const newAddress = () => `127.0.51.${++last}`;
  const inWordPress = (code: string) => runInWordPress(stack, `$user = get_user_by( 'login', '${VICTIM}' ); ${code}`);

  beforeAll(async () => {
    writeFileSync(record, '');
    chmodSync(record, 0o666);
    writeFileSync(
      plugin,
      `<?php add_filter( 'check_password', function ( $right, $password ) {
  file_put_contents( '${record}', "$password\\n", FILE_APPEND | LOCK_EX );
  return $right;
}, -1000, 2 );`,
    );
    await runInWordPress(
      stack,
      `wp_insert_user( array( 'user_login' => '${VICTIM}', 'user_pass' => '${stack.password}', 'user_email' => '${VICTIM}@example.com' ) );`,
    );
    owner = await logIn(stack);
    await change(stack, owner, '/limit-login-attempts', { login_attempts: 5 });
  });
  afterAll(async () => {
    await recover(stack, 'unblock', '--all');
    rmSync(plugin, { force: true });
    rmSync(record, { force: true });
    await inWordPress(`require_once ABSPATH . 'wp-admin/includes/user.php'; wp_delete_user( $user->ID );`);
  });

  it('has one guess in ten seconds compared, and the right password of a known browser at once', async () => {
    const known = getCookies(await sendFrom(stack, newAddress(), loginForm(VICTIM, stack.password)));
    const cookie = /known_device=[^;]+/.exec(known)?.[0] ?? '';
    for (let turn = 0; turn <= SLOW_AFTER; turn++) {
      await sendFrom(stack, newAddress(), loginForm(VICTIM, `wrong-${turn}`));
    }
    await until('WordPress knows that the account is slow', async () =>
      (
        await inWordPress(
          `var_export( in_array( (string) $user->ID, Security_Optimizer_Policy::get_list( 'slow_users' ), true ) );`,
        )
      ).includes('true'),
    );
    writeFileSync(record, '');
    const startedAt = Date.now();
    const responses = [];
    for (let turn = 0; turn < 8; turn++) {
      responses.push(await sendFrom(stack, newAddress(), loginForm(VICTIM, `late-${turn}`)));
    }
    // One at the start, and one for each ten seconds of the test.
    expect(new Set(compared()).size).toBeLessThanOrEqual(1 + Math.ceil((Date.now() - startedAt) / 10_000));
    expect(responses.filter(createsSession)).toEqual([]);
    const own = loginForm(VICTIM, stack.password, { headers: { cookie: `wordpress_test_cookie=1; ${cookie}` } });
    expect(createsSession(await sendFrom(stack, newAddress(), own))).toBe(true);
  });
});
