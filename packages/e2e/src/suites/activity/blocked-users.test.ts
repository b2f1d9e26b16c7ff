import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { restBasic, usersBlogs } from '../../attacks/requests.js';
import { form } from '../../http/request.js';
import { getCookies, logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins, runInWordPress, usersByRole } from '../../stacks/wordpress.js';
import { change, createsSession, loginForm, recover, sendFrom } from '../login/helpers.js';
import { newestEvents } from './helpers.js';

const FROM = '127.0.49.1';

onUnlikeStacks('a blocked user', (stack) => {
  const author = usersByRole.author;
  const helper = join(muPlugins(stack), 'other-login-routes.php');
  let owner: Session;
  let xmlRpcBefore: 0 | 1;
  let cookie = '';
  let phone = '';
  let visitor = 0;

  /** Login routes, each with a function that tries it. */
  const routes: readonly [string, () => Promise<boolean>][] = [
    ['the login form', async () => createsSession(await sendFrom(stack, FROM, loginForm(author, stack.password)))],
    ['XML-RPC', async () => (await sendFrom(stack, FROM, usersBlogs(author, stack.password))).body.includes('isAdmin')],
    [
      'XML-RPC with an application password',
      async () => (await sendFrom(stack, FROM, usersBlogs(author, phone))).body.includes('isAdmin'),
    ],
    [
      'REST with an application password',
      async () => (await sendFrom(stack, FROM, restBasic(author, phone))).status === 200,
    ],
    [
      'a plugin that logs in by itself',
      async () => createsSession(await sendFrom(stack, FROM, { target: `/?let-in=${author}` })),
    ],
    [
      'a plugin with a token',
      async () => (await sendFrom(stack, FROM, { target: `/?token-of=${author}` })).body === author,
    ],
  ];
  const open = async () => {
    const found: string[] = [];
    for (const [name, leads] of routes) if (await leads()) found.push(name);
    return found;
  };
  const block = (value: 0 | 1) => change(stack, owner, `/block-user/${visitor}`, { block: value });

  beforeAll(async () => {
    writeFileSync(
      helper,
      `<?php
add_filter( 'wp_is_application_passwords_available', '__return_true' );
add_filter( 'determine_current_user', function ( $id ) {
  $user = isset( $_GET['token-of'] ) ? get_user_by( 'login', $_GET['token-of'] ) : false;
  return $user ? $user->ID : $id;
}, 50 );
add_action( 'wp_loaded', function () {
  if ( isset( $_GET['let-in'] ) ) {
    wp_set_auth_cookie( get_user_by( 'login', $_GET['let-in'] )->ID );
    exit;
  }
  if ( isset( $_GET['token-of'] ) ) { exit( wp_get_current_user()->user_login ); }
} );`,
    );
    phone = await runInWordPress(
      stack,
      `list( $password ) = WP_Application_Passwords::create_new_application_password( get_user_by( 'login', '${author}' )->ID, array( 'name' => 'phone' ) ); echo $password;`,
    );
    owner = await logIn(stack);
    xmlRpcBefore = (await readOptions(stack, owner)).disable_xml_rpc;
    await setOptions(stack, owner, { disable_xml_rpc: 0 });
    cookie = getCookies(await sendFrom(stack, FROM, loginForm(author, stack.password)));
    visitor = await until('the log tells of the login', async () => {
      const row = (await newestEvents(stack, owner)).find(({ user }) => user === author);
      return row?.visitor_id;
    });
  });
  afterAll(async () => {
    await block(0).catch(() => undefined);
    await recover(stack, 'unblock', '--all');
    await setOptions(stack, owner, { disable_xml_rpc: xmlRpcBefore });
    rmSync(helper, { force: true });
    await runInWordPress(
      stack,
      `WP_Application_Passwords::delete_all_application_passwords( get_user_by( 'login', '${author}' )->ID );`,
    );
  });

  it('can use every login route before the block, none during it, and all again after it', async () => {
    const all = routes.map(([name]) => name);
    expect(await open()).toEqual(all);
    await block(1);
    expect(await open()).toEqual([]);
    await block(0);
    expect(await open()).toEqual(all);
  });

  it('is logged out at once, in every open session', async () => {
    cookie = getCookies(await sendFrom(stack, FROM, loginForm(author, stack.password)));
    const profile = { target: '/wp-admin/profile.php', headers: { cookie } };
    expect((await sendFrom(stack, FROM, profile)).status).toBe(200);
    await block(1);
    const now = await sendFrom(stack, FROM, profile);
    expect(now.status).toBe(302);
    expect(now.headers.location).toContain('/wp-login.php');
    expect((await sendFrom(stack, FROM, { target: '/', headers: { cookie } })).body).not.toContain('wpadminbar');
    await block(0);
    // The session has ended permanently; the account is unchanged.
    expect((await sendFrom(stack, FROM, profile)).status).toBe(302);
    expect(await runInWordPress(stack, `echo get_user_by( 'login', '${author}' )->roles[0];`)).toBe('author');
  });

  it('gets the same response for the right and a wrong password, and locks nobody out', async () => {
    await block(1);
    const from = '127.0.49.2';
    const message = (body: string) => /<div id="login_error"[^>]*>([\s\S]*?)<\/div>/.exec(body)?.[1];
    const right = await sendFrom(stack, from, loginForm(author, stack.password));
    for (let turn = 0; turn < 6; turn++) {
      const wrong = await sendFrom(stack, from, loginForm(author, `wrong-${turn}`));
      expect([wrong.status, message(wrong.body)]).toEqual([right.status, message(right.body)]);
    }
    expect(right.status).toBe(200);
    expect(message(right.body)).toMatch(/incorrect password/);
    expect(createsSession(await sendFrom(stack, from, loginForm(usersByRole.subscriber, stack.password)))).toBe(true);
    await block(0);
  });

  it('stays blocked after a password reset', async () => {
    await block(1);
    const reset = `reset_password( get_user_by( 'login', '${author}' ), '${stack.password}' );`;
    await runInWordPress(stack, reset);
    const page = await sendFrom(stack, FROM, form('/wp-login.php?action=lostpassword', `user_login=${author}`));
    expect(page.status).toBe(302);
    expect(createsSession(await sendFrom(stack, FROM, loginForm(author, stack.password)))).toBe(false);
    await block(0);
  });
});
