import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRequest } from '../../http/request.js';
import { logIn, type Session } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';
import { change, recover, SHOP_PLUGIN, shopForm } from './helpers.js';

const LOGIN_SLUG = 'side-porch';
const ENTRY = 'join-the-club';

/** A classic theme, which prints the form in every possible way. */
const CLASSIC = `<?php
get_header( 'none' ); ?><!DOCTYPE html><html><head><?php wp_head(); ?></head><body>
<main data-theme="classic">
<section>before <?php wp_login_form(); ?> after</section>
<section><?php wp_login_form( array( 'echo' => true, 'form_id' => 'second-form' ) ); ?></section>
<section><?php echo '<div class="modal">' . wp_login_form( array( 'echo' => false, 'form_id' => 'third-form' ) ) . '</div>'; ?></section>
<section><?php ob_start(); wp_login_form( array( 'form_id' => 'fourth-form' ) ); echo ob_get_clean(); ?></section>
<form id="search" action="/"><input name="s"></form>
<form id="shop-login" action="/" method="post"><input name="shop_login"><input name="shop_password"></form>
<p id="links"><?php wp_register( '', '' ); ?>|<?php wp_loginout(); ?></p>
<?php if ( isset( $_GET['more'] ) ) { $come_in = get_page_by_path( 'come-in', OBJECT, 'post' ); ?>
<section><form id="own-made" action="<?php echo esc_url( wp_login_url() ); ?>" method="post"><input name="log"><input name="pwd"></form></section>
<section><form id="by-script" action="<?php echo esc_url( wp_login_url() ); ?>"><input name="username"><input name="password"></form></section>
<section><?php echo get_the_password_form( $come_in ); ?></section>
<div id="block"><?php echo do_blocks( '<!-- wp:loginout /-->' ); ?></div>
<div id="reply"><?php comment_reply_link( array( 'depth' => 1, 'max_depth' => 5 ), get_comments( array( 'post_id' => $come_in->ID ) )[0] ); ?></div>
<?php comment_form( array(), $come_in->ID ); } ?>
</main><?php wp_footer(); ?></body></html>`;

/** Changes the targets of links, as another plugin may. */
const LINKS = `if ( isset( $_GET['more'] ) ) { add_filter( 'pre_option_comment_registration', '__return_true' ); }
add_filter( 'register_url', function ( $url ) { return isset( $_GET['register_at'] ) ? wp_unslash( $_GET['register_at'] ) : $url; } );
add_filter( 'login_url', function ( $url ) { return isset( $_GET['login_at'] ) ? wp_unslash( $_GET['login_at'] ) : $url; } );
`;

