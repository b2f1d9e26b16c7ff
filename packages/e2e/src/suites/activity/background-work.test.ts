import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendRequest } from '../../http/request.js';
import { logIn, type Session } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { muPlugins, runInWordPress, usersByRole } from '../../stacks/wordpress.js';
import { type EventRow, eventsDuring } from './helpers.js';

/**
 * A plugin that works in the background: with a request of the site to itself, as WP_Background_Process and Action
 * Scheduler send it, and at the end of a request. `own_work_here` runs in the request of a visitor.
 */
const PLUGIN = `<?php
function own_work( $title ) {
  wp_insert_post( array( 'post_title' => $title, 'post_status' => 'publish' ) );
}
function own_work_run() {
  own_work( $_GET['title'] );
  exit( 'done' );
}
function own_work_begin() {
  $target  = admin_url( 'admin-ajax.php' ) . '?action=own_work_run&title=' . rawurlencode( $_GET['title'] );
  $cookies = isset( $_GET['with_cookies'] ) ? $_COOKIE : array();
  exit( wp_remote_retrieve_body( wp_remote_post( $target, array( 'cookies' => $cookies, 'timeout' => 60 ) ) ) );
}
function own_work_later() {
  add_action( 'shutdown', function () { own_work( $_GET['title'] ); } );
  exit( 'done' );
}
function own_work_queue() {
  add_action( 'action_scheduler_run_queue', function () { own_work( $_GET['title'] ); } );
  do_action( 'action_scheduler_run_queue' );
  exit( 'done' );
}
foreach ( array( 'run' => 'own_work_run', 'begin' => 'own_work_begin', 'later' => 'own_work_later', 'queue' => 'own_work_queue', 'here' => 'own_work_run' ) as $name => $work ) {
  add_action( "wp_ajax_own_work_$name", $work );
  add_action( "wp_ajax_nopriv_own_work_$name", $work );
}`;

onUnlikeStacks('background work of the site', (stack) => {
  const helper = join(muPlugins(stack), 'background-work.php');
  let owner: Session;
  let user: Session;
  const titles: string[] = [];

  beforeAll(async () => {
    writeFileSync(helper, PLUGIN);
    owner = await logIn(stack);
    user = await logIn(stack, usersByRole.subscriber);
  });
  afterAll(async () => {
    rmSync(helper, { force: true });
    const list = titles.map((title) => `'${title}'`).join(', ');
    await runInWordPress(
      stack,
      `foreach ( array( ${list} ) as $title ) {
        foreach ( get_posts( array( 'title' => $title, 'post_status' => 'any' ) ) as $post ) { wp_delete_post( $post->ID, true ); }
      }`,
    );
  });

  /** The log entries for posts that were published during a request to admin-ajax.php with that session. */
  async function publishing(
    action: string,
    title: string,
    { session, more = '', headers = {} }: { session?: Session; more?: string; headers?: Record<string, string> },
  ): Promise<EventRow[]> {
    titles.push(title);
    const target = `/wp-admin/admin-ajax.php?action=own_work_${action}&title=${encodeURIComponent(title)}${more}`;
    const cookie = session === undefined ? {} : { cookie: session.cookie };
    const events = await eventsDuring(stack, owner, async () => {
      expect((await sendRequest(stack, { target, headers: { ...cookie, ...headers } })).body).toBe('done');
    });
    return events.filter(({ activity }) => activity === `Published post “${title}”`);
  }

  const itself = [{ origin: 'cron', ip: '', visitor_id: 0 }];

  it.each([
    ['a loopback request with the cookies of a user', 'begin', () => user, '&with_cookies=1'],
    ['a loopback request with the cookies of the owner', 'begin', () => owner, '&with_cookies=1'],
    ['a loopback request without cookies', 'begin', () => user, ''],
    ['a loopback request caused by a visitor', 'begin', () => undefined, ''],
    ['the queue of Action Scheduler in a request of the owner', 'queue', () => owner, ''],
    ['the end of a request of a user', 'later', () => user, ''],
    ['the end of a request of a visitor', 'later', () => undefined, ''],
  ])('is logged as a scheduled task: %s', async (name, action, getSession, more) => {
    const session = getSession();
    expect(await publishing(action, `Own work, ${name}`, { more, ...(session && { session }) })).toMatchObject(itself);
  });

  it.each([
    ['without a signature', {}],
    ['with an invented signature', { 'x-site-request': `${Math.floor(Date.now() / 1000)} ${'0'.repeat(64)}` }],
    ['with an empty signature', { 'x-site-request': '' }],
  ])('does not hide a visitor who sends such a request: %s', async (name, headers) => {
    expect(await publishing('here', `By hand, ${name}`, { session: owner, headers })).toMatchObject([
      { user: owner.login, origin: 'web', ip: '127.0.0.1' },
    ]);
  });

  it('is not confused with what the owner does at the end of a request', async () => {
    expect(await publishing('later', 'Saved at the end', { session: owner })).toMatchObject([
      { user: owner.login, origin: 'web', ip: '127.0.0.1' },
    ]);
  });
});
