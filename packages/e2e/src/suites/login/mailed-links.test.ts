import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { form, sendRequest } from '../../http/request.js';
import { getCookies, logIn, type Session } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';
import {
  change,
  createsSession,
  deleteUsers,
  FormBrowser,
  loginForm,
  mailbox,
  recover,
  sendFrom,
  toComparable,
} from './helpers.js';

const LOGIN_SLUG = 'mail-door';
const AUTHOR = 'kim-who-moves';
const USER = 'a-plain-member';
const FROM = '127.0.84.9';

/** A form that sends mails, and actions of an owner in wp-admin, in one step. */
const PLUGIN = `<?php
add_action( 'wp_loaded', function () {
  if ( isset( $_POST['write_to'] ) ) {
    wp_mail( $_POST['write_to'], 'Word', wp_unslash( $_POST['words'] ) . ' ' . site_url( '/wp-admin/edit.php?own=1' ) );
    exit( 'Sent' );
  }
} );
add_action( 'wp_ajax_move_office', function () {
  require_once ABSPATH . 'wp-admin/includes/misc.php';
  update_option_new_admin_email( get_option( 'admin_email' ), 'new-office@example.com' );
  exit( 'Moved' );
} );
add_action( 'wp_ajax_tell_in_html', function () {
  $link = esc_url( admin_url( 'post.php?post=1&action=edit' ) );
  wp_mail( '${USER}@example.com', 'Word', "<p><a href='$link'>Edit</a></p>", 'Content-Type: text/html' );
  exit( 'Told' );
} );
`;

