import { describe, expect, it } from 'vitest';
import { restBasic, usersBlogs } from '../../attacks/requests.js';
import { form, type TypedRequest } from '../../http/request.js';
import { readOptions } from '../../http/session.js';
import { guardLog } from '../../stacks/guard-process.js';
import { onEveryStack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress, withoutConnector } from '../../stacks/wordpress.js';
import { createsSession, loginForm, prepareLoginSuite, recordPasswordChecks, sendFrom } from './helpers.js';

const LIMIT = 5;
const TRIES = 12;
/** Many failures throttle an account for anonymous clients, so each attack has its own account. */
const VICTIMS = ['lang', 'origin', 'cookie', 'killed', 'policy', 'without', 'crash', 'mine'] as const;
const victim = (name: (typeof VICTIMS)[number]) => `lost-${name}`;

/**
 * A REST route that checks a password and responds with a text, a form that repeats its input in a cookie, a form whose
 * PHP process is killed after the check, and an AJAX action whose process is killed without a check.
 */
const PLUGIN = (recordChecks: string) => `<?php
add_filter( 'wp_is_application_passwords_available', '__return_true' );
${recordChecks}add_action( 'rest_api_init', function () {
  register_rest_route( 'phone/v1', '/login', array(
    'methods'             => 'POST',
    'permission_callback' => '__return_true',
    'callback'            => function ( $request ) {
      $user = wp_authenticate( $request['name'], $request['password'] );
      return array( 'answer' => is_wp_error( $user ) ? 'Not logged in' : 'Logged in' );
    },
  ) );
} );
add_action( 'wp_loaded', function () {
  if ( isset( $_POST['echo_name'] ) ) {
    header( 'Set-Cookie: echo=' . $_POST['echo'] );
    $user = wp_authenticate( $_POST['echo_name'], $_POST['echo_password'] );
    exit( is_wp_error( $user ) ? 'Not logged in' : 'Logged in' );
  }
  if ( isset( $_POST['kill_name'] ) ) {
    wp_authenticate( $_POST['kill_name'], $_POST['kill_password'] );
    posix_kill( getmypid(), 9 );
  }
} );
add_action( 'wp_ajax_nopriv_crash', function () { posix_kill( getmypid(), 9 ); } );
`;

const restLogin = (login: string, password: string, origin: string): TypedRequest =>
  form('/wp-json/phone/v1/login', new URLSearchParams({ name: login, password }).toString(), { origin });
const echoing = (login: string, password: string, length: number): TypedRequest =>
  form('/', new URLSearchParams({ echo_name: login, echo_password: password, echo: 'a'.repeat(length) }).toString());
const killed = (login: string, password: string): TypedRequest =>
  form('/', new URLSearchParams({ kill_name: login, kill_password: password }).toString());

