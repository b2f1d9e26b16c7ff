import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { restBasic, usersBlogs } from '../../attacks/requests.js';
import { logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { onUsualStack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';
import {
  BASIC_AUTHENTICATION,
  change,
  createsSession,
  FormBrowser,
  loginForm,
  recover,
  SHOP_PLUGIN,
  sendFrom,
  shopForm,
} from './helpers.js';

const FROM = '127.0.54.1';
const SHOPKEEPER = 'a-shopkeeper';
const CLERK = 'a-clerk';

/**
 * Typical behaviour of a shop: its own roles and login form, a login link, basic authentication, and a new session
 * instead of all others. With `hold`, a login creates its session only after the user's other sessions are gone.
 */
const plugin = (heldFile: string) => `<?php
${SHOP_PLUGIN}
add_action( 'init', function () {
  add_role( 'shop_keeper', 'Shop shopkeeper', array( 'read' => true, 'edit_posts' => true ) );
  add_role( 'shop_clerk', 'Shop clerk', array( 'read' => true ) );
} );
add_action( 'init', function () {
  if ( isset( $_GET['magic'] ) ) {
    wp_set_auth_cookie( get_user_by( 'login', $_GET['magic'] )->ID );
    exit( 'welcome' );
  }
  if ( isset( $_GET['renew'] ) && is_user_logged_in() ) {
    $user = get_current_user_id();
    wp_destroy_all_sessions();
    wp_set_auth_cookie( $user );
    exit( 'renewed' );
  }
} );
add_filter( 'attach_session_information', function ( $session, $user ) {
  global $wpdb;
  if ( isset( $_GET['hold'] ) ) {
    touch( '${heldFile}' );
    $query = "SELECT COUNT(*) FROM $wpdb->usermeta WHERE user_id = " . (int) $user . " AND meta_key = 'session_tokens' AND meta_value <> ''";
    for ( $left = 600; $left > 0 && $wpdb->get_var( $query ) > 0; --$left ) { usleep( 50000 ); }
  }
  return $session;
}, 10, 2 );
${BASIC_AUTHENTICATION}`;

onUsualStack('two-factor authentication for roles of the owner’s choice', (stack) => {
  const pluginFile = join(muPlugins(stack), 'a-shop.php');
  const heldFile = join(stack.dir, 'login-held');
  let owner: Session;
  let xmlRpcBefore: 0 | 1;
  let key = '';
  const visitor = (agent = 'A browser') => new FormBrowser(stack, FROM, agent);
  const choose = (...roles: string[]) => change(stack, owner, '/two-factor-roles', { two_factor_roles: roles });

  /** Tries all login routes with a password or a program's key. @returns those that work */
  async function routes(login: string): Promise<Readonly<Record<string, boolean>>> {
    const rest = await sendFrom(stack, FROM, restBasic(login, stack.password));
    const xmlRpc = await sendFrom(stack, FROM, usersBlogs(login, stack.password));
    return {
      form: createsSession(await visitor().logIn(login)),
      shop: createsSession(await sendFrom(stack, FROM, shopForm(login, stack.password))),
      link: createsSession(await sendFrom(stack, FROM, { target: `/?magic=${login}` })),
      'XML-RPC': xmlRpc.body.includes('blogid'),
      REST: rest.status === 200,
      'application password':
        (await sendFrom(stack, FROM, restBasic(login, login === SHOPKEEPER ? key : 'none'))).status === 200,
    };
  }
  const everywhere = (open: boolean) => ({
    form: open,
    shop: open,
    link: open,
    'XML-RPC': open,
    REST: open,
    'application password': open,
  });

  beforeAll(async () => {
    writeFileSync(pluginFile, plugin(heldFile));
    // The roles exist from the first page on.
    await runInWordPress(stack, '');
    key = await runInWordPress(
      stack,
      `foreach ( array( '${SHOPKEEPER}' => 'shop_keeper', '${CLERK}' => 'shop_clerk' ) as $login => $role ) {
        wp_insert_user( array( 'user_login' => $login, 'user_pass' => '${stack.password}', 'user_email' => "$login@example.com", 'role' => $role ) );
      }
      echo WP_Application_Passwords::create_new_application_password( get_user_by( 'login', '${SHOPKEEPER}' )->ID, array( 'name' => 'phone' ) )[0];`,
    );
    owner = await logIn(stack);
    xmlRpcBefore = (await readOptions(stack, owner)).disable_xml_rpc;
    await setOptions(stack, owner, { disable_xml_rpc: 0 });
    await change(stack, owner, '/2fa', { sg2fa: 1 });
  });
  afterAll(async () => {
    await choose();
    await change(stack, owner, '/2fa', { sg2fa: 0 });
    await setOptions(stack, owner, { disable_xml_rpc: xmlRpcBefore });
    await recover(stack, 'unblock', '--all');
    rmSync(pluginFile, { force: true });
    rmSync(heldFile, { force: true });
    await runInWordPress(
      stack,
      `require_once ABSPATH . 'wp-admin/includes/user.php';
      foreach ( array( '${SHOPKEEPER}', '${CLERK}' ) as $login ) { wp_delete_user( get_user_by( 'login', $login )->ID ); }
      remove_role( 'shop_keeper' ); remove_role( 'shop_clerk' );`,
    );
  });

  it('is not asked of a shop manager before the owner chooses the role', async () => {
    expect(await routes(SHOPKEEPER)).toEqual(everywhere(true));
  });

  it('tells the owner the roles of the site by their names', async () => {
    const choice = (await choose()) as { two_factor_roles: { role: string }[] };
    expect(choice.two_factor_roles).toContainEqual({
      role: 'shop_keeper',
      name: 'Shop shopkeeper',
      selected: 0,
      required: 0,
    });
    expect(choice.two_factor_roles.map(({ role }) => role)).toEqual(
      expect.arrayContaining(['administrator', 'editor', 'author', 'subscriber']),
    );
  });

  it('is asked of a shop manager on every login route afterwards, and ends earlier sessions', async () => {
    const [shopkeeper, clerk] = [visitor(), visitor()];
    await shopkeeper.logIn(SHOPKEEPER);
    await clerk.logIn(CLERK);
    const profile = async (who: FormBrowser) => (await who.get('/wp-admin/profile.php')).status;
    expect([await profile(shopkeeper), await profile(clerk)]).toEqual([200, 200]);
    await choose('shop_keeper');
    expect([await profile(shopkeeper), await profile(clerk)]).toEqual([302, 200]);
    expect(await routes(SHOPKEEPER)).toEqual(everywhere(false));
    expect((await visitor().logIn(SHOPKEEPER)).headers.location).toContain('action=second-factor');
    // The owner and users with other roles stay logged in.
    await readOptions(stack, owner);
    expect(createsSession(await visitor().logIn(CLERK))).toBe(true);
  });

  it('leaves application passwords of the role to their own setting', async () => {
    await change(stack, owner, '/two-factor-app-passwords', { two_factor_app_passwords: 1 });
    expect((await sendFrom(stack, FROM, restBasic(SHOPKEEPER, key))).status).toBe(200);
    await change(stack, owner, '/two-factor-app-passwords', { two_factor_app_passwords: 0 });
    // It is right, so the response says why it is refused.
    expect((await sendFrom(stack, FROM, restBasic(SHOPKEEPER, key))).status).toBe(403);
  });

  it('is asked of a user who gets the role later, and ends earlier sessions', async () => {
    const user = visitor();
    await user.logIn(CLERK);
    const role = (name: string) => runInWordPress(stack, `get_user_by( 'login', '${CLERK}' )->set_role( '${name}' );`);
    await role('shop_keeper');
    expect((await user.get('/wp-admin/profile.php')).status).toBe(302);
    expect((await visitor().logIn(CLERK)).headers.location).toContain('action=second-factor');
    await role('shop_clerk');
    expect(createsSession(await visitor().logIn(CLERK))).toBe(true);
  });

  it('is still asked while the role itself is missing with its plugin', async () => {
    await runInWordPress(stack, `remove_role( 'shop_keeper' );`);
    expect((await visitor().logIn(SHOPKEEPER)).headers.location).toContain('action=second-factor');
    const { two_factor_roles: roles } = (await choose('shop_keeper')) as { two_factor_roles: unknown[] };
    expect(roles).toContainEqual(expect.objectContaining({ role: 'shop_keeper', selected: 1 }));
  });

  it('is restored after a database backup without the role, and ends sessions created meanwhile', async () => {
    const user = visitor();
    await runInWordPress(
      stack,
      `$policy = get_option( 'security_optimizer_policy' ); $policy['two_factor_roles'] = ''; update_option( 'security_optimizer_policy', $policy );`,
    );
    // Guard sees the other policy in the response to this login, and pushes its own again.
    await user.logIn(SHOPKEEPER);
    await until('WordPress asks again', async () => !createsSession(await visitor().logIn(SHOPKEEPER)));
    await until('the session is over', async () => (await user.get('/wp-admin/profile.php')).status === 302);
  });

  const restorePolicyWithoutRole = `$policy = get_option( 'security_optimizer_policy' ); $policy['two_factor_roles'] = ''; update_option( 'security_optimizer_policy', $policy );`;
  it.each([
    {
      when: 'WordPress is given the policy again',
      login: SHOPKEEPER,
      before: restorePolicyWithoutRole,
      // Guard sees the other policy in the response.
      act: () => sendFrom(stack, FROM, { target: '/' }),
    },
    { when: 'the owner chooses the role', login: SHOPKEEPER, roles: [], act: () => choose('shop_keeper') },
    {
      when: 'the owner switches the factor on',
      login: SHOPKEEPER,
      sg2fa: 0,
      act: () => change(stack, owner, '/2fa', { sg2fa: 1 }),
    },
    {
      when: 'the user gets the role',
      login: CLERK,
      act: () => runInWordPress(stack, `get_user_by( 'login', '${CLERK}' )->set_role( 'shop_keeper' );`),
    },
  ])('is required in a login that is in progress while $when, and no session remains', async (sample) => {
    const { login, act: callAction, before = '' } = sample;
    for (const target of ['/wp-login.php?hold', `/?hold&magic=${login}`]) {
      await choose(...(sample.roles ?? ['shop_keeper']));
      if (sample.sg2fa !== undefined) await change(stack, owner, '/2fa', { sg2fa: sample.sg2fa });
      rmSync(heldFile, { force: true });
      const user = `get_user_by( 'login', '${login}' )->ID`;
      await runInWordPress(stack, `${before} WP_Session_Tokens::get_instance( ${user} )->create( time() + 3600 );`);
      const isForm = target.startsWith('/wp-login.php');
      const request = isForm ? loginForm(login, stack.password, { path: target }) : { target };
      const choice = sendFrom(stack, FROM, request);
      // A login that did not wait was asked for the factor at once.
      await Promise.race([choice, until('the login waits', () => existsSync(heldFile))]);
      await callAction();
      expect({ createsSession: createsSession(await choice), location: (await choice).headers.location }).toEqual({
        createsSession: false,
        location: expect.stringContaining('action=second-factor'),
      });
      expect(await runInWordPress(stack, `echo count( WP_Session_Tokens::get_instance( ${user} )->get_all() );`)).toBe(
        '0',
      );
      if (login === CLERK) await runInWordPress(stack, `get_user_by( 'login', '${CLERK}' )->set_role( 'shop_clerk' );`);
    }
  });

  it('is asked of a user whose session was renewed before the role was chosen', async () => {
    await choose();
    const user = visitor();
    await user.logIn(SHOPKEEPER);
    expect((await user.get('/?renew')).body).toBe('renewed');
    expect((await user.get('/wp-admin/profile.php')).status).toBe(200);
    await choose('shop_keeper');
    expect((await user.get('/wp-admin/profile.php')).status).toBe(302);
  });

  it('ends when the owner removes the role', async () => {
    await choose();
    expect(createsSession(await visitor().logIn(SHOPKEEPER))).toBe(true);
  });
});
