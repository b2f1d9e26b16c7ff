import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { restBasic, usersBlogs } from '../../attacks/requests.js';
import { form } from '../../http/request.js';
import { logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins, runInWordPress, usersByRole } from '../../stacks/wordpress.js';
import {
  BASIC_AUTHENTICATION,
  change,
  createsSession,
  FormBrowser,
  loginForm,
  recover,
  SECOND_FACTOR,
  sendFrom,
  totpCode,
  totpStep,
} from './helpers.js';

const FROM = '127.0.33.1';

onUnlikeStacks('the second factor', (stack) => {
  const editor = usersByRole.editor;
  const plugin = join(muPlugins(stack), 'ways-to-log-in.php');
  let owner: Session;
  let xmlRpcBefore: 0 | 1;
  let programKey = '';
  let key: string;
  let step = 0;
  let codes: string[] = [];
  const visitor = (agent = 'A browser') => new FormBrowser(stack, FROM, agent);
  /** A browser after the right password, on the page that asks for the code. */
  const startLogin = async (agent?: string) => {
    const browser = visitor(agent);
    await browser.logIn(editor);
    return { browser, page: await browser.get(SECOND_FACTOR) };
  };

  beforeAll(async () => {
    // Basic authentication as by a plugin, and application passwords without HTTPS.
    writeFileSync(
      plugin,
      `<?php
add_filter( 'wp_is_application_passwords_available', '__return_true' );
// Login links; and what many plugins do, so that the rest of the request knows the new session.
foreach ( array( 'plugins_loaded', 'setup_theme', 'init', 'template_redirect' ) as $moment ) {
  add_action( $moment, function () use ( $moment ) {
    if ( isset( $_GET['magic'] ) && $moment === $_GET['magic'] ) {
      wp_set_auth_cookie( get_user_by( 'login', $_GET['who'] )->ID );
      wp_redirect( admin_url() );
      exit;
    }
  } );
}
add_action( 'set_logged_in_cookie', function ( $cookie ) { $_COOKIE[ LOGGED_IN_COOKIE ] = $cookie; } );
${BASIC_AUTHENTICATION}`,
    );
    programKey = await runInWordPress(
      stack,
      `echo WP_Application_Passwords::create_new_application_password( get_user_by( 'login', '${editor}' )->ID, array( 'name' => 'phone' ) )[0];`,
    );
    owner = await logIn(stack);
    xmlRpcBefore = (await readOptions(stack, owner)).disable_xml_rpc;
    await setOptions(stack, owner, { disable_xml_rpc: 0 });
    await change(stack, owner, '/2fa', { sg2fa: 1 });
  });
  afterAll(async () => {
    await change(stack, owner, '/2fa', { sg2fa: 0 });
    await setOptions(stack, owner, { disable_xml_rpc: xmlRpcBefore });
    await recover(stack, 'two-factor', 'reset', editor).catch(() => undefined);
    await recover(stack, 'unblock', '--all');
    await runInWordPress(
      stack,
      `WP_Application_Passwords::delete_all_application_passwords( get_user_by( 'login', '${editor}' )->ID );`,
    );
    rmSync(plugin, { force: true });
  });

  it.each([stack.user, editor])('gives %s no session for the password alone', async (login) => {
    const browser = visitor();
    const response = await browser.logIn(login);
    expect([302, 303]).toContain(response.status);
    expect(response.headers.location).toContain('action=second-factor');
    expect(response.head).not.toMatch(/^set-cookie: wordpress(?:_sec|_logged_in)?_[0-9a-f]{32}=(?!\+|%20)[^;]/im);
    const admin = await browser.get('/wp-admin/');
    expect(admin.headers.location).toContain('/wp-login.php');
  });

  it.each(['plugins_loaded', 'setup_theme', 'init', 'template_redirect'])(
    'is asked for after a login link of a plugin at %s',
    async (moment) => {
      const link = (who: string) => sendFrom(stack, FROM, { target: `/?magic=${moment}&who=${who}` });
      const response = await link(editor);
      expect(createsSession(response)).toBe(false);
      expect([response.status, response.headers.location]).toEqual([
        303,
        expect.stringContaining('action=second-factor'),
      ]);
      expect(createsSession(await link(usersByRole.subscriber))).toBe(true);
    },
  );

  it('is not asked of users who can’t write on the site', async () => {
    expect(createsSession(await visitor().logIn(usersByRole.subscriber))).toBe(true);
  });

  it('is asked of a subscriber who becomes an editor, and ends earlier sessions', async () => {
    const role = (name: string) =>
      runInWordPress(stack, `get_user_by( 'login', '${usersByRole.subscriber}' )->set_role( '${name}' );`);
    const user = visitor();
    await user.logIn(usersByRole.subscriber);
    const profile = () => user.get('/wp-admin/profile.php');
    await role('contributor');
    expect((await profile()).status).toBe(200);
    await role('editor');
    const after = await profile();
    await role('subscriber');
    expect([after.status, after.headers.location]).toEqual([302, expect.stringContaining('/wp-login.php')]);
  });

  it('ends no session of an editor whose roles a program removes and restores', async () => {
    const [before, again] = (
      await runInWordPress(
        stack,
        `$user = get_user_by( 'login', '${editor}' );
        $sessions = WP_Session_Tokens::get_instance( $user->ID );
        $token = $sessions->create( time() + 600 );
        $user->remove_all_caps();
        $user->add_role( 'editor' );
        $user->set_role( '' );
        $user->set_role( 'editor' );
        echo $token, ' ', $sessions->verify( $token ) ? $token : 'ended';
        $sessions->destroy( $token );`,
      )
    )
      .trim()
      .split(' ');
    expect(again).toBe(before);
  });

  it('refuses the password in programs, and says why', async () => {
    const response = await sendFrom(stack, FROM, usersBlogs(editor, stack.password));
    expect(response.body).toContain('<fault>');
    expect(response.body).toContain('needs a second factor');
    expect(response.body).not.toContain('blogid');
    const rest = await sendFrom(stack, FROM, restBasic(editor, stack.password));
    expect(rest.status).toBe(403);
    expect(JSON.parse(rest.body)).toMatchObject({
      code: 'two_factor_required',
      message: expect.stringContaining('needs a second factor'),
    });
    expect((await sendFrom(stack, FROM, restBasic(usersByRole.subscriber, stack.password))).status).toBe(200);
  });

  it('leaves application passwords to their own setting', async () => {
    const sendRequest = () => sendFrom(stack, FROM, restBasic(editor, programKey));
    expect((await sendRequest()).status).toBe(403);
    // A wrong one reveals nothing about the account.
    expect((await sendFrom(stack, FROM, restBasic(editor, 'wrong wrong wrong wrong wrong'))).status).toBe(401);
    await change(stack, owner, '/two-factor-app-passwords', { two_factor_app_passwords: 1 });
    expect((await sendRequest()).status).toBe(200);
    expect((await sendFrom(stack, FROM, usersBlogs(editor, programKey))).body).toContain('blogid');
    // The password itself is still refused.
    expect((await sendFrom(stack, FROM, restBasic(editor, stack.password))).status).toBe(403);
    await change(stack, owner, '/two-factor-app-passwords', { two_factor_app_passwords: 0 });
    expect((await sendRequest()).status).toBe(403);
  });

  it('is set up with a first code and saved backup codes, before the session is created', async () => {
    const { browser, page } = await startLogin();
    expect(page.body).toContain('Set up two-factor authentication');
    key = /<code>([A-Z2-7 ]+)<\/code>/.exec(page.body)?.[1] ?? '';
    // 160 bits in base 32.
    expect(key.replaceAll(' ', '')).toHaveLength(32);
    // The first code can't be skipped.
    expect(createsSession(await browser.send(page, 'continue', { saved: '1' }))).toBe(false);
    step = totpStep();
    const shown = await browser.send(page, 'enrol', { code: totpCode(key, step) });
    expect(shown.status).toBe(200);
    expect(createsSession(shown)).toBe(false);
    codes = [...shown.body.matchAll(/<li>(\d{4} \d{4})<\/li>/g)].map(([, code]) => code ?? '');
    expect(new Set(codes).size).toBe(10);
    const done = await browser.send(shown, 'continue', { saved: '1' });
    expect(done.status).toBe(303);
    expect(createsSession(done)).toBe(true);
    expect((await browser.get('/wp-admin/')).status).toBe(200);
  });

  it('accepts each code once', async () => {
    // One step early is allowed; the code of the set-up is already used.
    const [first, second] = [await startLogin(), await startLogin()];
    expect((await first.browser.send(first.page, 'code', { code: totpCode(key, step) })).status).toBe(403);
    const code = totpCode(key, ++step);
    expect(createsSession(await first.browser.send(first.page, 'code', { code }))).toBe(true);
    const again = await second.browser.send(second.page, 'code', { code });
    expect(again.status).toBe(403);
    expect(createsSession(again)).toBe(false);
  });

  it('accepts a backup code once, also from two browsers at the same moment', async () => {
    const both = await Promise.all([startLogin('One browser'), startLogin('Another browser')]);
    const code = codes[0] ?? '';
    const responses = await Promise.all(both.map(({ browser, page }) => browser.send(page, 'backup', { code })));
    expect(responses.filter(createsSession)).toHaveLength(1);
    expect(responses.map(({ status }) => status).sort()).toEqual([303, 403]);
  });

  it('works only in the browser that sent the password', async () => {
    const { browser, page } = await startLogin('The browser with the password');
    const token = /name="token" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
    const send = (cookie: string, token: string) => {
      const body = new URLSearchParams({ token, step: 'backup', code: codes[1] ?? '' }).toString();
      return sendFrom(
        stack,
        FROM,
        form(SECOND_FACTOR, body, { cookie, 'user-agent': browser.agent, origin: stack.url }),
      );
    };
    // The secret cookie identifies the browser: without it there is no challenge, whatever the user agent.
    const without = browser.cookie.replace(/sf_challenge=[^;]+/, 'x=y');
    expect(without).not.toBe(browser.cookie);
    expect(createsSession(await send(without, token))).toBe(false);
    // It is useless with the form of another login, too.
    const other = await startLogin();
    expect(createsSession(await send(other.browser.cookie, token))).toBe(false);
    // The code is still unused.
    const next = await startLogin();
    expect(createsSession(await next.browser.send(next.page, 'backup', { code: codes[1] ?? '' }))).toBe(true);
  });

  it('resets the failures after a complete login', async () => {
    const fail = async () => {
      const responses: number[] = [];
      for (let turn = 0; turn < 4; turn++) {
        responses.push((await sendFrom(stack, FROM, loginForm(`nobody-${turn}`, 'wrong'))).status);
      }
      return responses;
    };
    expect(await fail()).toEqual([200, 200, 200, 200]);
    const { browser, page } = await startLogin();
    expect(createsSession(await browser.send(page, 'backup', { code: codes[3] ?? '' }))).toBe(true);
    expect(await fail()).toEqual([200, 200, 200, 200]);
    expect([302, 303]).toContain((await visitor().logIn(editor)).status);
  });

  it('ends after ten wrong codes, even for the right one', async () => {
    const { browser, page } = await startLogin();
    const statuses: number[] = [];
    for (let turn = 0; turn < 10; turn++) {
      statuses.push((await browser.send(page, 'backup', { code: '0000 0000' })).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 9 }, () => 403), 429]);
    const right = await browser.send(page, 'backup', { code: codes[2] ?? '' });
    expect(createsSession(right)).toBe(false);
    // A new challenge does not help: the account is paused.
    const next = await startLogin();
    expect((await next.browser.send(next.page, 'backup', { code: codes[2] ?? '' })).status).toBe(429);
  });

  it('can be reset by the command line', async () => {
    expect(await recover(stack, 'two-factor', 'reset', editor)).toContain('sets up a new second factor');
    const { page } = await until('the set-up is offered', async () => {
      const visit = await startLogin();
      return visit.page.body.includes('Set up two-factor authentication') ? visit : null;
    });
    expect(/<code>([A-Z2-7 ]+)<\/code>/.exec(page.body)?.[1] ?? '').not.toEqual(key);
  });

  it('is asked again after a pause, which ends the sessions that were created during it', async () => {
    const user = visitor();
    const browser = visitor();
    const profile = async (who: FormBrowser) => (await who.get('/wp-admin/profile.php')).status;
    await recover(stack, 'pause', '5');
    await until('the password alone is enough', async () => createsSession(await browser.logIn(editor)));
    await user.logIn(usersByRole.subscriber);
    expect([await profile(browser), await profile(user)]).toEqual([200, 200]);
    await recover(stack, 'resume');
    await until('the pause is over', async () => (await profile(browser)) === 302);
    expect(await profile(user)).toBe(200);
    // The owner's session is older.
    await readOptions(stack, owner);
  });
});
