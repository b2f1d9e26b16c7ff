import { beforeAll, expect, it } from 'vitest';
import { restBasic, usersBlogs } from '../../attacks/requests.js';
import type { RawResponse } from '../../http/raw.js';
import { form, type TypedRequest } from '../../http/request.js';
import { onUsualStack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { createsSession, loginForm, prepareLoginSuite, sendFrom } from './helpers.js';

const LIMIT = 3;
const CUSTOMER = 'a-customer';

/** Forms of plugins. All of them replace WordPress's messages about a name or a password by their own. */
const PLUGIN = `<?php
add_filter( 'wp_is_application_passwords_available', '__return_true' );
function forms_sign_on( $login, $password ) {
  $user = wp_signon( array( 'user_login' => $login, 'user_password' => $password ) );
  if ( ! is_wp_error( $user ) ) { return null; }
  $own = array_fill_keys( array( 'incorrect_password', 'invalid_username', 'invalid_email' ), 'The shop knows no such customer.' );
  $code = $user->get_error_code();
  return isset( $own[ $code ] ) ? $own[ $code ] : apply_filters( 'login_errors', $user->get_error_message() );
}
add_action( 'wp_loaded', function () {
  if ( isset( $_POST['shop_login'] ) ) {
    $fault = forms_sign_on( $_POST['shop_login'], $_POST['shop_password'] );
    exit( '<ul class="notice"><li>' . ( null === $fault ? 'Welcome' : $fault ) . '</li></ul>' );
  }
} );
add_action( 'wp_ajax_nopriv_shop_login', function () {
  $fault = forms_sign_on( $_POST['login'], $_POST['password'] );
  null === $fault ? wp_send_json_success() : wp_send_json_error( array( 'message' => $fault ) );
} );
add_action( 'rest_api_init', function () {
  register_rest_route( 'forms/v1', '/login', array(
    'methods'             => 'POST',
    'permission_callback' => '__return_true',
    'callback'            => function ( $request ) { return wp_authenticate( $request['name'], $request['password'] ); },
  ) );
} );
`;

type Attempt = (login: string, password: string) => TypedRequest;
const fields = (values: Record<string, string>) => new URLSearchParams(values).toString();
/** Login routes, each with its status while the address is locked out. */
const routes: readonly (readonly [string, Attempt, number])[] = [
  ["a shop's form", (login, password) => form('/', fields({ shop_login: login, shop_password: password })), 200],
  [
    'a form by AJAX',
    (login, password) => form('/wp-admin/admin-ajax.php', fields({ action: 'shop_login', login, password })),
    200,
  ],
  ["a plugin's REST route", (name, password) => form('/wp-json/forms/v1/login', fields({ name, password })), 429],
  ['REST with basic authentication', restBasic, 429],
  ['XML-RPC', usersBlogs, 429],
  ["WordPress's own form", loginForm, 429],
];

onUsualStack('a visitor whose address is locked out', (stack) => {
  const suite = prepareLoginSuite(stack, {
    plugin: { file: 'forms.php', php: PLUGIN },
    logins: [CUSTOMER],
    limit: LIMIT,
  });
  const from = '127.0.44.1';
  const sendRequest = (request: TypedRequest) => sendFrom(stack, from, request);
  const seen = ({ status, body, headers }: RawResponse) => ({
    status,
    type: headers['content-type'],
    body: body.replace(/"until":\d+/g, 'UNTIL').replace(/nonce="[^"]*"/g, 'NONCE'),
  });
  let before: RawResponse;

  beforeAll(async () => {
    for (let turn = 0; turn < LIMIT; turn++)
      before = await sendRequest(routes[0]?.[1](CUSTOMER, `wrong${turn}`) as TypedRequest);
    // For some seconds after a response without the connector in an earlier suite, guard refuses at once what may
    // contain a
    // password.
    const read = { ...restBasic('staging', 'open'), target: '/wp-json/wp/v2/posts' };
    await until('guard relies on the connector', async () => (await sendRequest(read)).status === 200);
  });

  it('got the usual messages until then', () => {
    expect(before.body).toContain('The shop knows no such customer.');
    expect(before.headers['retry-after']).toBeUndefined();
  });

  it.each(routes)('is reported by %s, with the end of the lockout', async (_route, attempt, status) => {
    const response = await sendRequest(attempt(CUSTOMER, stack.password));
    expect(response.status).toBe(status);
    expect(response.body).toMatch(/Too many login attempts/);
    expect(response.body).toMatch(/[Tt]ry again in (?:<[^>]+>)*(?:1 hour|60 minutes|5\d (?:min|minutes))/);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(3500);
    expect(Number(response.headers['retry-after'])).toBeLessThanOrEqual(3600);
  });

  it.each(routes)(
    'gets the same response by %s for a right password, a wrong one and an unknown name',
    async (_route, attempt) => {
      const right = seen(await sendRequest(attempt(CUSTOMER, stack.password)));
      expect(right.body).not.toContain(CUSTOMER);
      expect(seen(await sendRequest(attempt(CUSTOMER, 'wrong')))).toEqual(right);
      expect(seen(await sendRequest(attempt('nobody-at-all', 'wrong')))).toEqual(right);
      expect(seen(await sendRequest(attempt(CUSTOMER, suite.key(CUSTOMER))))).toEqual(right);
    },
  );

  it('may still request a new password, which does not let anyone log in', async () => {
    const lost = { user_login: CUSTOMER, redirect_to: '', 'wp-submit': 'Get New Password' };
    const response = await sendRequest(form('/wp-login.php?action=lostpassword', fields(lost)));
    expect([response.status, response.headers.location]).toEqual([302, expect.stringContaining('checkemail=confirm')]);
    expect((await sendRequest({ target: '/wp-login.php?action=lostpassword' })).status).toBe(200);
    // The body may contradict the query; no password is checked either.
    const login = { action: 'login', log: CUSTOMER, pwd: stack.password, testcookie: '1' };
    const cookie = { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' };
    for (const action of ['lostpassword', 'rp', 'postpass', 'register']) {
      const tried = await sendRequest(form(`/wp-login.php?action=${action}`, fields(login), cookie));
      expect([action, createsSession(tried)]).toEqual([action, false]);
    }
  });

  it.each([
    ['a style', '/wp-includes/css/buttons.min.css'],
    ['the front page', '/'],
    ['a missing page', '/nothing-here/'],
    ['a public route of REST', '/wp-json/wp/v2/posts'],
    ['cron', '/wp-cron.php'],
  ])('still gets %s, without a message about the lockout', async (_what, target) => {
    const response = await sendRequest({ target });
    expect(response.status).not.toBe(429);
    expect(response.headers['retry-after']).toBeUndefined();
  });

  it.each([
    ['a style', '/wp-includes/css/buttons.min.css', 200],
    ['the front page', '/', 200],
    ['admin-ajax', '/wp-admin/admin-ajax.php?action=nothing', 400],
    ['a public route of REST', '/wp-json/wp/v2/posts', 200],
  ])('still gets %s with basic authentication, which needs no login', async (_what, target, status) => {
    const response = await sendRequest({ ...restBasic('staging', 'open'), target });
    expect(response.status).toBe(status);
    expect(response.body).not.toContain('Too many');
  });
});
