import { afterAll, beforeAll, expect, it } from 'vitest';
import { form, sendRequest } from '../../http/request.js';
import { logIn, type Session } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { change, mailbox, toComparable } from './helpers.js';

const LOGIN_SLUG = 'back-gate';
const ENTRY = 'new-here';
/** As long as the slug, and not a page of the site. */
const NOWHERE = 'new-herx';

onUnlikeStacks('a custom registration URL', (stack) => {
  let owner: Session;
  const register = (open: boolean) => runInWordPress(stack, `update_option( 'users_can_register', ${open ? 1 : 0} );`);
  const sendForm = (login: string) =>
    sendRequest(
      stack,
      form(`/${ENTRY}`, new URLSearchParams({ user_login: login, user_email: `${login}@example.com` }).toString()),
    );

  beforeAll(async () => {
    owner = await logIn(stack);
    await register(true);
    await change(stack, owner, '/custom-login-url', { type: 'custom', login: LOGIN_SLUG, signup: ENTRY });
  });
  afterAll(async () => {
    await change(stack, owner, '/custom-login-url', { type: 'default', login: '', signup: '' });
    await runInWordPress(
      stack,
      `require_once ABSPATH . 'wp-admin/includes/user.php'; update_option( 'users_can_register', 0 );
      $user = get_user_by( 'login', 'a-newcomer' ); if ( $user ) { wp_delete_user( $user->ID ); }`,
    );
  });

  it('serves the form and does not reveal the login', async () => {
    const page = await sendRequest(stack, { target: `/${ENTRY}` });
    expect(page.status).toBe(200);
    expect(page.body).toMatch(new RegExp(`<form[^>]+id="registerform"[^>]+action="[^"]*/${ENTRY}/?"`));
    expect(page.head + page.body).not.toContain(LOGIN_SLUG);
    expect(page.body).not.toContain('wp-login.php');
    expect(page.body).not.toMatch(/Log in|Lost your password/);
  });

  it('lets an anonymous client register, and only the mail contains the login URL', async () => {
    const mails = mailbox(stack);
    const response = await sendForm('a-newcomer');
    expect(response.status).toBe(302);
    expect(response.headers.location).toMatch(new RegExp(`/${ENTRY}/?\\?checkemail=registered$`));
    const done = await sendRequest(stack, { target: response.headers.location?.replace(stack.url, '') ?? '/' });
    expect(done.body).toContain('Registration complete. Please check your email');
    expect(response.head + done.head + done.body).not.toMatch(new RegExp(`${LOGIN_SLUG}|wp-login\\.php`));
    const text = await mails.to('a-newcomer@example.com');
    // WordPress 6.9 and newer show the account first.
    expect(text).toMatch(new RegExp(`/${LOGIN_SLUG}\\?(?:login=[^\\s]*)?action=rp`));
    expect(text).not.toContain('wp-login.php');
    mails.empty();
  });

  it('shows errors of a username, still without the login', async () => {
    const response = await sendForm(stack.user);
    expect(response.status).toBe(200);
    expect(response.body).toContain('already registered');
    expect(response.head + response.body).not.toMatch(new RegExp(`${LOGIN_SLUG}|wp-login\\.php`));
  });

  it('gives no access to the login, by query or by body', async () => {
    const fields = new URLSearchParams({ action: 'login', log: stack.user, pwd: stack.password, testcookie: '1' });
    const cookie = { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' };
    for (const request of [
      form(`/${ENTRY}`, fields.toString(), cookie),
      form(`/${ENTRY}?action=login`, fields.toString(), cookie),
      { target: `/${ENTRY}?key=x&login=${stack.user}` },
      { target: `/${ENTRY}?checkemail=confirm` },
      form(`/${ENTRY}`, 'action=lostpassword&user_login=x'),
    ]) {
      const response = await sendRequest(stack, request);
      expect(response.status, request.target).toBe(404);
      expect(response.head + response.body).not.toMatch(new RegExp(`${LOGIN_SLUG}|wordpress_logged_in|loginform`));
    }
  });

  it('answers as a missing page while registration is closed', async () => {
    await register(false);
    for (const request of [
      { target: '' },
      { target: '?redirect_to=/x' },
      { method: 'HEAD', target: '' },
      form('', 'user_login=a'),
    ]) {
      const at = await sendRequest(stack, { ...request, target: `/${ENTRY}${request.target}` });
      const missing = await sendRequest(stack, { ...request, target: `/${NOWHERE}${request.target}` });
      const expected = JSON.stringify(toComparable(missing)).replaceAll(NOWHERE, ENTRY);
      expect(toComparable(at)).toEqual(JSON.parse(expected));
      expect(at.status).toBe(404);
    }
  });
});
