import { chmodSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Job } from '@security-optimizer/contract/post-hack/endpoints';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { restBasic, usersBlogs } from '../../attacks/requests.js';
import { sendRequest } from '../../http/request.js';
import { authorised, callApi, logIn, type Session } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress, usersByRole } from '../../stacks/wordpress.js';
import { createsSession, loginForm, recover, sendFrom } from '../login/helpers.js';
import { callAction, choosePassword, endedJob, restorePasswords } from './helpers.js';

const AUTHOR = usersByRole.author;

onUnlikeStacks('Force password reset', (stack) => {
  const config = () => readFileSync(join(stack.wordpressDir, 'wp-config.php'), 'utf8');
  /** Written in place, so that the file keeps its owner and mode. */
  const writeConfig = (text: string) => writeFileSync(join(stack.wordpressDir, 'wp-config.php'), text);
  const withoutSalts = (text: string) => text.replace(/('(?:\w+_)?(?:KEY|SALT)'\s*,\s*)'[^']*'/g, "$1''");
  let owner: Session;
  let author: Session;
  let applicationPassword: string;
  let titleBefore = '';
  let configBefore: string;
  /** Mails of earlier suites. */
  let before: ReadonlySet<string>;
  const mails = () => readdirSync(join(stack.dir, 'mail'));
  /** The mail to a user. */
  const mail = (login: string = AUTHOR) =>
    mails()
      .filter((name) => !before.has(name))
      .map((name) => readFileSync(join(stack.dir, 'mail', name), 'utf8'))
      .filter((text) => text.includes(`To: ${login}@example.com`) && decoded(text).includes('action=rp'))
      .at(-1);
  const link = () => {
    const url = /https?:\/\/\S*action=rp\S*/.exec(decoded(mail() ?? ''))?.[0].replace(/[<>]/g, '');
    const { pathname, search } = new URL(url ?? 'http://none');
    return pathname + search;
  };
  /** Follows the mailed link and types a new password. */
  const choose = (password: string) => choosePassword(stack, link(), password);
  let last = 0;
  const tryPassword = (password: string, login: string = AUTHOR) =>
    sendFrom(stack, `127.0.52.${++last}`, loginForm(login, password));

  beforeAll(async () => {
    before = new Set(mails());
    await recover(stack, 'unblock', '--all');
    owner = await logIn(stack);
    author = await logIn(stack, AUTHOR);
    await callAction(stack, owner, '/disable-xml-rpc', { disable_xml_rpc: 0 });
    applicationPassword = await runInWordPress(
      stack,
      `add_filter( 'wp_is_application_passwords_available', '__return_true' );
      echo WP_Application_Passwords::create_new_application_password( get_user_by( 'login', '${AUTHOR}' )->ID, array( 'name' => 'phone' ) )[0];`,
    );
    await runInWordPress(
      stack,
      `update_user_meta( get_user_by( 'login', '${usersByRole.editor}' )->ID, 'locale', 'de_DE' );`,
    );
    titleBefore = await runInWordPress(stack, "echo get_option( 'blogname' );");
    await runInWordPress(stack, `update_option( 'blogname', 'Tea & <b>Cake</b> "1 < 2" &amp;lt;' );`);
    configBefore = config();
  });
  afterAll(async () => {
    await runInWordPress(stack, `update_option( 'blogname', html_entity_decode( '${titleBefore}', ENT_QUOTES ) );`);
    await restorePasswords(stack);
    await runInWordPress(stack, `delete_user_meta( get_user_by( 'login', '${usersByRole.editor}' )->ID, 'locale' );`);
    await recover(stack, 'unblock', '--all');
    await callAction(stack, await logIn(stack), '/disable-xml-rpc', { disable_xml_rpc: 1 });
  });

  it('is for administrators with a nonce only', async () => {
    expect((await callAction(stack, author, '/force-password-reset')).http).toBe(403);
    const noNonce = { cookie: owner.cookie, 'content-type': 'application/json' };
    const path = '/wp-json/security-optimizer/v1/force-password-reset';
    expect((await callApi(stack, { path, body: '{}', headers: noNonce })).http).toBe(403);
    expect(createsSession(await tryPassword(stack.password))).toBe(true);
  });

  it('ends every session and invalidates every earlier password, on every route', async () => {
    const response = await callAction(stack, owner, '/force-password-reset');
    expect(response.body).toMatchObject({ status: 200, data: { job: { kind: 'force-password-reset', error: '' } } });

    // Sessions of others and of the caller.
    for (const { cookie, nonce } of [owner, author]) {
      expect((await sendRequest(stack, { target: '/wp-admin/', headers: { cookie } })).status).toBe(302);
      const me = { target: '/wp-json/wp/v2/users/me', headers: { cookie, 'x-wp-nonce': nonce } };
      expect((await sendRequest(stack, me)).status).not.toBe(200);
    }
    expect((await callAction(stack, owner, '/post-hack-jobs')).http).toBe(403);

    // Passwords at the form, in XML-RPC and REST, and the application password.
    expect(createsSession(await tryPassword(stack.password))).toBe(false);
    expect(createsSession(await tryPassword(stack.password, stack.user))).toBe(false);
    expect((await sendFrom(stack, '127.0.59.1', usersBlogs(AUTHOR, stack.password))).body).toContain('faultCode');
    expect((await sendFrom(stack, '127.0.59.2', restBasic(AUTHOR, stack.password))).status).toBe(401);
    expect((await sendFrom(stack, '127.0.59.3', restBasic(AUTHOR, applicationPassword))).status).toBe(401);
    expect((await sendFrom(stack, '127.0.59.4', usersBlogs(AUTHOR, applicationPassword))).body).toContain('faultCode');
  });

  it('gives the same response for the old password as for a wrong one', async () => {
    const error = (text: string) => /<div id="login_error"[^>]*>([\s\S]*?)<\/div>/.exec(text)?.[1]?.trim();
    const old = await tryPassword(stack.password);
    const wrong = await tryPassword('never-was-one');
    expect([old.status, error(old.body)]).toEqual([wrong.status, error(wrong.body)]);
    expect(error(old.body)).toBeTruthy();
    expect(old.body).toContain('choose a new password');
  });

  it('gives WordPress new salts and changes nothing else in its configuration', () => {
    expect(config()).not.toBe(configBefore);
    expect(withoutSalts(config())).toBe(withoutSalts(configBefore));
  });

  it('mails a link that rejects the old password, sets a new one, and works once', async () => {
    await until('the mail is there', () => mail() !== undefined, 30);
    const refused = await choose(stack.password);
    expect(refused.body).toContain('This was your password before.');

    const chosen = await choose('a-brand-new-Passw0rd');
    expect(chosen.body).toContain('Your password has been reset');
    expect(createsSession(await tryPassword('a-brand-new-Passw0rd'))).toBe(true);
    expect(createsSession(await tryPassword(stack.password))).toBe(false);

    const again = await sendRequest(stack, { target: link() });
    const cookie = /^set-cookie: (wp-resetpass-[^=]+=[^;]+)/im.exec(again.head)?.[1] ?? '';
    expect((await sendRequest(stack, { target: '/wp-login.php?action=rp', headers: { cookie } })).head).toMatch(
      /expiredkey|invalidkey/,
    );
  });

  it("has the layout of the other mails, a plain text part, and the end of the link's validity", () => {
    const text = decoded(mail() ?? '');
    expect(text).toContain('multipart/alternative');
    expect(text).toMatch(
      /Content-Type: text\/plain[\s\S]*The link works until: .*\d{4}[\s\S]*Content-Type: text\/html/,
    );
    expect(text).toContain(`Username: ${AUTHOR}`);
    expect(text).toMatch(/<html dir="ltr" lang="en">[\s\S]*Security Optimizer[\s\S]*href="http[^"]*action=rp&amp;key=/);
    expect(text).not.toContain('{{');
    // The site's title as typed by its owner, in both parts.
    expect(text).toContain('Tea & <b>Cake</b> "1 < 2" &lt;');
    expect(text).toContain('Tea &amp; &lt;b&gt;Cake&lt;/b&gt; &quot;1 &lt; 2&quot; &amp;lt;');
    expect(decoded(mail(usersByRole.editor) ?? '')).toContain('Neues Passwort wählen');
  });

  it('rejects the old password even when it is set without a form', async () => {
    await runInWordPress(stack, `wp_set_password( '${stack.password}', get_user_by( 'login', '${AUTHOR}' )->ID );`);
    expect(createsSession(await tryPassword(stack.password))).toBe(false);
    await runInWordPress(
      stack,
      `wp_update_user( array( 'ID' => get_user_by( 'login', '${AUTHOR}' )->ID, 'user_pass' => 'another-New-one' ) );`,
    );
    expect(createsSession(await tryPassword('another-New-one'))).toBe(true);
  });

  it('reports its result, and does not reset passwords chosen since', async () => {
    await runInWordPress(
      stack,
      `wp_set_password( 'the-owners-New-one', get_user_by( 'login', '${stack.user}' )->ID );`,
    );
    owner = await logIn({ ...stack, password: 'the-owners-New-one' });
    const job = await endedJob(stack, owner, 'force-password-reset');
    expect(job).toMatchObject({ state: 'done', error: '' });
    expect(job.done).toBe(job.total);
    expect(job.summary.join(' ')).toContain('got a link to choose a new password');
    expect(job.summary.join(' ')).toContain('WordPress has new security keys, so every cookie made before is void.');
    expect(createsSession(await tryPassword('another-New-one'))).toBe(true);
  });

  it('logs out all users with Log out all users, except for the session of the owner', async () => {
    author = await logIn({ ...stack, password: 'another-New-one' }, AUTHOR);
    const response = await callAction(stack, owner, '/logout-users', { keep_mine: 1 });
    expect(response.body).toMatchObject({ status: 200, data: { job: { state: 'done', error: '' } } });
    expect((await sendRequest(stack, { target: '/wp-admin/', headers: { cookie: owner.cookie } })).status).toBe(200);
    expect((await sendRequest(stack, { target: '/wp-admin/', headers: { cookie: author.cookie } })).status).toBe(302);
    expect(createsSession(await tryPassword('another-New-one'))).toBe(true);

    const all = await callApi(stack, {
      path: '/wp-json/security-optimizer/v1/logout-users',
      body: '{}',
      headers: authorised(owner),
    });
    expect(all.body).toMatchObject({ status: 200, data: { job: { state: 'done', error: '' } } });
    expect((await sendRequest(stack, { target: '/wp-admin/', headers: { cookie: owner.cookie } })).status).toBe(302);
    const { data } = all.body as unknown as { data: { job: Job } };
    expect(data.job.summary).toContain('WordPress has new security keys, so every cookie made before is void.');
  });

  it('does not report keys as replaced that a file of the host sets before wp-config.php', async () => {
    const keys = ['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'].flatMap((name) => [`${name}_KEY`, `${name}_SALT`]);
    const host = join(stack.dir, 'keys-of-the-host.php');
    writeFileSync(host, `<?php\n${keys.map((name) => `define( '${name}', 'the host gives ${name}' );`).join('\n')}\n`);
    chmodSync(host, 0o644);
    const ownKeys = config();
    owner = await logIn({ ...stack, password: 'the-owners-New-one' });
    const later = ownKeys.replace(/define(\(\s*'\w+_(?:KEY|SALT)')/g, '@define$1');
    writeConfig(later.replace('<?php', `<?php\nrequire '${host}';`));
    try {
      const salts = () => runInWordPress(stack, "echo wp_salt( 'auth' );");
      const isLoggedIn = async () =>
        (await sendRequest(stack, { target: '/wp-admin/', headers: { cookie: owner.cookie } })).status === 200;
      // PHP checks for changed files every two seconds. Then earlier cookies are invalid.
      await until('the site uses the keys of the host', async () => !(await isLoggedIn()), 120);
      owner = await logIn({ ...stack, password: 'the-owners-New-one' });
      const before = await salts();
      const response = await callAction(stack, owner, '/logout-users');
      const { data } = response.body as unknown as { data: { job: Job } };
      const summary = data.job.summary.join(' ');
      expect(summary).toContain('The security keys of WordPress could not be changed.');
      expect(summary).toContain(`They are set in ${realpathSync(host)}.`);
      expect(summary).toContain('Everyone is logged out anyway, because every session has ended.');
      expect(summary).toContain('By hand: put new ones from');
      expect(summary).not.toContain('so every cookie');
      expect(await salts()).toBe(before);
      expect((await sendRequest(stack, { target: '/wp-admin/', headers: { cookie: owner.cookie } })).status).toBe(302);
    } finally {
      writeConfig(ownKeys);
      rmSync(host);
    }
  });
});

/** A mail whose parts are decoded from quoted-printable. */
function decoded(mail: string): string {
  const parts = mail.split(/^(?=--b\d)/m);
  return parts
    .map((part) => (/^Content-Transfer-Encoding: quoted-printable/im.test(part) ? unquoted(part) : part))
    .join('');
}

function unquoted(text: string): string {
  const bytes = text
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_whole, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
