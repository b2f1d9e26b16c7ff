import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { BlockedRow, RegisteredRow, UnknownRow } from '@security-optimizer/contract/activity/schemas';
import { beforeAll, expect, it } from 'vitest';
import { sendRaw } from '../../http/raw.js';
import { sendRequest } from '../../http/request.js';
import { authorised, callApi, logIn, type Session } from '../../http/session.js';
import { killGuard, startGuard } from '../../stacks/guard-process.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { behindProxy, visitFrom } from './helpers.js';

const API = '/wp-json/security-optimizer/v1';
/** A local address that is not a trusted proxy. */
const NO_PROXY = '127.0.47.1';
const GOOGLE = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

onUnlikeStacks('the log of anonymous visits', (stack) => {
  behindProxy(stack);
  let owner: Session;

  const visit = (from: string, target: string, more: Parameters<typeof visitFrom>[3] = {}) =>
    visitFrom(stack, from, target, more);
  const call = async (suffix: string, body: object = {}) => {
    const response = await callApi(stack, {
      path: `${API}${suffix}`,
      body: JSON.stringify(body),
      headers: authorised(owner),
    });
    return response.body;
  };
  const choose = (name: string, id: string, value: unknown) => ({
    wp_name: name,
    children: [{ id, selectedValue: value }],
  });
  const listRows = async (ip: string, ...more: object[]): Promise<UnknownRow[]> => {
    const { data } = await call('/activity-unknown', { filters: [choose('ip', 'ip', ip), ...more] });
    return (data as { entries: UnknownRow[] }).entries;
  };
  /** Waits for that many rows of an address. */
  const seen = (ip: string, count: number) =>
    until(`${count} visits of ${ip} are listed`, async () => {
      const rows = await listRows(ip);
      return rows.length >= count ? rows : null;
    });

  beforeAll(async () => {
    owner = await logIn(stack);
    await call('/disable-xml-rpc', { disable_xml_rpc: 1 });
  });

  it('omits the site’s own cron requests by default, and no request that only looks like one', async () => {
    /** Lets WordPress call its own wp-cron.php. @returns the requested path */
    const spawn = async () => {
      const lock = await runInWordPress(
        stack,
        `wp_schedule_single_event( time() - 1, 'nothing-to-do', array( wp_rand() ) ); delete_transient( 'doing_cron' );
        add_action( 'http_api_debug', function ( $response, $context, $class, $args, $url ) { echo wp_parse_url( $url, PHP_URL_PATH ), '?', wp_parse_url( $url, PHP_URL_QUERY ); }, 10, 5 );
        spawn_cron();`,
      );
      expect(lock).toMatch(/^\/wp-cron\.php\?doing_wp_cron=\d/);
      return lock;
    };
    const listed = async (): Promise<string[]> => {
      const { data } = await call('/activity-unknown');
      return (data as { entries: UnknownRow[] }).entries.map(({ page_visited }) => page_visited);
    };
    const own = await spawn();
    // The same request from a visitor, and a later one, so that both would be listed by then.
    const claimed = { agent: 'WordPress/7.1; http://127.0.0.1', headers: { 'x-security-optimizer-cron': '1' } };
    await visit('203.0.113.66', `${own}0`, claimed);
    await until('the one that looks like it is listed', async () => (await listed()).includes(`${own}0`));
    expect(await listed()).not.toContain(own);

    await call('/log-own-cron', { log_own_cron: 1 });
    try {
      const requested = await spawn();
      await until('it is listed', async () => (await listed()).includes(requested));
    } finally {
      await call('/log-own-cron', { log_own_cron: 0 });
    }
  });

  it('distinguishes humans, bots and unknown clients, and trusts no user agent of a search engine', async () => {
    const ip = '203.0.113.31';
    await visit(ip, '/');
    await visit(ip, '/hello-world/', { agent: null });
    await visit(ip, '/?p=1', { agent: 'curl/8.5.0' });
    await visit(ip, '/sample-page/', { agent: GOOGLE });
    const rows = await seen(ip, 4);
    const types = Object.fromEntries(rows.map(({ page_visited, type }) => [page_visited, type]));
    expect(types['/']).toBe('Human');
    expect(types['/hello-world/']).toBe('Unknown');
    expect(types['/?p=1']).toMatch(/curl/i);
    expect(types['/sample-page/']).toBe('Unverified bot');
  });

  it('records the outcome of each request: pages, missing pages, refusals with their rule; no static files', async () => {
    const ip = '203.0.113.32';
    await visit(ip, '/wp-includes/css/buttons.min.css');
    await visit(ip, '/');
    await visit(ip, '/nothing-here/');
    await visit(ip, '//xmlrpc.php', { method: 'POST', body: '' });
    const rows = await seen(ip, 3);
    expect(rows.map(({ page_visited, response, rule }) => [page_visited, response, rule])).toEqual([
      ['//xmlrpc.php', '403 Blocked', 'xml-rpc'],
      ['/nothing-here/', '404', null],
      ['/', '200', null],
    ]);
  });

  it('can’t be evaded with a cookie that claims a session, and omits registered users', async () => {
    const ip = '203.0.113.33';
    const name = /wordpress_logged_in_\w+/.exec(owner.cookie)?.[0];
    await visit(ip, '/?registered', { headers: { cookie: owner.cookie } });
    await visit(ip, '/?claims', { headers: { cookie: `${name}=owner%7C9999999999%7Cabc%7Cdef` } });
    const rows = await seen(ip, 1);
    await pause(1500);
    expect((await listRows(ip)).map(({ page_visited }) => page_visited)).toEqual(['/?claims']);
    expect(rows).toHaveLength(1);
  });

  it('keeps the input of anonymous visitors as plain text, also in exports for spreadsheets', async () => {
    const ip = '203.0.113.34';
    const path = '/?q=<script>alert(1)</script>&n=%0d%0aSet-Cookie:x';
    await visit(ip, path);
    const rows = await seen(ip, 1);
    expect(rows.map(({ page_visited }) => page_visited)).toEqual([path]);
    // This address can't be parsed, so a client that is no proxy is logged with its own address.
    const formula = '=HYPERLINK(1)';
    const sent = await sendRaw(stack.port, `GET ${formula} HTTP/1.1\r\nhost: x\r\n\r\n`, { from: NO_PROXY });
    expect(sent.status).toBe(400);
    const [odd] = await seen(NO_PROXY, 1);
    expect(odd?.page_visited).toBe(formula);
    const csv = await sendRequest(stack, {
      target: `${API}/activity-export?list=unknown&format=csv`,
      headers: authorised(owner),
    });
    expect(csv.status).toBe(200);
    expect(csv.headers['content-disposition']).toContain('attachment');
    expect(csv.headers['x-content-type-options']).toBe('nosniff');
    expect(csv.body).toContain(`"'${formula}"`);
    for (const cell of csv.body.split('\n').flatMap((line) => line.split(','))) expect(cell).not.toMatch(/^"?[=+@]/);
  });

  it('filters by response, address range and day, and accepts filters as an object with numeric keys', async () => {
    await visit('198.51.100.35', '/nothing-35/');
    await visit('198.51.100.35', '/');
    await seen('198.51.100.35', 2);
    expect((await listRows('198.51.100.35', choose('code', 'code', 404))).map((row) => row.code)).toEqual([404]);
    expect((await listRows('198.51.100.32/28')).every(({ ip }) => ip.startsWith('198.51.100.'))).toBe(true);
    const { data } = await call('/activity-unknown', {
      filters: { 3: choose('ip', 'ip', '198.51.100.35') },
      limitedView: 1,
    });
    expect(data).toMatchObject({ page: 1, pages: 1 });
    const bad = await call('/activity-unknown', { filters: [choose('ip', 'ip', 'not an address')] });
    expect(bad).toMatchObject({ status: 400 });
  });

  it('lets the owner block from the next request on, also on open connections, and unblock', async () => {
    const ip = '203.0.113.36';
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const again = () =>
      new Promise<{ status: number; port: number }>((resolve, reject) => {
        const sent = request(`${stack.url}/hello-world/`, { agent, headers: { 'x-forwarded-for': ip } }, (response) => {
          response.resume();
          response.on('end', () => resolve({ status: response.statusCode ?? 0, port: sent.socket?.localPort ?? 0 }));
        });
        sent.on('error', reject);
        sent.end();
      });
    const first = await again();
    expect(first.status).toBe(200);
    const [row] = await seen(ip, 1);
    expect((await call(`/get-visitor-status/${row?.visitor_id}`)).data).toMatchObject({
      block: 0,
      type: 'ip',
      name: ip,
    });

    expect(await call(`/block-ip/${row?.visitor_id}`, { block: 1 })).toMatchObject({ status: 200, data: { block: 1 } });
    expect(await again()).toEqual({ status: 403, port: first.port });
    expect((await visit(ip, '/wp-includes/css/buttons.min.css')).status).toBe(403);
    expect((await call(`/get-visitor-status/${row?.visitor_id}`)).data).toMatchObject({ block: 1 });
    const list = async () => ((await call('/blocked-users')).data as { entries: BlockedRow[] }).entries;
    expect((await list()).map(({ user, type }) => [user, type])).toContainEqual([ip, 'ip']);

    expect(await call(`/block-ip/${row?.visitor_id}`, { block: 0 })).toMatchObject({ status: 200, data: { block: 0 } });
    expect((await again()).status).toBe(200);
    expect((await list()).map(({ user }) => user)).not.toContain(ip);
    agent.destroy();
  });

  it('does not let the owner block their own address, loopback or an unknown visitor', async () => {
    for (const address of ['127.0.0.1', '127.0.0.0/8']) {
      expect(await call('/block-addresses', { address })).toMatchObject({ status: 400 });
    }
    expect(await call('/block-ip/999999999', { block: 1 })).toMatchObject({ status: 404 });
  });

  it('stops recording when it is turned off, while rules still refuse, and starts again', async () => {
    const ip = '203.0.113.37';
    expect(await call('/manage-activity-log', { disable_activity_log: 1 })).toMatchObject({ status: 200 });
    await visit(ip, '/?unseen');
    expect((await visit(ip, '/xmlrpc.php', { method: 'POST', body: '' })).status).toBe(403);
    expect(await call('/manage-activity-log', { disable_activity_log: 0 })).toMatchObject({ status: 200 });
    await visit(ip, '/?seen');
    await seen(ip, 1);
    expect((await listRows(ip)).map(({ page_visited }) => page_visited)).toEqual(['/?seen']);
  });

  it('loses no event of a registered user and at most the last second of visits when guard is killed', async () => {
    const ip = '203.0.113.38';
    await visit(ip, '/?before');
    await pause(1500);
    await callApi(stack, {
      path: '/wp-json/wp/v2/posts',
      body: JSON.stringify({ title: 'Written before the kill', status: 'publish' }),
      headers: authorised(owner),
    });
    await killGuard(stack);
    await startGuard(stack);
    expect((await listRows(ip)).map(({ page_visited }) => page_visited)).toEqual(['/?before']);
    const events = await until(
      'the event is listed',
      async () => {
        const { data } = await call('/activity-registered');
        const found = (data as { entries: RegisteredRow[] }).entries.filter(({ activity }) =>
          activity.includes('Written before the kill'),
        );
        return found.length > 0 ? found : null;
      },
      45,
    );
    expect(events.filter(({ actions }) => actions === 'post.published')).toHaveLength(1);
    expect(events[0]).toMatchObject({ user: stack.user, you: 1, do_not_block: 1 });
  });
});
