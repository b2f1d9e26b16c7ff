import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RawResponse } from '../../http/raw.js';
import { form } from '../../http/request.js';
import { type Layouts, makeTree, removeLayouts, startLayouts } from '../../stacks/layouts.js';
import { makeNetwork, type OddSite } from '../../stacks/odd-install.js';
import type { Stack } from '../../stacks/stack.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { createsSession, FormBrowser, mailbox, totpCode } from '../login/helpers.js';
import { call, logInToSite, toComparable, visit } from './odd-site.js';

const MINUTES = 60_000;
const MAIN = 'clubs.example';
const OWN = 'roses.example';
const LOGIN_SLUG = 'club-door';
const FROM = '127.0.85.9';
/** Exists only on the site at its own domain. */
const USER = 'rose-keeper';
const MAIL = 'rose-keeper@example.com';
const NEW_PASSWORD = 'A-new-Password-for-roses-7';

/** The stack whose WordPress, PHP and database it uses. */
const stack = inject('stacks').find((one): one is Stack => one.kind === 'nginx-defaults' && !('problem' in one));

/** Finds a URL in HTML by a part of it. */
function linkIn(page: RawResponse, label: string): string {
  const links = [...page.body.matchAll(/href=["']([^"']+)["']/g)].map(([, link = '']) => link);
  const found = links.map((link) => link.replace(/&(?:amp|#0?38);/g, '&')).find((link) => link.includes(label));
  if (found === undefined) throw new Error(`No link with ${label} in ${page.body}`);
  return found;
}

describe.skipIf(stack === undefined)('a network with mapped domains, where sessions are not shared', () => {
  const usual = stack as Stack;
  const dir = join(usual?.dir ?? '', 'own-domains');
  let layouts: Layouts;
  let userPassword = '';
  const site = (host: string): OddSite => ({ ...(layouts.sites.get(MAIN) as OddSite), url: `http://${host}` });
  const home = (host: string) => `http://${host}/wp-admin/`;
  const toLoginUrl = (host: string) => `http://${host}/${LOGIN_SLUG}`;
  const way = (host: string, url: string) => `${toLoginUrl(host)}?redirect_to=${encodeURIComponent(url)}`;
  const browserAt = (host: string, name: string) => new FormBrowser(site(host), FROM, name, `/${LOGIN_SLUG}`);
  const toTarget = (url: string, host: string) => {
    const { pathname, search, hostname } = new URL(url, `http://${host}`);
    expect(hostname).toBe(host);
    return pathname + search;
  };
  /** Opens the login that a redirect leads to, and logs in there. @returns the next redirect */
  const logInBy = async (url: string, host: string, name: string) => {
    const visitor = browserAt(host, name);
    const page = await visitor.get(toTarget(url, host));
    expect([page.status, page.body.includes(`action="${toLoginUrl(host)}"`)]).toEqual([200, true]);
    const redirectTo =
      /name="redirect_to" value="([^"]*)"/.exec(page.body)?.[1]?.replace(/&(?:amp|#0?38);/g, '&') ?? '';
    const fields = { log: USER, pwd: userPassword, redirect_to: redirectTo, testcookie: '1' };
    const answer = await visitor.request(form(`/${LOGIN_SLUG}`, new URLSearchParams(fields).toString()));
    return { visitor, answer };
  };

  beforeAll(async () => {
    removeLayouts(dir);
    mkdirSync(dir);
    const tree = join(dir, 'network');
    makeTree(usual, tree);
    const configuration = join(tree, 'wp-config.php');
    layouts = await startLayouts(usual, dir, [
      {
        host: MAIN,
        otherHosts: [OWN],
        root: tree,
        wordpressDir: tree,
        configuration,
        async prepare(network) {
          await makeNetwork(network, configuration, OWN);
          // As mapped domains need it: a cookie is valid at the host that sets it.
          const text = readFileSync(configuration, 'utf8').replace(
            '<?php\n',
            "<?php\ndefine( 'COOKIE_DOMAIN', '' );\n",
          );
          writeFileSync(configuration, text);
          await runInWordPress(
            network,
            `$id = wp_create_user( '${USER}', '${network.password}', '${MAIL}' );
            add_user_to_blog( 2, $id, 'editor' ); remove_user_from_blog( $id, 1 );`,
          );
          userPassword = network.password;
        },
      },
    ]);
    const response = await call(site(MAIN), await logInToSite(site(MAIN)), '/custom-login-url', {
      ...{ type: 'custom', login: LOGIN_SLUG, signup: 'club-entry' },
    });
    expect(response.body).toMatchObject({ status: 200 });
  }, 5 * MINUTES);
  afterAll(async () => {
    await layouts?.stop();
    removeLayouts(dir);
  });

  it('shows visitors neither login nor wp-admin at any domain', async () => {
    for (const host of [MAIN, OWN]) {
      for (const path of ['/wp-login.php', '/wp-admin/', '/wp-login.php?action=lostpassword']) {
        const twin = path.replace(/wp-(login|admin)/, 'xq-vkwfj');
        const [real, missing] = [await visit(site(host), { target: path }), await visit(site(host), { target: twin })];
        expect(real.status).toBe(404);
        expect({ host, path, ...toComparable(real) }).toEqual({
          ...{ host, path },
          ...toComparable(missing, 'xq-vkwfj', path.startsWith('/wp-login') ? 'wp-login' : 'wp-admin'),
        });
        expect(real.head + real.body).not.toContain(LOGIN_SLUG);
      }
    }
  });

  it('returns users with a lost password to the domain where they started, from the form to the new login', async () => {
    const visitor = browserAt(OWN, 'Browser with a lost password');
    const page = await visitor.get(`/${LOGIN_SLUG}`);
    const lost = linkIn(page, 'lostpassword');
    expect(lost).toBe(`${toLoginUrl(OWN)}?action=lostpassword`);
    const mails = mailbox(usual);
    const response = await visitor.request(form(toTarget(lost, OWN), `user_login=${USER}`));
    expect(response.status).toBe(302);
    expect(new URL(response.headers.location ?? '', toLoginUrl(OWN)).href).toContain(
      `${toLoginUrl(OWN)}?checkemail=confirm`,
    );
    const mail = await mails.to(MAIL);
    mails.empty();
    const link = /https?:\/\/\S+action=rp\S*|https?:\/\/\S+[?&]key=\S+/.exec(mail)?.[0].replace(/>$/, '') ?? '';
    expect(link.startsWith(`${toLoginUrl(OWN)}?`), mail).toBe(true);
    expect(mail).not.toContain(`//${MAIN}`);

    const opened = await visitor.get(toTarget(link, OWN));
    const chosen = await visitor.get(toTarget(opened.headers.location ?? '', OWN));
    const key = /name="rp_key" value="([^"]+)"/.exec(chosen.body)?.[1] ?? '';
    const fields = new URLSearchParams({ pass1: NEW_PASSWORD, pass2: NEW_PASSWORD, rp_key: key });
    const done = await visitor.request(form(`/${LOGIN_SLUG}?action=resetpass`, fields.toString()));
    expect(done.body).toContain('Your password has been reset');
    userPassword = NEW_PASSWORD;
    const logIn = /<a href="([^"]+)">Log in<\/a>/i.exec(done.body)?.[1] ?? '';
    expect(logIn).toBe(toLoginUrl(OWN));
    const { visitor: user, answer } = await logInBy(logIn, OWN, 'Browser after it');
    expect([createsSession(answer), answer.headers.location]).toEqual([true, home(OWN)]);
    expect((await user.get('/wp-admin/')).status).toBe(200);
  });

  it('redirects a user of another domain from the main login to the login there, and on from it', async () => {
    const first = await browserAt(MAIN, 'Browser at the main login').logIn(USER, userPassword);
    expect([first.status, first.headers.location]).toEqual([302, way(OWN, home(OWN))]);
    const { visitor, answer } = await logInBy(first.headers.location ?? '', OWN, 'The same browser');
    expect([createsSession(answer), answer.headers.location]).toEqual([true, home(OWN)]);
    expect((await visitor.get('/wp-admin/')).status).toBe(200);
  });

  it('redirects users between domains through the login there, in the list of their sites', async () => {
    const owner = await logInToSite(site(MAIN), `/${LOGIN_SLUG}`);
    await runInWordPress(site(MAIN), `add_user_to_blog( 2, 1, 'administrator' );`);
    const page = await visit(site(MAIN), { target: '/wp-admin/my-sites.php', headers: { cookie: owner.cookie } });
    expect(page.status).toBe(200);
    expect(linkIn(page, `${OWN}/${LOGIN_SLUG}`)).toBe(way(OWN, home(OWN)));
    const links = [...page.body.matchAll(/href=["']([^"']+)["']/g)].map(([, link = '']) => link);
    expect(links).toContain(home(MAIN));
    expect(links.filter((link) => link.startsWith(home(OWN)) && !/\.(?:css|js)\b/.test(link))).toEqual([]);
  });

  it('asks for the second factor there, too', async () => {
    const owner = await logInToSite(site(MAIN), `/${LOGIN_SLUG}`);
    expect((await call(site(MAIN), owner, '/2fa', { sg2fa: 1 })).body).toMatchObject({ status: 200 });
    const visitor = browserAt(MAIN, 'Browser with a factor');
    const challenge = await visitor.logIn(USER, userPassword);
    const factor = `/${LOGIN_SLUG}?action=second-factor`;
    expect([challenge.status, challenge.headers.location]).toEqual([303, factor]);
    const page = await visitor.get(factor);
    const key = /<code>([A-Z2-7 ]+)<\/code>/.exec(page.body)?.[1] ?? '';
    const shown = await visitor.send(page, 'enrol', { code: totpCode(key) }, factor);
    const done = await visitor.send(shown, 'continue', { saved: '1' }, factor);
    expect([createsSession(done), done.headers.location]).toEqual([true, way(OWN, home(OWN))]);
    expect((await call(site(MAIN), owner, '/2fa', { sg2fa: 0 })).body).toMatchObject({ status: 200 });
  });
});