/** Links of a mail, as request targets of the site. */
function linksIn(mail: string, url: string): readonly string[] {
  return [...mail.matchAll(/https?:\/\/[^\s<>"']+/g)].map(([link]) => link).filter((link) => link.startsWith(url));
}

onUnlikeStacks('links into wp-admin in mails of WordPress, with a custom login URL', (stack) => {
  const plugin = join(muPlugins(stack), 'mailed-links.php');
  let owner: Session;
  let post = '';
  let ownerMail = '';
  const toLoginUrl = (url: string) => `${stack.url}/${LOGIN_SLUG}?redirect_to=${encodeURIComponent(url)}`;
  const target = (url: string) => url.slice(stack.url.length).replace(/#.*/, '');
  /** Opens a link in a browser without a session, and logs in at its target. */
  const openAndLogIn = async (link: string, login: string) => {
    const visitor = new FormBrowser(stack, FROM, `Reader of ${login}`, target(link));
    const page = await visitor.get(target(link));
    expect(page.status).toBe(200);
    const kept = /name="redirect_to" value="([^"]*)"/.exec(page.body)?.[1] ?? '';
    const redirectTo = kept.replace(/&(?:amp|#0?38);/g, '&');
    const fields = { log: login, pwd: stack.password, redirect_to: redirectTo, testcookie: '1' };
    const response = await visitor.request(form(`/${LOGIN_SLUG}`, new URLSearchParams(fields).toString()));
    expect(createsSession(response)).toBe(true);
    return { visitor, location: response.headers.location ?? '' };
  };
  const expectMissing = async (path: string) => {
    const [real, nothing] = [
      await sendRequest(stack, { target: path }),
      await sendRequest(stack, { target: path.replace('wp-admin', 'wp-admix') }),
    ];
    const seen = JSON.stringify(toComparable(nothing)).replaceAll('wp-admix', 'wp-admin');
    expect(real.status).toBe(404);
    expect(JSON.stringify(toComparable(real))).toBe(seen);
  };

  beforeAll(async () => {
    writeFileSync(plugin, PLUGIN);
    [ownerMail = '', post = ''] = (
      await runInWordPress(
        stack,
        `foreach ( array( '${AUTHOR}' => 'author', '${USER}' => 'subscriber' ) as $login => $role ) {
          wp_insert_user( array( 'user_login' => $login, 'user_pass' => '${stack.password}', 'user_email' => "$login@example.com", 'role' => $role ) );
        }
        echo get_option( 'admin_email' ), ' ', wp_insert_post( array( 'post_title' => 'Say something', 'post_status' => 'publish', 'comment_status' => 'open', 'post_author' => 1 ) );`,
      )
    )
      .trim()
      .split(' ');
    owner = await logIn(stack);
    await change(stack, owner, '/custom-login-url', { type: 'custom', login: LOGIN_SLUG, signup: 'mail-entry' });
  });
  afterAll(async () => {
    await recover(stack, 'login-url', 'reset');
    await runInWordPress(
      stack,
      `wp_delete_post( ${Number(post)}, true ); delete_option( 'adminhash' ); delete_option( 'new_admin_email' );`,
    );
    await deleteUsers(stack, [AUTHOR, USER]);
    rmSync(plugin, { force: true });
    await until('the form', async () =>
      (await sendRequest(stack, { target: '/wp-login.php' })).body.includes('loginform'),
    );
  });

  it('confirm a new e-mail address in a browser without a session, through the custom URL', async () => {
    const author = new FormBrowser(stack, FROM, 'Browser of the author', `/${LOGIN_SLUG}`);
    await author.logIn(AUTHOR);
    const profile = await author.get('/wp-admin/profile.php');
    const fields: Record<string, string> = {
      ...{ action: 'update', email: 'moved-kim@example.com', nickname: AUTHOR, from: 'profile' },
      _wpnonce: /name="_wpnonce" value="([^"]+)"/.exec(profile.body)?.[1] ?? '',
      user_id: /name="user_id"[^>]* value="(\d+)"/.exec(profile.body)?.[1] ?? '',
    };
    const mails = mailbox(stack);
    await author.request(form('/wp-admin/profile.php', new URLSearchParams(fields).toString()));
    const mail = await mails.to('moved-kim@example.com');
    mails.empty();
    const link = linksIn(mail, stack.url).find((one) => one.includes('newuseremail')) ?? '';
    const plain = decodeURIComponent(link.split('redirect_to=')[1] ?? '');
    expect(link).toBe(toLoginUrl(plain));
    expect(plain).toMatch(new RegExp(`^${stack.url}/wp-admin/profile\\.php\\?newuseremail=[0-9a-f]{32}$`));
    // Without the custom URL it is a missing page, with a real or an invented key.
    await expectMissing(target(plain));
    await expectMissing(`/wp-admin/profile.php?newuseremail=${'0'.repeat(32)}`);

    const { visitor, location } = await openAndLogIn(link, AUTHOR);
    expect(location).toBe(plain);
    const done = await visitor.get(target(plain));
    expect([done.status, done.headers.location]).toEqual([302, expect.stringContaining('profile.php?updated=true')]);
    expect((await visitor.get('/wp-admin/profile.php')).body).toContain('value="moved-kim@example.com"');
  });

  it('confirm a new administration e-mail address', async () => {
    const mails = mailbox(stack);
    const { cookie } = owner;
    const moved = await sendRequest(stack, {
      target: '/wp-admin/admin-ajax.php?action=move_office',
      headers: { cookie },
    });
    expect(moved.body).toBe('Moved');
    const mail = await mails.to('new-office@example.com');
    mails.empty();
    const link = linksIn(mail, stack.url).find((one) => one.includes('adminhash')) ?? '';
    const plain = decodeURIComponent(link.split('redirect_to=')[1] ?? '');
    expect([link, plain]).toEqual([toLoginUrl(plain), expect.stringContaining('/wp-admin/options.php?adminhash=')]);
    await expectMissing(target(plain));
    expect((await openAndLogIn(link, stack.user)).location).toBe(plain);
  });

  it('moderate a comment, without revealing the URL to the visitor who wrote it', async () => {
    const mails = mailbox(stack);
    const typed = `${stack.url}/wp-admin/edit.php?typed=1`;
    const fields = {
      comment_post_ID: post,
      author: 'A visitor',
      email: 'a-visitor@example.com',
      comment: `Look at ${typed} and ${stack.url}/wp-login.php and ${stack.url}/${LOGIN_SLUG} please`,
    };
    const sent = await sendFrom(stack, FROM, form('/wp-comments-post.php', new URLSearchParams(fields).toString()));
    expect(sent.head + sent.body).not.toContain(LOGIN_SLUG);
    const mail = await mails.to(ownerMail);
    mails.empty();
    for (const words of [typed, `${stack.url}/wp-login.php`, `${stack.url}/${LOGIN_SLUG} `])
      expect(mail).toContain(words);
    const links = linksIn(mail, `${stack.url}/${LOGIN_SLUG}?`).map((link) =>
      decodeURIComponent(link.split('=')[1] ?? ''),
    );
    const id = /c=(\d+)/.exec(links[0] ?? '')?.[1];
    const moderate = (action: string) => `${stack.url}/wp-admin/comment.php?action=${action}&c=${id}#wpbody-content`;
    expect(links).toEqual([
      moderate('approve'),
      moderate('trash'),
      moderate('spam'),
      `${stack.url}/wp-admin/edit-comments.php?comment_status=moderated#wpbody-content`,
    ]);
    for (const plain of links) await expectMissing(target(plain));
    // A user with a session is redirected at once.
    const led = await sendRequest(stack, {
      target: target(toLoginUrl(moderate('approve'))),
      headers: { cookie: owner.cookie },
    });
    expect([led.status, led.headers.location]).toEqual([302, moderate('approve')]);
    const { visitor } = await openAndLogIn(toLoginUrl(moderate('approve')), stack.user);
    const page = await visitor.get(target(moderate('approve')));
    expect([page.status, page.body.includes('You are about to approve the following comment')]).toEqual([200, true]);
  });

  it('use the custom URL in HTML mails, too', async () => {
    const mails = mailbox(stack);
    const { cookie } = owner;
    await sendRequest(stack, { target: '/wp-admin/admin-ajax.php?action=tell_in_html', headers: { cookie } });
    const mail = await mails.to(`${USER}@example.com`);
    mails.empty();
    expect(mail.replace(/=\r?\n/g, '').replaceAll('=3D', '=')).toContain(
      `'${toLoginUrl(`${stack.url}/wp-admin/post.php?post=1&action=edit`)}'`,
    );
  });

  it('do not use it in mails to others, where text of a visitor stays unchanged', async () => {
    const typed = `${stack.url}/wp-login.php ${stack.url}/wp-admin/ ${stack.url}/${LOGIN_SLUG}`;
    const own = `${stack.url}/wp-admin/edit.php?own=1`;
    const write = async (to: string, cookie?: string) => {
      const mails = mailbox(stack);
      const headers: Record<string, string> = cookie === undefined ? {} : { cookie };
      const fields = new URLSearchParams({ write_to: to, words: typed }).toString();
      expect((await sendFrom(stack, FROM, form('/', fields, headers))).body).toBe('Sent');
      const mail = await mails.to((to.split(',')[0] ?? '').trim());
      mails.empty();
      return mail;
    };
    expect(await write('outsider@example.com')).toContain(`${typed} ${own}`);
    expect(await write(`${USER}@example.com, outsider@example.com`)).toContain(`${typed} ${own}`);
    expect(await write(`${USER}@example.com`)).toContain(`${typed} ${toLoginUrl(own)}`);
    const user = getCookies(await sendFrom(stack, FROM, loginForm(USER, stack.password, { path: `/${LOGIN_SLUG}` })));
    expect(await write(ownerMail, user)).toContain(`${typed} ${toLoginUrl(own)}`);
    // A user's mail to others contains the typed text, and WordPress's own URLs.
    const mail = await write('outsider@example.com', user);
    expect(mail).toContain(own);
    expect(mail).not.toMatch(new RegExp(`redirect_to|${LOGIN_SLUG}`));
  });
});