onEveryStack('passwords whose result never reaches guard', (stack) => {
  const record = recordPasswordChecks(stack, 'lost-password-checks');
  const checks = () => record.list().length;
  const suite = prepareLoginSuite(stack, {
    plugin: { file: 'lost-reports.php', php: PLUGIN(record.php) },
    logins: VICTIMS.map(victim),
    limit: LIMIT,
  });
  let last = 0;
  const newAddress = () => `127.0.41.${++last}`;
  const isLocked = async (from: string) =>
    (await sendFrom(stack, from, loginForm(victim('mine'), stack.password))).status === 429;

  it.each([40, 3600, 5000, 7000])(
    'a language of %i letters at the login form allows no more than five checks, and then the form is locked',
    async (length) => {
      const from = newAddress();
      const path = `/wp-login.php?wp_lang=${'a'.repeat(length)}`;
      for (let turn = 0; turn < TRIES; turn++) {
        await sendFrom(stack, from, loginForm(victim('lang'), `guess${turn}`, { path }));
      }
      expect(checks()).toBeLessThanOrEqual(LIMIT);
      // Requests that are refused before WordPress do not count as failures.
      if (checks() > 0) expect(await isLocked(from)).toBe(true);
    },
  );

  it.each([30, 480, 3600, 6000])(
    "an Origin of %i letters at a plugin's REST route allows no more than five checks, and then reveals nothing",
    async (length) => {
      const from = newAddress();
      const origin = `http://${'a'.repeat(length)}`;
      for (let turn = 0; turn < TRIES; turn++) {
        await sendFrom(stack, from, restLogin(victim('origin'), `guess${turn}`, origin));
      }
      expect(checks()).toBeLessThanOrEqual(LIMIT);
      const wrong = await sendFrom(stack, from, restLogin(victim('origin'), 'wrong', origin));
      const right = await sendFrom(stack, from, restLogin(victim('origin'), stack.password, origin));
      expect([right.status, right.body]).toEqual([wrong.status, wrong.body]);
      expect(right.body).not.toContain('"Logged in"');
    },
  );

  it('a response whose header a plugin makes too long hides no failure', async () => {
    const from = newAddress();
    for (let turn = 0; turn < TRIES; turn++) {
      await sendFrom(stack, from, echoing(victim('cookie'), `guess${turn}`, 7000));
    }
    expect(checks()).toBe(LIMIT);
    expect((await sendFrom(stack, from, echoing(victim('cookie'), stack.password, 10))).body).toBe('Not logged in');
    expect(await isLocked(from)).toBe(true);
  });

  it('parallel guesses with such responses are no more than five either', async () => {
    const from = newAddress();
    await Promise.all(
      Array.from({ length: 40 }, (_, turn) => sendFrom(stack, from, echoing(victim('cookie'), `guess${turn}`, 7000))),
    );
    expect(checks()).toBeLessThanOrEqual(LIMIT);
  });

  // PHP's own web server has too few processes.
  describe.skipIf(stack.kind === 'embedded')('where PHP is killed', () => {
    it('count as failures after a check', async () => {
      const from = newAddress();
      for (let turn = 0; turn < TRIES; turn++) {
        expect((await sendFrom(stack, from, killed(victim('killed'), `guess${turn}`))).status).toBeLessThan(600);
      }
      expect(checks()).toBe(LIMIT);
      expect(await isLocked(from)).toBe(true);
    });

    it('lock nobody out without a check', async () => {
      const from = newAddress();
      for (let turn = 0; turn < TRIES; turn++) {
        const response = await sendFrom(stack, from, form('/wp-admin/admin-ajax.php?action=crash', 'a=b'));
        expect(response.status).toBe(502);
      }
      expect(createsSession(await sendFrom(stack, from, loginForm(victim('crash'), stack.password)))).toBe(true);
    });
  });

  it('responses of the web server itself lock nobody out', async () => {
    const from = newAddress();
    for (let turn = 0; turn < TRIES; turn++) {
      await sendFrom(stack, from, form('/not-there.php', 'a=b'));
      await sendFrom(stack, from, form('/wp-includes/css/buttons.min.css', 'a=b'));
      await sendFrom(stack, from, { target: '/wp-includes/css/buttons.min.css', headers: basic('staging', 'open') });
    }
    expect(createsSession(await sendFrom(stack, from, loginForm(victim('crash'), stack.password)))).toBe(true);
  });

  it('failures count while WordPress has no policy, as after a restore and before guard could write it', async () => {
    const from = newAddress();
    const guessWithoutPolicy = async (turn: number) => {
      await runInWordPress(stack, "delete_option( 'security_optimizer_policy' );");
      return sendFrom(stack, from, loginForm(victim('policy'), `guess${turn}`));
    };
    for (let turn = 0; turn < LIMIT; turn++) expect((await guessWithoutPolicy(turn)).status).toBe(200);
    expect(checks()).toBe(LIMIT);
    expect(await isLocked(from)).toBe(true);
    await until('guard has written the policy again', async () => {
      const policy = await runInWordPress(stack, "echo json_encode( get_option( 'security_optimizer_policy' ) );");
      return policy.trim() !== 'false';
    });
  });

  describe('while the connector is away', () => {
    it.each([
      ['XML-RPC', usersBlogs],
      ['REST with basic authentication', restBasic],
      ['the login form', loginForm],
    ])('%s costs at most five checks, and the address is locked', async (_route, guess) => {
      const from = newAddress();
      await withoutConnector(stack, async () => {
        for (let turn = 0; turn < TRIES; turn++) await sendFrom(stack, from, guess(victim('without'), `guess${turn}`));
        expect(checks()).toBe(LIMIT);
        expect((await sendFrom(stack, from, guess(victim('without'), stack.password))).status).toBe(429);
      });
      // Guard writes its key again and sends requests until the connector answers.
      await until('the connector answers', async () => (await readOptions(stack, suite.owner)) !== null);
    });

    it('the log reports it once, right after the first response without a signature', async () => {
      const lines = () => guardLog(stack).filter(({ event }) => event === 'connector-missing').length;
      await until('the outage before is over', async () => {
        await sendFrom(stack, '127.0.41.250', { target: '/' });
        return (
          guardLog(stack)
            .filter(({ event }) => event === 'connector-missing' || event === 'connector-ok')
            .at(-1)?.event === 'connector-ok'
        );
      });
      await new Promise((resolve) => setTimeout(resolve, 5100));
      const before = lines();
      await withoutConnector(stack, async () => {
        const from = newAddress();
        await sendFrom(stack, from, usersBlogs(victim('without'), 'guess'));
        await until('guard has looked', () => lines() === before + 1, 4);
        for (let turn = 0; turn < 3; turn++) await sendFrom(stack, from, usersBlogs(victim('without'), `guess${turn}`));
      });
      expect(lines()).toBe(before + 1);
    });
  });
});

function basic(name: string, password: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` };
}