onUnlikeStacks('login forms and links on public pages, with a custom login URL', (stack) => {
  const plugin = join(muPlugins(stack), 'public-forms.php');
  const theme = join(dirname(muPlugins(stack)), 'themes/plain-classic');
  let owner: Session;
  let before = '';
  let post = '';
  const page = async (target: string, cookie?: string) =>
    (await sendRequest(stack, { target, ...(cookie === undefined ? {} : { headers: { cookie } }) })).body;
  const links = async (query: string) =>
    /<p id="links">(.*?)<\/p>/s.exec(await page(`/?${query}`))?.[1]?.replace(/&(?:amp|#0?38);/g, '&') ?? 'no page';

  beforeAll(async () => {
    writeFileSync(plugin, `<?php\n${SHOP_PLUGIN}${LINKS}`);
    mkdirSync(theme, { recursive: true });
    writeFileSync(join(theme, 'style.css'), '/* Theme Name: Plain Classic */');
    writeFileSync(join(theme, 'header-none.php'), '');
    writeFileSync(join(theme, 'index.php'), CLASSIC);
    const content =
      '<!-- wp:loginout {"displayLoginAsForm":true} /--><!-- wp:paragraph --><p>Below it</p><!-- /wp:paragraph -->';
    [before = '', post = ''] = (
      await runInWordPress(
        stack,
        `update_option( 'users_can_register', 1 );
        $id = wp_insert_post( array( 'post_title' => 'Come in', 'post_content' => '${content}', 'post_status' => 'publish', 'comment_status' => 'open' ) );
        wp_insert_comment( array( 'comment_post_ID' => $id, 'comment_content' => 'Hello', 'comment_approved' => 1 ) );
        echo get_stylesheet(), ' ', $id;`,
      )
    )
      .trim()
      .split(' ');
    owner = await logIn(stack);
  });
  afterAll(async () => {
    await recover(stack, 'login-url', 'reset');
    await runInWordPress(
      stack,
      `switch_theme( '${before}' ); update_option( 'users_can_register', 0 ); wp_delete_post( ${Number(post)}, true );`,
    );
    rmSync(plugin, { force: true });
    rmSync(theme, { recursive: true, force: true });
    await until('the form', async () =>
      (await sendRequest(stack, { target: '/wp-login.php' })).body.includes('loginform'),
    );
  });

  it('are WordPress’s own while the login is at its usual address', async () => {
    expect(await page('/come-in/')).toMatch(/<form[^>]+wp-login\.php/);
  });

  describe('with a custom login URL', () => {
    beforeAll(() => change(stack, owner, '/custom-login-url', { type: 'custom', login: LOGIN_SLUG, signup: ENTRY }));

    it('have no form of the login/out block for anonymous clients in a block theme, in pages and in the REST API', async () => {
      for (const target of ['/come-in/', `/wp-json/wp/v2/posts/${post}`, '/']) {
        const body = await page(target);
        expect(body, target).not.toMatch(/<form[^>]+wp-login|user_pass|wp-login\.php/);
        expect(body, target).not.toMatch(new RegExp(`${LOGIN_SLUG}|${ENTRY}`));
      }
      expect(await page('/come-in/')).toContain('Below it');
    });

    describe('in a classic theme', () => {
      beforeAll(() => runInWordPress(stack, `switch_theme( 'plain-classic' );`));
      afterAll(() => runInWordPress(stack, `switch_theme( '${before}' );`));

      it('have no form of wp_login_form() for anonymous clients, however the theme prints it, and everything else stays', async () => {
        const body = await page('/');
        expect(body).toContain('data-theme="classic"');
        expect(body).not.toMatch(/loginform|second-form|third-form|fourth-form|name="pwd"|wp-login\.php/);
        expect(body).not.toMatch(new RegExp(`${LOGIN_SLUG}|${ENTRY}`));
        expect(body).toMatch(/<section>before\s+after<\/section>/);
        expect(body).toContain('<div class="modal"></div>');
        expect(body).toContain('<form id="search"');
        expect(body).toContain('</html>');
      });

      it('keep forms of plugins that post to their own page, and these log in', async () => {
        expect(await page('/')).toContain('<form id="shop-login"');
        expect((await sendRequest(stack, shopForm(stack.user, stack.password))).body).toBe('Logged in');
      });

      it('omit forms of plugins for the login, links to it at comments and its block for anonymous clients', async () => {
        const body = await page('/?more=1');
        expect(body).not.toContain('own-made');
        expect(body).toContain('<div id="block"></div>');
        expect(body).toContain('<div id="reply"></div>');
        expect(body).toMatch(/<p class="must-log-in">You must be logged in to post a comment\.<\/p>/);
        expect(body).not.toMatch(new RegExp(`${LOGIN_SLUG}|${ENTRY}`));
      });

      it('keep forms that a script sends, and the form of a protected post', async () => {
        const body = await page('/?more=1');
        expect(body).toContain('<form id="by-script"');
        expect(body).toMatch(/<form[^>]+wp-login\.php\?action=postpass/);
      });

      it('show all of these to registered users', async () => {
        const body = await page('/?more=1', owner.cookie);
        for (const words of ['own-made', 'by-script', 'wp-block-loginout', 'comment-reply-link']) {
          expect(body).toContain(words);
        }
      });

      it('show registered users the forms, with the custom URL', async () => {
        const body = await page('/', owner.cookie);
        expect(body.match(new RegExp(`<form[^>]+/${LOGIN_SLUG}`, 'g'))).toHaveLength(4);
      });

      it('omit links to the hidden paths', async () => {
        expect(await links('')).toBe('|');
        const { host } = new URL(stack.url);
        const hidden = [
          '/wp-login.php?action=register',
          '/WP-Login.php',
          `//${host}/wp-login.php`,
          `${stack.url}//wp-login.php`,
          '/%77p-login.php',
          '/x/../wp-login.php/path',
          '/index.php/wp-login.php',
          'wp-login.php',
          '/wp-signup.php',
          '/wp-register.php',
          '/wp-admin/',
          `/${LOGIN_SLUG}`,
          `/${LOGIN_SLUG.toUpperCase()}/?x=1`,
          `/index.php/${ENTRY}`,
        ].map(encodeURIComponent);
        for (const url of hidden) {
          expect(await links(`register_at=${url}`), url).toBe('|');
          expect(await links(`login_at=${url}`), url).toBe('|');
        }
      });

      it('keep links to the public pages of other plugins', async () => {
        const open = [
          '/join/',
          '/?page_id=2',
          `${stack.url}/members/`,
          'https://example.com/wp-login.php',
          `/x/${LOGIN_SLUG}`,
        ];
        for (const url of open) {
          const at = encodeURIComponent(url);
          expect(await links(`register_at=${at}`), url).toMatch(/href="[^"]+">Register<\/a>\|$/);
          expect(await links(`login_at=${at}`), url).toMatch(/^\|<a[^>]+>Log in<\/a>$/);
        }
      });
    });
  });
});
