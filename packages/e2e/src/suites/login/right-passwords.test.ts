import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { form, type TypedRequest } from '../../http/request.js';
import { onEveryStack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { createsSession, loginForm, prepareLoginSuite, recordPasswordChecks, sendFrom } from './helpers.js';

const LIMIT = 5;
const TRIES = 6;
const USERS = ['owner', 'shopper', 'victim', 'late'] as const;
const login = (name: (typeof USERS)[number]) => `right-${name}`;

/**
 * `echo` in a login makes the header of its response long; `kill` ends PHP after the check. `deny` makes the connector
 * report, before the check, that there is none, as after a timeout of the web server.
 */
const PLUGIN = (recordChecks: string) => `<?php
${recordChecks}$GLOBALS['guard_header'] = isset( $_SERVER['HTTP_X_SECURITY_OPTIMIZER_GUARD'] ) ? $_SERVER['HTTP_X_SECURITY_OPTIMIZER_GUARD'] : '';
add_action( 'login_init', function () {
  if ( isset( $_POST['deny'] ) ) {
    Security_Optimizer_Password_Check_Log::find_or_deny( array( explode( ' ', $GLOBALS['guard_header'] )[3] ) );
  }
  if ( isset( $_POST['echo'] ) ) {
    header( 'Set-Cookie: echo=' . $_POST['echo'] );
  }
} );
add_filter( 'authenticate', function ( $user ) {
  if ( isset( $_POST['kill'] ) ) {
    posix_kill( getmypid(), 9 );
  }
  return $user;
}, PHP_INT_MAX - 1 );
`;

const withField = (user: string, password: string, field: string, value: string): TypedRequest => {
  const fields = new URLSearchParams({ log: user, pwd: password, testcookie: '1', [field]: value });
  return form('/wp-login.php', fields.toString(), { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' });
};

/** The file that WordPress's own updates write, and a custom maintenance page. */
const MAINTENANCE = '<?php $upgrading = time();';
const OWN_PAGE = `<?php header( 'HTTP/1.1 503 Service Unavailable' ); header( 'Retry-After: 600' ); echo 'Back soon';`;
/** Some plugins do not report an error. */
const QUIET_PAGE = `<?php echo 'Back soon';`;

onEveryStack('right passwords in requests that WordPress does not answer', (stack) => {
  const record = recordPasswordChecks(stack, 'right-password-checks');
  prepareLoginSuite(stack, {
    plugin: { file: 'right-passwords.php', php: PLUGIN(record.php) },
    logins: USERS.map(login),
    limit: LIMIT,
  });
  let last = 0;
  const newAddress = () => `127.0.10.${++last}`;
  const logsIn = async (from: string, user: string) =>
    createsSession(await sendFrom(stack, from, loginForm(user, stack.password)));
  const maintenance = join(stack.wordpressDir, '.maintenance');
  const ownPage = join(stack.wordpressDir, 'wp-content', 'maintenance.php');
  afterEach(() => {
    for (const file of [maintenance, ownPage]) rmSync(file, { force: true });
  });

  describe.each([
    ['the page of WordPress', null, 503],
    ['a page of the site', OWN_PAGE, 503],
    ['a page of the site with status 200', QUIET_PAGE, 200],
  ] as const)('during maintenance with %s', (_page, page, status) => {
    it('lock nobody out, and are never reported as wrong', async () => {
      const from = newAddress();
      if (page !== null) writeFileSync(ownPage, page);
      writeFileSync(maintenance, MAINTENANCE);
      const responses = [];
      for (let turn = 0; turn < TRIES; turn++)
        responses.push(await sendFrom(stack, from, loginForm(login('owner'), stack.password)));
      expect(responses[0]?.status).toBe(status);
      for (const { body } of responses) expect(body).not.toMatch(/incorrect|Too many (?:failed )?login attempts/i);
      rmSync(maintenance);
      await until('the address may log in', () => logsIn(from, login('owner')), 15);
    });
  });

  it('are not checked any more once guard knows that they were not', async () => {
    const response = await sendFrom(stack, newAddress(), withField(login('late'), stack.password, 'deny', '1'));
    expect(createsSession(response)).toBe(false);
    expect(record.list()).toEqual([]);
  });

  it('cause no further refusals while nobody logs in', async () => {
    const stored = await runInWordPress(
      stack,
      `$records = 'Security_Optimizer_Password_Check_Log';
      $write = function ( $name, $age, $value ) {
        Security_Optimizer_Option_Rows::insert( 'security_optimizer_check_' . $name, Security_Optimizer_Option_Rows::time( time() - $age ) . $value );
      };
      $write( 'trail-old', 601, 'false' );
      $write( 'trail-young', 590, 'false' );
      $write( 'trail-record', 700, '{"failed":[]}' );
      $records::find_or_deny( array( 'trail-new' ) );
      global $wpdb;
      echo implode( ' ', $wpdb->get_col( "SELECT option_name FROM {$wpdb->base_prefix}options WHERE option_name LIKE 'security_optimizer_check_trail%' ORDER BY option_name" ) );`,
    );
    const names = stored.trim().split(' ');
    expect(names.map((name) => name.replace('security_optimizer_check_', ''))).toEqual([
      'trail-new',
      'trail-record',
      'trail-young',
    ]);
  });

  it('with a redirect_to of 3,500 letters lock nobody out', async () => {
    const from = newAddress();
    const target = `/?from=${'a'.repeat(3500)}`;
    for (let turn = 0; turn < TRIES; turn++)
      await sendFrom(stack, from, withField(login('shopper'), stack.password, 'redirect_to', target));
    expect(await logsIn(from, login('shopper'))).toBe(true);
  });

  it.each([
    ['whose response has a header that is too long', 'echo', 'a'.repeat(9000)],
    // PHP's own web server has too few processes.
    ...(stack.kind === 'embedded' ? [] : [['whose PHP process was killed', 'kill', '1']]),
  ])('still count as failures when they are wrong: %s', async (_what, field, value) => {
    const from = newAddress();
    for (let turn = 0; turn < TRIES; turn++)
      await sendFrom(stack, from, withField(login('victim'), `guess${turn}`, field as string, value as string));
    expect(record.list()).toHaveLength(LIMIT);
    expect((await sendFrom(stack, from, loginForm(login('victim'), stack.password))).status).toBe(429);
  });
});
