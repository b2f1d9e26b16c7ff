import { afterAll, beforeAll, expect, it } from 'vitest';
import { form, sendRequest } from '../../http/request.js';
import { authorised, logIn, type Session } from '../../http/session.js';
import { onUsualStack } from '../../stacks/stack.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { change } from './helpers.js';

/** Each route tries another name, in mixed case, since they are compared case-insensitively. */
const NAMES = ['admin', 'ADMIN', 'Administrator', 'user', 'User1'];

/** PHP that lists the users with such a name. */
const TAKEN = `global $wpdb; echo 'taken:' . implode( ',', $wpdb->get_col( "SELECT user_login FROM $wpdb->users WHERE LOWER( user_login ) IN ( 'admin', 'administrator', 'user', 'user1' )" ) );`;

onUsualStack('common usernames', (stack) => {
  let owner: Session;
  const byRest = (username: string) =>
    sendRequest(stack, {
      method: 'POST',
      target: '/wp-json/wp/v2/users',
      body: JSON.stringify({ username, email: `${username}@example.com`, password: 'A-long-Password-1' }),
      headers: authorised(owner),
    });

  beforeAll(async () => {
    owner = await logIn(stack);
    await change(stack, owner, '/disable-admin-username', { disable_usernames: 1 });
    await runInWordPress(stack, `update_option( 'users_can_register', 1 );`);
  });
  afterAll(async () => {
    await runInWordPress(
      stack,
      `require_once ABSPATH . 'wp-admin/includes/user.php'; update_option( 'users_can_register', 0 );
      $user = get_user_by( 'login', 'user1' ); if ( $user ) { wp_delete_user( $user->ID ); }`,
    );
    await change(stack, owner, '/disable-admin-username', { disable_usernames: 1 });
  });

  it.each(NAMES.slice(0, 3))('%s is refused at the registration', async (name) => {
    const fields = new URLSearchParams({ user_login: name, user_email: `${name.toLowerCase()}@example.com` });
    const response = await sendRequest(stack, form('/wp-login.php?action=register', fields.toString()));
    expect(response.status).toBe(200);
    expect(response.body).toContain('that username is not allowed');
  });

  it('are refused in the admin screen for new users', async () => {
    const page = await sendRequest(stack, { target: '/wp-admin/user-new.php', headers: { cookie: owner.cookie } });
    const nonce = /name="_wpnonce_create-user" value="(\w+)"/.exec(page.body)?.[1] ?? '';
    expect(nonce).not.toBe('');
    const fields = new URLSearchParams({
      action: 'createuser',
      '_wpnonce_create-user': nonce,
      user_login: 'Admin',
      email: 'new@example.com',
      pass1: 'A-long-Password-1',
      pass2: 'A-long-Password-1',
      role: 'subscriber',
    });
    const response = await sendRequest(
      stack,
      form('/wp-admin/user-new.php', fields.toString(), { cookie: owner.cookie }),
    );
    expect(response.status).toBe(200);
    expect(response.body).toContain('that username is not allowed');
  });

  it.each(NAMES.slice(2))('%s is refused by REST', async (name) => {
    const response = await byRest(name);
    expect(response.status).toBe(400);
    expect(JSON.parse(response.body)).toMatchObject({ code: 'rest_invalid_param' });
  });

  it('are refused on the command line, where WP-CLI and importers create users', async () => {
    const code = NAMES.map(
      (name) =>
        `$made = wp_insert_user( array( 'user_login' => '${name}', 'user_pass' => 'x', 'user_email' => '${name}@example.com' ) ); echo is_wp_error( $made ) ? 'refused ' : 'made ';`,
    );
    const outcome = await runInWordPress(stack, `${code.join('\n')} ${TAKEN}`);
    expect(outcome).toBe(`${NAMES.map(() => 'refused ').join('')}taken:`);
  });

  it('are allowed while the option is off, and existing users keep them when it is on', async () => {
    await change(stack, owner, '/disable-admin-username', { disable_usernames: 0 });
    const made = await byRest('user1');
    expect(made.status).toBe(201);
    await change(stack, owner, '/disable-admin-username', { disable_usernames: 1 });
    expect((await byRest('user1')).status).not.toBe(201);
    const { id } = JSON.parse(made.body) as { id: number };
    const saved = await sendRequest(stack, {
      method: 'POST',
      target: `/wp-json/wp/v2/users/${id}`,
      body: '{"first_name":"Una"}',
      headers: authorised(owner),
    });
    expect(JSON.parse(saved.body)).toMatchObject({ username: 'user1', first_name: 'Una' });
  });
});
