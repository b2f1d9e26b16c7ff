import { beforeAll, describe, expect, it } from 'vitest';
import type { Session } from '../../http/session.js';
import { securityOptimizer } from '../../stacks/guard-process.js';
import type { OddSite } from '../../stacks/odd-install.js';
import { until } from '../../stacks/until.js';
import { call, logInToSite, openPage, toComparable, visit } from './odd-site.js';

/** URL paths of an unusual installation, and values that are set once its tests run. */
export interface LoginUrlContext {
  /** URL path of WordPress's own folder, '' at the root. */
  readonly core: string;
  /** URL path of the site, '' at the root. */
  readonly home: string;
  /** Every address of the site below which WordPress answers. */
  readonly homes: readonly string[];
  readonly site: () => OddSite;
  readonly owner: () => Session;
}

/** With a custom login URL, nobody finds the old one, and the owner uses the new one. */
export function testCustomLoginUrl(context: LoginUrlContext): void {
  const { core, home, homes } = context;
  describe('with a custom login URL', () => {
    let site: OddSite;

    beforeAll(async () => {
      site = context.site();
      const response = await call(site, context.owner(), '/custom-login-url', {
        type: 'custom',
        login: 'my-door',
        signup: 'join-us',
      });
      expect(response.body).toMatchObject({ status: 200 });
    });

    it('no anonymous client can distinguish the old one from a missing page', async () => {
      for (const at of new Set([core, ...homes])) {
        for (const [old, twin] of [
          ['wp-login.php', 'xq-vkwfj.php'],
          ['wp-admin/', 'xq-vkwfj/'],
          ['wp-admin', 'xq-vkwfj'],
          ['wp-admin/index.php', 'xq-vkwfj/index.php'],
          ['wp-signup.php', 'xq-vkwfjg.php'],
          ['login', 'xqvkw'],
          ['admin', 'xqvkw'],
          ['dashboard', 'xqvkwfjgh'],
        ] as const) {
          const [real, missing] = [
            await visit(site, { target: `${at}/${old}` }),
            await visit(site, { target: `${at}/${twin}` }),
          ];
          const [shown, expected] = [
            toComparable(real),
            toComparable(missing, twin.replace(/\/.*/, ''), old.replace(/\/.*/, '')),
          ];
          expect({ at, old, ...shown }).toEqual({ at, old, ...expected });
          expect(real.head + real.body).not.toContain('my-door');
        }
      }
    });

    it('no public page contains it', async () => {
      for (const at of homes) {
        for (const target of [`${at}/`, `${at}/?rest_route=/`, `${at}/?feed=rss2`, `${at}/?p=1`, `${at}/?author=1`]) {
          const response = await visit(site, { target });
          expect([target, (response.head + response.body).includes('my-door')]).toEqual([target, false]);
        }
      }
    });

    it('the owner can log in at it, work, and log out', async () => {
      const loginPath = `${home}/my-door`;
      const page = await visit(site, { target: loginPath });
      expect(page.status).toBe(200);
      expect(page.body).toContain(`action="${site.url}${loginPath}"`);
      const session = await logInToSite(site, loginPath);
      const { answer, config } = await openPage(site, session, 'login-settings');
      expect(config.login_url).toContain(`${site.url}${loginPath}`);
      const logOut =
        /href='?"?([^'"]*action=logout[^'"]*)/.exec(answer.body)?.[1]?.replace(/&(?:amp|#038);/g, '&') ?? '';
      expect(logOut).toContain(loginPath);
      const at = new URL(logOut);
      const response = await visit(site, { target: at.pathname + at.search, headers: { cookie: session.cookie } });
      expect([response.status, response.headers.location]).toEqual([302, expect.stringContaining(loginPath)]);
    });

    it('the command line restores the old one', async () => {
      expect(await securityOptimizer('login-url', 'reset', '--data-dir', site.guardDir)).toMatchObject({ code: 0 });
      await until('the old address answers', async () =>
        // Waits for the form, not only for the status, since WordPress gets the setting a moment after guard.
        (await visit(site, { target: `${core}/wp-login.php` })).body.includes('name="log"'),
      );
    });
  });
}
