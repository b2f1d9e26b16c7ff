import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logIn, readOptions, type Session } from '../../http/session.js';
import { killGuard, startGuard } from '../../stacks/guard-process.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress, usersByRole } from '../../stacks/wordpress.js';
import { change, createsSession, FormBrowser, recover, SECOND_FACTOR, sendFrom, totpCode } from './helpers.js';

const FROM = '127.0.53.1';

onUnlikeStacks('events during a login with a second factor', (stack) => {
  const { editor } = usersByRole;
  let owner: Session;
  let codes: string[] = [];
  /** A browser after the right password, on the page that asks for the code. */
  const startLogin = async () => {
    const browser = new FormBrowser(stack, FROM, 'A browser');
    await browser.logIn(editor);
    return { browser, page: await browser.get(SECOND_FACTOR) };
  };

  beforeAll(async () => {
    owner = await logIn(stack);
    await change(stack, owner, '/2fa', { sg2fa: 1 });
    const { browser, page } = await startLogin();
    const key = /<code>([A-Z2-7 ]+)<\/code>/.exec(page.body)?.[1] ?? '';
    const shown = await browser.send(page, 'enrol', { code: totpCode(key) });
    codes = [...shown.body.matchAll(/<li>(\d{4} \d{4})<\/li>/g)].map(([, code]) => code ?? '');
    expect(createsSession(await browser.send(shown, 'continue', { saved: '1' }))).toBe(true);
  });
  afterAll(async () => {
    await change(stack, owner, '/2fa', { sg2fa: 0 });
    await recover(stack, 'two-factor', 'reset', editor);
    await recover(stack, 'unblock', '--all');
  });

  it.each([
    ['gets a new password', `wp_set_password( '${stack.password}', $user->ID );`],
    ['loses the role for a while', `$user->set_role( 'subscriber' );`],
  ])('end a login that waits for the code if the user %s', async (_what, happens) => {
    const { browser, page } = await startLogin();
    const user = `$user = get_user_by( 'login', '${editor}' ); `;
    await runInWordPress(stack, user + happens);
    const late = await browser.send(page, 'backup', { code: codes[5] ?? '' });
    expect([late.status, createsSession(late)]).toEqual([403, false]);
    await runInWordPress(stack, `${user} $user->set_role( 'editor' );`);
    expect((await browser.send(page, 'backup', { code: codes[5] ?? '' })).status).toBe(403);
  });

  it('still accept a code that came late', async () => {
    const { browser, page } = await startLogin();
    expect(createsSession(await browser.send(page, 'backup', { code: codes[5] ?? '' }))).toBe(true);
  });

  describe('a session that was created without a second factor', () => {
    const isIn = async (who: FormBrowser) => (await who.get('/wp-admin/profile.php')).status === 200;
    /** A session as of a plain WordPress, without a second factor. */
    const plainSession = async (login: string) => {
      const cookie = await runInWordPress(
        stack,
        `$id = get_user_by( 'login', '${login}' )->ID;
        $end = time() + 600;
        $token = WP_Session_Tokens::get_instance( $id )->create( $end );
        echo LOGGED_IN_COOKIE, '=', rawurlencode( wp_generate_auth_cookie( $id, $end, 'logged_in', $token ) ), '; ',
          AUTH_COOKIE, '=', rawurlencode( wp_generate_auth_cookie( $id, $end, 'auth', $token ) );`,
      );
      const profile = { target: '/wp-admin/profile.php', headers: { cookie: cookie.trim() } };
      return async () => (await sendFrom(stack, FROM, profile)).status === 200;
    };

    it('ends when guard starts; sessions with one stay', async () => {
      const passed = await startLogin();
      await passed.browser.send(passed.page, 'backup', { code: codes[6] ?? '' });
      const author = await plainSession(usersByRole.author);
      await runInWordPress(
        stack,
        `wp_insert_user( array( 'user_login' => 'second-owner', 'user_pass' => wp_generate_password(), 'user_email' => 'second@example.com', 'role' => 'administrator' ) );`,
      );
      const plain = await plainSession('second-owner');
      expect([await isIn(passed.browser), await author(), await plain()]).toEqual([true, true, true]);
      await killGuard(stack);
      await startGuard(stack);
      await until('the session without the factor is over', async () => !(await plain()));
      expect([await isIn(passed.browser), await author()]).toEqual([true, true]);
      // The session of the user who turned it on stays, too.
      await readOptions(stack, owner);
      await runInWordPress(
        stack,
        `require_once ABSPATH . 'wp-admin/includes/user.php'; wp_delete_user( get_user_by( 'login', 'second-owner' )->ID );`,
      );
    });

    it('ends when WordPress gets its lost policy again', async () => {
      const plain = await plainSession(editor);
      expect(await plain()).toBe(true);
      await runInWordPress(stack, `delete_option( 'security_optimizer_policy' );`);
      await until('the session without the factor is over', async () => !(await plain()));
    });
  });
});
