import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { form, sendRequest } from '../../http/request.js';
import { authorised, getCookies, logIn, type Session } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';
import { change, createsSession, loginForm, mailbox } from './helpers.js';

const LOGIN_SLUG = 'side-door';
const USER = 'a-forgetful-member';
const NEW_PASSWORD = 'A-new-Password-7';
/** Key in the mail that confirms a new e-mail address. */
const HASH = 'f'.repeat(32);

/** The first link of a mail that contains a text, as a request target. Long lines are not wrapped here. */
function linkIn(mail: string, words: string): string {
  const url = [...mail.matchAll(/https?:\/\/[^\s<>]+/g)].map(([link]) => link).find((link) => link.includes(words));
  if (url === undefined) throw new Error(`The mail has no link with ${words}: ${mail}`);
  const { pathname, search } = new URL(url);
  return pathname + search;
}

onUnlikeStacks('confirmation links in mails, with a custom login URL', (stack) => {
  const plugin = join(muPlugins(stack), 'contact-form.php');
  let owner: Session;
  /** Sends a form that mails a copy to its sender. @returns the text of the copy */
  const mailCopy = async (words: string, cookie?: string): Promise<string> => {
    const mails = mailbox(stack);
    const fields = new URLSearchParams({ copy_to: 'visitor@example.com', words });
    await sendRequest(stack, form('/', fields.toString(), cookie === undefined ? {} : { cookie }));
    const mail = await mails.to('visitor@example.com');
    mails.empty();
    return mail;
  };

  beforeAll(async () => {
    owner = await logIn(stack);
    await runInWordPress(
      stack,
      `$id = wp_insert_user( array( 'user_login' => '${USER}', 'user_pass' => '${stack.password}', 'user_email' => '${USER}@example.com', 'role' => 'subscriber' ) );
      update_user_meta( $id, '_new_email', array( 'hash' => '${HASH}', 'newemail' => 'moved@example.com' ) );`,
    );
    writeFileSync(
      plugin,
      `<?php
add_action( 'wp_loaded', function () {
  if ( isset( $_POST['copy_to'] ) ) { wp_mail( $_POST['copy_to'], 'Copy', $_POST['words'] . ' ' . wp_login_url() ); exit; }
} );`,
    );
    await change(stack, owner, '/custom-login-url', { type: 'custom', login: LOGIN_SLUG, signup: 'side-entry' });
  });
  afterAll(async () => {
    rmSync(plugin, { force: true });
    await change(stack, owner, '/custom-login-url', { type: 'default', login: '', signup: '' });
    await runInWordPress(
      stack,
      `require_once ABSPATH . 'wp-admin/includes/user.php';
      wp_delete_user( get_user_by( 'login', '${USER}' )->ID );
      foreach ( get_posts( array( 'post_type' => 'user_request', 'post_status' => 'any', 'numberposts' => -1 ) ) as $request ) { wp_delete_post( $request->ID, true ); }`,
    );
  });

  it('let an anonymous client confirm a request about their own data, without revealing the login', async () => {
    const mails = mailbox(stack);
    await runInWordPress(
      stack,
      `wp_send_user_request( wp_create_user_request( 'visitor@example.com', 'export_personal_data' ) );`,
    );
    const mail = await mails.to('visitor@example.com');
    mails.empty();
    expect(mail).not.toContain(LOGIN_SLUG);
    const link = linkIn(mail, 'confirmaction');
    const wrong = await sendRequest(stack, { target: link.replace(/confirm_key=\w{4}/, 'confirm_key=0000') });
    expect(wrong.body).not.toMatch(new RegExp(`${LOGIN_SLUG}|loginform`));
    const response = await sendRequest(stack, { target: link });
    expect(response.status).toBe(200);
    expect(response.body).toContain('Thanks for confirming');
    expect(response.head + response.body).not.toMatch(new RegExp(`${LOGIN_SLUG}|loginform`));
  });

  it('do not reveal the login URL to an anonymous client who is mailed a copy of their own text', async () => {
    const guesses = [`${stack.url}/${LOGIN_SLUG}/?a=1`, `${stack.url}/side-entry`, `${stack.url}/another-door`];
    const mail = await mailCopy(guesses.join(' '));
    for (const guess of guesses) expect(mail).toContain(guess);
    expect(mail.match(/wp-login\.php/g)).toHaveLength(1);
    // Mails caused by a registered user may contain links that WordPress created for that user.
    const caused = await mailCopy('', owner.cookie);
    expect(caused).toContain('/wp-login.php');
    expect(caused).not.toContain(LOGIN_SLUG);
  });

  it('let a user choose a new password with the link, and log in with it', async () => {
    const mails = mailbox(stack);
    await sendRequest(stack, form(`/${LOGIN_SLUG}?action=lostpassword`, `user_login=${USER}`));
    const link = linkIn(await mails.to(`${USER}@example.com`), 'action=rp');
    mails.empty();
    expect(link).toMatch(new RegExp(`^/${LOGIN_SLUG}/?\\?`));
    const opened = await sendRequest(stack, { target: link });
    expect(opened.status).toBe(302);
    const cookie = getCookies(opened);
    const target = new URL(opened.headers.location ?? '', stack.url);
    const page = await sendRequest(stack, { target: target.pathname + target.search, headers: { cookie } });
    const key = /name="rp_key" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
    const fields = new URLSearchParams({ pass1: NEW_PASSWORD, pass2: NEW_PASSWORD, rp_key: key });
    const done = await sendRequest(stack, form(`/${LOGIN_SLUG}?action=resetpass`, fields.toString(), { cookie }));
    expect(done.body).toContain('Your password has been reset');
    expect(createsSession(await sendRequest(stack, loginForm(USER, NEW_PASSWORD, { path: `/${LOGIN_SLUG}` })))).toBe(
      true,
    );
    expect(createsSession(await sendRequest(stack, loginForm(USER, stack.password, { path: `/${LOGIN_SLUG}` })))).toBe(
      false,
    );
  });

  it('let a user confirm a new e-mail address; an anonymous client with the link gets 404', async () => {
    const target = `/wp-admin/profile.php?newuseremail=${HASH}`;
    const anonymous = await sendRequest(stack, { target });
    expect([anonymous.status, anonymous.head.includes(LOGIN_SLUG)]).toEqual([404, false]);
    const session = await sendRequest(stack, loginForm(USER, NEW_PASSWORD, { path: `/${LOGIN_SLUG}` }));
    const response = await sendRequest(stack, { target, headers: { cookie: getCookies(session) } });
    expect(response.headers.location).toMatch(/profile\.php\?updated=true$/);
    const found = await sendRequest(stack, {
      target: `/wp-json/wp/v2/users?context=edit&search=moved@example.com`,
      headers: authorised(owner),
    });
    expect(JSON.parse(found.body)).toMatchObject([{ username: USER, email: 'moved@example.com' }]);
  });
});
