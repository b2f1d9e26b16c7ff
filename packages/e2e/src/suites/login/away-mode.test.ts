import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restBasic, usersBlogs } from '../../attacks/requests.js';
import { form, sendRequest, type TypedRequest } from '../../http/request.js';
import { authorised, callApi, logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { onUsualStack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins, runInWordPress, usersByRole, withoutConnector } from '../../stacks/wordpress.js';
import { change, createsSession, loginForm, recover, sendFrom } from './helpers.js';

const HOUR = 3600_000;
const DAY = 24 * HOUR;
const FROM = '127.0.38.1';
/** The site uses UTC. */
const toDate = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const toTime = (ms: number) => new Date(ms).toISOString().slice(11, 16);
const DAY_FORM = { weekday: 'long', month: 'long', day: 'numeric' } as const;
const TIME_FORM = { hour: 'numeric', minute: '2-digit' } as const;
/** In the format of the site's language, American English, but with plain spaces. */
const formatEnglish = (ms: number, form: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-US', { ...form, timeZone: 'UTC' }).format(ms).replace(/\s+/g, ' ');
const toWeekday = (ms: number) =>
  new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format(ms).toLowerCase();

/**
 * Typical behaviour of plugins: they make changes on `plugins_loaded`, on `init` and by AJAX for logged-in users,
 * authenticate users by their own token, switch the user of a request, and notify other programs in the owner's name.
 */
const PLUGIN = `<?php
function so_away_note( $what ) {
  if ( is_user_logged_in() ) { add_user_meta( get_current_user_id(), 'so_away_done', $what ); }
}
add_action( 'plugins_loaded', function () { if ( isset( $_POST['so_early'] ) ) { so_away_note( 'early' ); exit( 'done early' ); } } );
add_action( 'init', function () {
  if ( isset( $_REQUEST['so_become'] ) ) { wp_set_current_user( (int) $_REQUEST['so_become'] ); }
  if ( isset( $_POST['so_edit'] ) ) { so_away_note( 'edit' ); exit( 'edited' ); }
} );
add_action( 'wp_ajax_so_like', function () { so_away_note( 'like' ); wp_die( 'liked' ); } );
add_action( 'wp_ajax_nopriv_so_like', function () { wp_die( 'liked by a guest' ); } );
add_filter( 'rest_pre_dispatch', function ( $answer, $server, $request ) {
  if ( '/so/answer' !== $request->get_route() || 'GET' === $request->get_method() ) { return $answer; }
  so_away_note( 'answer' );
  return rest_ensure_response( 'answered' );
}, 10, 3 );
add_action( 'admin_post_so_save', function () { so_away_note( 'save' ); exit( 'saved' ); } );
add_filter( 'determine_current_user', function ( $user ) {
  return preg_match( '/^Bearer of-(\\d+)$/', $_SERVER['HTTP_AUTHORIZATION'] ?? '', $of ) ? (int) $of[1] : $user;
}, 30 );
add_action( 'init', function () { if ( isset( $_GET['so_cron'] ) && wp_doing_cron() ) { so_away_note( 'cron' ); } } );
add_action( 'so_away_task', function () { wp_set_current_user( 1 ); update_option( 'so_away_task', 'done' ); } );
add_action( 'shutdown', function () {
  if ( isset( $_POST['so_edit'] ) ) {
    $who = get_current_user_id();
    wp_set_current_user( 1 );
    update_option( 'so_away_told', (int) get_option( 'so_away_told' ) + 1 );
    wp_set_current_user( $who );
  }
} );
`;

/** Schedules that are active now and in an hour, at any time of day, each with its end. */
function schedules() {
  const now = Date.now();
  const midnight = (Math.floor(now / DAY) + 1) * DAY;
  const quarter = Math.floor(now / (HOUR / 4)) * (HOUR / 4);
  const [from_hour, to_hour] = [toTime(quarter - HOUR), toTime(quarter + 2 * HOUR)];
  return {
    period: {
      schedule: { type: 'period', from_date: toDate(now), to_date: toDate(now + DAY) },
      ends: midnight + DAY,
    },
    weekly: {
      schedule: { type: 'weekly', weekly: [toWeekday(now), toWeekday(now + DAY)] },
      ends: midnight + DAY,
    },
    daily: { schedule: { type: 'daily', from_hour, to_hour }, ends: quarter + 2 * HOUR },
  };
}

onUsualStack('Away Mode', (stack) => {
  let owner: Session;
  let xmlRpcBefore: 0 | 1;
  const login = { target: '/wp-login.php', headers: { accept: 'text/html' } };
  const end = async () => {
    await recover(stack, 'away-mode', 'off');
    await until('the login is open', async () => (await sendFrom(stack, FROM, login)).status === 200);
  };

  beforeAll(async () => {
    owner = await logIn(stack);
    xmlRpcBefore = (await readOptions(stack, owner)).disable_xml_rpc;
    await setOptions(stack, owner, { disable_xml_rpc: 0 });
  });
  afterAll(() => setOptions(stack, owner, { disable_xml_rpc: xmlRpcBefore }));

  const begin = (schedule: object) => change(stack, owner, '/away-mode', { ...schedule, confirm: true });
  /** Expects that the login shows until when it is closed, and that nobody can log in. */
  const expectClosed = async (ends: number) => {
    const page = await sendFrom(stack, FROM, login);
    expect(page.status).toBe(403);
    expect(page.body).toContain('The admin area is closed');
    expect(page.body.replace(/\s+/g, ' ')).toContain(
      `${formatEnglish(ends, DAY_FORM)}, ${formatEnglish(ends, TIME_FORM)}`,
    );
    const left = Number(page.headers['retry-after']) * 1000;
    expect(Math.abs(Date.now() + left - ends)).toBeLessThan(10_000);
    const attempt = await sendFrom(stack, FROM, loginForm(stack.user, stack.password));
    expect([attempt.status, createsSession(attempt)]).toEqual([403, false]);
  };
  const { period, weekly, daily } = schedules();

  it('closes the login on selected weekdays until midnight', async () => {
    await begin(weekly.schedule);
    await expectClosed(weekly.ends).finally(end);
  });

  it('closes the login in selected hours until they are over', async () => {
    await begin(daily.schedule);
    await expectClosed(daily.ends).finally(end);
  });

  describe('during a period', () => {
    const plugin = join(muPlugins(stack), 'so-away-test.php');
    let sessions: Record<'owner' | 'editor' | 'author' | 'subscriber', Session>;
    let memberId: number;
    /** Reads which changes were made by whom. */
    const done = async () =>
      JSON.parse(
        await runInWordPress(
          stack,
          `echo json_encode( array(
            $wpdb->get_results( "SELECT user_id, COUNT(*) AS times FROM $wpdb->usermeta WHERE meta_key = 'so_away_done' GROUP BY user_id ORDER BY user_id" ),
            (array) wp_count_posts(), (array) wp_count_comments(), get_post_status( 1 ), get_option( 'blogname' ) ) );`,
        ),
      );
    beforeAll(async () => {
      writeFileSync(plugin, PLUGIN);
      const { editor, author, subscriber } = usersByRole;
      sessions = {
        owner,
        editor: await logIn(stack, editor),
        author: await logIn(stack, author),
        subscriber: await logIn(stack, subscriber),
      };
      memberId = Number(await runInWordPress(stack, `echo get_user_by( 'login', '${subscriber}' )->ID;`));
      await begin(period.schedule);
    });
    afterAll(async () => {
      rmSync(plugin, { force: true });
      await end();
      await runInWordPress(
        stack,
        `delete_metadata( 'user', 0, 'so_away_done', '', true ); delete_option( 'so_away_told' ); delete_option( 'so_away_task' );`,
      );
    });

    it('closes the login until its last day is over', () => expectClosed(period.ends));

    const changes = ({ cookie, nonce }: Session): [string, TypedRequest][] => {
      const signedIn = { cookie, 'x-wp-nonce': nonce, 'content-type': 'application/json' };
      const batch = { requests: [{ method: 'POST', path: '/wp/v2/posts', body: { title: 'x' } }] };
      const override = { ...signedIn, 'x-http-method-override': 'DELETE' };
      return [
        ['AJAX', form('/wp-admin/admin-ajax.php', 'action=so_like', { cookie })],
        ['AJAX by GET', { target: '/wp-admin/admin-ajax.php?action=so_like', headers: { cookie } }],
        ['admin-post', form('/wp-admin/admin-post.php', 'action=so_save', { cookie })],
        ['admin-post by GET', { target: '/wp-admin/admin-post.php?action=so_save', headers: { cookie } }],
        ['REST', { method: 'POST', target: '/wp-json/wp/v2/posts', body: '{"title":"x"}', headers: signedIn }],
        ['a batch', { method: 'POST', target: '/wp-json/batch/v1', body: JSON.stringify(batch), headers: signedIn }],
        ['a route in the query', form('/?rest_route=/wp/v2/posts', 'title=x', { cookie, 'x-wp-nonce': nonce })],
        ['a REST route in a form', form('/', `rest_route=/wp/v2/posts&title=x&_wpnonce=${nonce}`, { cookie })],
        ['and on any page', form('/nothing/', 'rest_route=/wp/v2/settings&title=x', { cookie, 'x-wp-nonce': nonce })],
        ['a method in disguise', { target: '/wp-json/wp/v2/posts/1?_method=DELETE', headers: signedIn }],
        ['in a header', { target: '/wp-json/wp/v2/posts/1', headers: override }],
        ['a route that a plugin answers itself', { target: '/wp-json/so/answer?_method=POST', headers: signedIn }],
        ['a comment', form('/wp-comments-post.php', 'comment=x&comment_post_ID=1', { cookie })],
        ['a form of a plugin', form('/', 'so_edit=1', { cookie })],
        ['and one that is handled earlier', form('/', 'so_early=1', { cookie })],
        ['by path info', form('/index.php/nothing/', 'so_edit=1', { cookie })],
      ];
    };

    it.each(['owner', 'editor', 'author'] as const)(
      'refuses changes by the %s who is still logged in',
      async (role) => {
        const before = await done();
        for (const [route, request] of changes(sessions[role])) {
          const response = await sendRequest(stack, request);
          expect([response.status, response.body.includes('The admin area is closed')], route).toEqual([403, true]);
          expect(response.headers['retry-after'], route).toMatch(/^[0-9]+$/);
        }
        expect(await done()).toEqual(before);
      },
    );

    it('answers programs in JSON, also on routes that only WordPress knows', async () => {
      for (const [, request] of changes(sessions.editor).slice(4, 12)) {
        expect(JSON.parse((await sendRequest(stack, request)).body)).toMatchObject({
          code: 'away_mode',
          data: { status: 403 },
        });
      }
    });

    it('lets no token of the staff change anything, and no link that logs in as one of them', async () => {
      const before = await done();
      const { subscriber } = sessions;
      const bearer = { authorization: 'Bearer of-1' };
      const subscribed = { cookie: subscriber.cookie, 'x-wp-nonce': subscriber.nonce };
      const refused: [string, TypedRequest][] = [
        ['REST', form('/wp-json/wp/v2/posts', 'title=x', bearer)],
        ['AJAX', form('/wp-admin/admin-ajax.php', 'action=so_like', bearer)],
        ['a form', form('/', 'so_edit=1', bearer)],
        ['beside the session of a subscriber', form('/', 'so_edit=1', { ...bearer, cookie: subscriber.cookie })],
        ['as a subscriber', form('/', 'so_edit=1&so_become=1', { cookie: subscriber.cookie })],
        ['as a guest', form('/?so_become=1', 'so_edit=1')],
        ['credentials of nobody', form('/wp-admin/admin-ajax.php', 'action=so_like', { authorization: 'Bearer x' })],
        [
          'beside a session',
          form('/wp-admin/admin-ajax.php', 'action=so_like', { ...subscribed, authorization: 'Token x' }),
        ],
        ['and in REST', form('/wp-json/so/answer', 'a=b', { ...subscribed, authorization: 'Token x' })],
        ['by a plugin that answers itself', form('/wp-json/so/answer', 'a=b', { authorization: 'Token x' })],
        ['in REST', form('/wp-json/wp/v2/comments', 'post=1&content=x', { authorization: 'Token x' })],
      ];
      for (const [route, request] of refused) expect((await sendRequest(stack, request)).status, route).toBe(403);
      expect(await done()).toEqual(before);
    });

    it('lets a subscriber comment, like and send forms, by session or token, and WordPress notifies others', async () => {
      const { cookie, nonce } = sessions.subscriber;
      const signedIn = { cookie, 'x-wp-nonce': nonce, 'content-type': 'application/json' };
      const notified = await runInWordPress(stack, `echo (int) get_option( 'so_away_told' );`);
      const comment = (content: string) => ({
        method: 'POST',
        target: '/wp-json/wp/v2/comments',
        body: JSON.stringify({ post: 1, content }),
        headers: signedIn,
      });
      const written = await sendRequest(stack, comment(`from a subscriber ${Date.now()}`));
      expect([written.status, JSON.parse(written.body).author > 1]).toEqual([201, true]);
      const allowed: [string, TypedRequest, string][] = [
        ['AJAX', form('/wp-admin/admin-ajax.php', 'action=so_like', { cookie }), 'liked'],
        ['AJAX by GET', { target: '/wp-admin/admin-ajax.php?action=so_like', headers: { cookie } }, 'liked'],
        ['admin-post', form('/wp-admin/admin-post.php', 'action=so_save', { cookie }), 'saved'],
        ['a route of a plugin', { ...comment('x'), target: '/wp-json/so/answer' }, '"answered"'],
        ['a form', form('/', 'so_edit=1', { cookie }), 'edited'],
        ['a token', form('/', 'so_edit=1', { authorization: `Bearer of-${memberId}` }), 'edited'],
      ];
      for (const [route, request, body] of allowed) {
        const response = await sendRequest(stack, request);
        expect([response.status, response.body], route).toEqual([200, body]);
      }
      const after = await runInWordPress(stack, `echo (int) get_option( 'so_away_told' );`);
      expect(Number(after) - Number(notified)).toBe(2);
      // Refusals by WordPress's own capabilities do not concern Away Mode.
      const post = await sendRequest(stack, { ...comment('x'), target: '/wp-json/wp/v2/posts' });
      expect([post.status, JSON.parse(post.body).code]).toEqual([403, 'rest_cannot_create']);
    });

    it('runs scheduled tasks as the owner, but not for a session or link of the staff', async () => {
      const cron = { method: 'POST', target: '/wp-cron.php?so_cron=1', body: '' };
      const before = await done();
      await sendRequest(stack, { ...cron, headers: { cookie: sessions.editor.cookie } });
      await sendRequest(stack, { ...cron, target: `${cron.target}&so_become=1` });
      await runInWordPress(stack, `delete_transient( 'doing_cron' ); wp_schedule_single_event( 1, 'so_away_task' );`);
      await until('the task has run', async () => {
        await sendRequest(stack, cron);
        return (await runInWordPress(stack, `echo get_option( 'so_away_task' );`)).trim() === 'done';
      });
      expect(await done()).toEqual(before);
      await sendRequest(stack, { ...cron, headers: { cookie: sessions.subscriber.cookie } });
      await until(
        'the task of the subscriber has run',
        async () => JSON.stringify(await done()) !== JSON.stringify(before),
      );
    });

    it('lets a guest like as usual', async () => {
      const response = await sendRequest(stack, form('/wp-admin/admin-ajax.php', 'action=so_like'));
      expect([response.status, response.body]).toEqual([200, 'liked by a guest']);
    });

    it('lets no logged-in user change anything by AJAX or REST while WordPress runs without the connector', async () => {
      const before = await done();
      await withoutConnector(stack, async () => {
        const { cookie } = sessions.subscriber;
        // PHP may use a cached copy of the loader for two seconds, and guard a cached state for ten.
        await until('guard knows', async () => {
          const response = await sendRequest(stack, {
            target: '/wp-admin/admin-ajax.php?action=nothing',
            headers: { cookie },
          });
          return response.status === 403;
        });
        for (const role of ['owner', 'editor', 'subscriber'] as const) {
          for (const [route, request] of changes(sessions[role]).filter(([name]) =>
            /AJAX|post|REST$|batch|query|disguise|header/.test(name),
          )) {
            expect((await sendRequest(stack, request)).status, `${role}: ${route}`).toBe(403);
          }
        }
      });
      expect(await done()).toEqual(before);
      await until('the connector is back', async () => {
        const like = form('/wp-admin/admin-ajax.php', 'action=so_like', { cookie: sessions.subscriber.cookie });
        return (await sendRequest(stack, like)).status === 200;
      });
    });

    it('closes wp-admin and passwords on every route', async () => {
      const { cookie } = owner;
      const closed: [string, TypedRequest][] = [
        ['wp-admin', { target: '/wp-admin/', headers: { cookie } }],
        ['a page of wp-admin', { target: '/wp-admin/plugins.php', headers: { cookie } }],
        [
          'wp-admin for a subscriber',
          { target: '/wp-admin/profile.php', headers: { cookie: sessions.subscriber.cookie } },
        ],
        ['XML-RPC', usersBlogs(stack.user, stack.password)],
        ['REST by password', restBasic(stack.user, stack.password)],
      ];
      for (const [route, request] of closed) expect((await sendRequest(stack, request)).status, route).toBe(403);
    });

    it('does not let the owner turn it off either, and says so in JSON', async () => {
      const response = await callApi(stack, {
        path: '/wp-json/security-optimizer/v1/away-mode',
        body: '{"type":"off"}',
        headers: authorised(owner),
      });
      expect([response.http, response.body.code]).toEqual([403, 'away_mode']);
      expect((await sendFrom(stack, FROM, login)).status).toBe(403);
    });

    it('does not affect the public site', async () => {
      for (const headers of [{}, { cookie: owner.cookie }]) {
        expect((await sendRequest(stack, { target: '/', headers })).status).toBe(200);
        expect((await sendRequest(stack, { target: '/wp-json/wp/v2/posts', headers })).status).toBe(200);
      }
      expect((await sendRequest(stack, { target: '/wp-admin/admin-ajax.php?action=nothing' })).status).toBe(400);
      const comment = form('/wp-comments-post.php', 'comment=&comment_post_ID=1&author=a&email=a%40example.com');
      expect((await sendRequest(stack, comment)).body).toMatch(/type your comment text/i);
    });
  });

  it('ends by a command, and earlier sessions work again', async () => {
    const admin = { target: '/wp-admin/', headers: { cookie: owner.cookie } };
    expect((await sendRequest(stack, admin)).status).toBe(200);
    expect(createsSession(await sendFrom(stack, FROM, loginForm(stack.user, stack.password)))).toBe(true);
  });
});
