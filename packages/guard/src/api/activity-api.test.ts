import { activityEndpoints } from '@security-optimizer/contract/activity-endpoints';
import { describe, expect, it } from 'vitest';
import { activitySite, BROWSER, type Traffic } from '../testing/activity-site.js';
import { eventually } from '../testing/scratch.js';

const filter = (wp_name: string, selectedValue: unknown, id = wp_name) => [
  { wp_name, children: [{ id, selectedValue }] },
];
const pages = (answer: { entries: readonly { page_visited: string }[] }) =>
  answer.entries.map(({ page_visited }) => page_visited);

describe('the calls of the page Activity Log', () => {
  it('answer in the form of the contract', async () => {
    const { visit, call, logged, report, noted } = await activitySite();
    report(event('post.updated'));
    await visit('/one');
    await logged(1);
    await noted(1);
    const bodies: Record<string, object> = {
      '/activity-options': { list: 'unknown', filter: 'type' },
      '/activity-new': { list: 'registered', since: 0 },
    };
    const reading = activityEndpoints.filter(
      ({ methods, suffix }) => (methods as readonly string[]).includes('GET') && !suffix.includes('{id}'),
    );
    expect(reading.map(({ suffix }) => suffix)).toContain('/activity-traffic');
    for (const { suffix, response } of reading) {
      const parsed = response.safeParse(await call(suffix, bodies[suffix]));
      expect([suffix, parsed.error]).toEqual([suffix, undefined]);
    }
  });

  it('that only read may come as GET, the filters as JSON text', async () => {
    const { visit, send, logged } = await activitySite();
    await visit('/here');
    await visit('/nowhere', { address: '192.0.2.2' });
    await logged(2);
    const query = new URLSearchParams({ page: '1', filters: JSON.stringify(filter('ip', '192.0.2.2')) });
    const { body } = await send(`/activity-unknown?${query}`, undefined, { method: 'GET' });
    expect(pages(body.data)).toEqual(['/nowhere']);
    const broken = await send('/activity-unknown?filters=[', undefined, { method: 'GET' });
    expect([broken.http, Object.keys(broken.body.fields ?? {})]).toEqual([400, ['filters']]);
  });

  it.each([
    ['/activity-unknown', { page: 0 }, { page: 'Use a page number from 1.' }],
    ['/activity-unknown', { page: 1e15 }, { page: 'Use a page number from 1.' }],
    ['/activity-unknown', { page: 1.5 }, { page: 'Use a page number from 1.' }],
    ['/activity-unknown', { limitedView: 2 }, { limitedView: 'Use 0 or 1.' }],
    ['/activity-unknown', { filters: filter('ip', 'x') }, { ip: 'Invalid format.' }],
    ['/activity-unknown', { filters: 7 }, { filters: 'Send the filters of the last answer.' }],
    ['/activity-unknown', { cursor: 'x' }, { cursor: 'Use the cursor of an answer.' }],
    ['/activity-registered', { filters: filter('user', 'owner') }, { user: 'Invalid format.' }],
    ['/activity-options', { list: 'unknown', filter: 'user' }, { filter: 'Use type, code, ip.' }],
    ['/activity-options', { list: 'all', filter: 'type' }, { list: 'Use unknown or registered.' }],
    ['/activity-new', { list: 'unknown', since: 'x' }, { since: 'Invalid format.' }],
    ['/activity-traffic', { from: 20, to: 10 }, { to: 'Use a time after from.' }],
    ['/activity-log-lifetime', { log_lifetime: 13 }, { log_lifetime: 'Use 1 to 12 days.' }],
    ['/activity-log-lifetime', { log_lifetime: 0 }, { log_lifetime: 'Use 1 to 12 days.' }],
    ['/manage-activity-log', { disable_activity_log: 'yes' }, { disable_activity_log: 'Use 0 or 1.' }],
    ['/anonymize-addresses', {}, { anonymize_addresses: 'Use 0 or 1.' }],
    ['/fetch-options', { page: 'log' }, { page: 'Use security, login or activity.' }],
  ])('%s refuses %j and names the field', async (suffix, body, fields) => {
    const { send } = await activitySite();
    const answer = await send(suffix, body);
    expect([answer.http, answer.body.code, answer.body.fields]).toEqual([400, 'invalid_input', fields]);
  });

  it('are for administrators of this site only', async () => {
    const { send } = await activitySite();
    for (const { suffix } of [...activityEndpoints, { suffix: '/activity-export?list=unknown' }]) {
      const method = suffix.includes('export') ? 'GET' : 'POST';
      const path = suffix.replace('{id}', '1');
      const nobody = await send(path, undefined, { method, headers: { 'x-wp-nonce': null } });
      const editor = { cookie: 'session=editor', 'x-wp-nonce': 'editor-nonce' };
      const other = await send(path, undefined, { method, headers: editor });
      const foreign = await send(path, undefined, { method, headers: { 'sec-fetch-site': 'cross-site' } });
      expect([suffix, nobody.body.code, other.body.code, foreign.body.code]).toEqual([
        suffix,
        'rest_cookie_invalid_nonce',
        'rest_forbidden',
        'cross_site',
      ]);
    }
  });
});

describe('the list of unknown visitors', () => {
  it('says who asked for what and what was answered, newest first', async () => {
    const { visit, unknown, logged } = await activitySite();
    await visit('/first?a=<script>alert(1)</script>');
    await visit('/wp-config.php.bak', { address: '198.51.100.7', agent: 'curl/8.0' });
    await visit('/third', { address: '2001:db8::7', agent: null });
    await logged(3);
    const { entries } = await unknown();
    expect(entries.map(({ ip, page_visited, response }) => [ip, page_visited, response])).toEqual([
      ['2001:db8::7', '/third', '200'],
      ['198.51.100.7', '/wp-config.php.bak', '403 Blocked'],
      ['192.0.2.1', '/first?a=%3Cscript%3Ealert(1)%3C/script%3E', '200'],
    ]);
    expect(entries.map(({ type }) => type)).toEqual([
      'Unknown',
      expect.not.stringMatching(/^(Human|Unknown)$/),
      'Human',
    ]);
    expect(entries[0]?.ts).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d$/);
    expect(new Set(entries.map(({ visitor_id }) => visitor_id)).size).toBe(3);
    expect(entries.every(({ block, do_not_block }) => block === 0 && do_not_block === 0)).toBe(true);
  });

  it('is filtered by type, response, address and range, and keeps what is chosen', async () => {
    const { visit, unknown, logged } = await activitySite();
    await visit('/a');
    await visit('/wp-config.php.bak', { address: '198.51.100.7' });
    await visit('/b', { address: '198.51.100.9', agent: null });
    await logged(3);
    const by = async (name: string, value: unknown) => pages(await unknown({ filters: filter(name, value) }));
    expect(await by('type', 'Unknown')).toEqual(['/b']);
    expect(await by('code', 403)).toEqual(['/wp-config.php.bak']);
    expect(await by('ip', '198.51.100.0/24')).toEqual(['/b', '/wp-config.php.bak']);
    expect(await by('ip', '198.51.100.*')).toHaveLength(2);
    expect(await by('ip', '192.0.2.1 - 192.0.2.9')).toEqual(['/a']);
    expect(await by('type', 'Googlebot')).toEqual([]);
    const answer = await unknown({ filters: filter('code', 403) });
    expect(pages(await unknown({ filters: { ...answer.filters } }))).toEqual(['/wp-config.php.bak']);
    const code = answer.filters.find(({ wp_name }) => wp_name === 'code')?.children[0];
    expect(code?.value).toBe(403);
    expect(code?.options.map(({ value }) => value).sort()).toEqual([200, 403]);
  });

  it('loads more without gaps or repeats while visitors come, by page alone and by cursor', async () => {
    const { visit, unknown, logged } = await activitySite();
    for (let page = 1; page <= 65; page++) await visit(`/page-${page}`);
    await logged(65);
    const first = await unknown();
    expect([first.entries.length, first.pages, first.total]).toEqual([30, 3, 65]);
    for (let page = 66; page <= 80; page++) await visit(`/page-${page}`);
    await eventually(async () => (await unknown({ limitedView: 1 })).entries[0]?.page_visited === '/page-80');
    const wanted = Array.from({ length: 35 }, (_, index) => `/page-${35 - index}`);
    expect([...pages(await unknown({ page: 2 })), ...pages(await unknown({ page: 3 }))]).toEqual(wanted);
    const second = await unknown({ cursor: first.cursor });
    const third = await unknown({ cursor: second.cursor });
    expect([...pages(second), ...pages(third)]).toEqual(wanted);
    expect([second.page, third.page, third.cursor]).toEqual([2, 3, null]);
  });

  it('says how many rows are new, and searches choices on the server', async () => {
    const { visit, unknown, call, logged } = await activitySite();
    await visit('/a');
    await logged(1);
    const [newest] = (await unknown()).entries;
    const news = (filters?: object) => call('/activity-new', { list: 'unknown', since: newest?.id, filters });
    expect(await news()).toEqual({ count: 0 });
    await visit('/b', { address: '203.0.113.5' });
    await logged(2);
    expect(await news()).toEqual({ count: 1 });
    expect(await news(filter('ip', '192.0.2.1'))).toEqual({ count: 0 });
    const found = await call<{ options: { value: string }[] }>('/activity-options', {
      list: 'unknown',
      filter: 'ip',
      search: '203.0.113',
    });
    expect(found.options.map(({ value }) => value)).toEqual(['203.0.113.5']);
  });

  it('is summed up in bars that show the same visits', async () => {
    const { visit, call, logged } = await activitySite();
    await visit('/a');
    await visit('/wp-config.php.bak');
    await visit('/b', { agent: 'curl/8.0' });
    await logged(3);
    const days = await call<Traffic>('/activity-traffic');
    expect(days).toMatchObject({ step: 'day', humans: 1, bots: 1, blocked: 1 });
    expect(days.bars).toHaveLength(12);
    const now = Math.floor(Date.now() / 1000);
    expect(await call('/activity-traffic', { from: now - 7200, to: now + 60 })).toMatchObject({
      step: 'hour',
      humans: 1,
    });
  });
});

describe('the list of registered users', () => {
  it('holds what WordPress reports and what was changed here, in words', async () => {
    const { report, visit, call, registered, noted } = await activitySite();
    report(event('user.role', { name: 'editor-1' }, 'Editor', 'Administrator'));
    await visit('/wp-admin/users.php');
    await call('/disable-feeds', { disable_feed: 1 });
    await noted(2);
    const { entries, filters } = await registered();
    expect(entries.map(({ user, activity }) => [user, activity]).sort()).toEqual([
      ['editor', 'Changed the role of “editor-1” from Editor to Administrator'],
      ['owner', 'Changed Disable RSS and ATOM Feeds in Security Optimizer from Off to On'],
    ]);
    const mine = entries.find(({ user }) => user === 'owner');
    expect(mine).toMatchObject({ you: 1, actions: 'product.setting', do_not_block: 1, ip: '127.0.0.1' });
    const byUser = await registered({ filters: filter('user', mine?.visitor_id) });
    expect(byUser.entries.map(({ user }) => user)).toEqual(['owner']);
    const byActivity = await registered({ filters: filter('activity', 'user.role') });
    expect(byActivity.entries.map(({ user }) => user)).toEqual(['editor']);
    const options = filters.find(({ wp_name }) => wp_name === 'activity')?.children[0]?.options;
    expect(options?.map(({ label }) => label).sort()).toEqual(['Role changed', 'Security setting changed']);
  });

  it('is filled promptly when an answer says that there are events', async () => {
    const { connector, report, visit, registered } = await activitySite();
    await eventually(() => connector.drains.length > 0);
    report(event('login'));
    const began = Date.now();
    await visit('/wp-admin/');
    await eventually(async () => (await registered()).total === 1);
    expect(Date.now() - began).toBeLessThan(4000);
    expect(connector.outbox).toEqual([]);
  });
});

describe('the settings of the log', () => {
  it('are answered with the page’s options, with their defaults first', async () => {
    const { call } = await activitySite();
    const options = await call<{ log_lifetime: { value: number; label: string; selected: number }[] }>(
      '/fetch-options',
      {
        page: 'activity',
      },
    );
    expect(options).toMatchObject({ disable_activity_log: 0, anonymize_addresses: 0, dropped: 0 });
    expect(options.log_lifetime.map(({ value }) => value)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(options.log_lifetime.filter(({ selected }) => selected === 1)).toEqual([
      { value: 12, label: '12 days', selected: 1 },
    ]);
  });

  it('say that weekly reports stop when fewer than 8 days are kept', async () => {
    const { send } = await activitySite();
    const lifetime = async (log_lifetime: unknown) => (await send('/activity-log-lifetime', { log_lifetime })).body;
    expect((await lifetime('7')).message).toMatch(/No weekly reports .* fewer than 8 days/);
    const { message, data } = await lifetime(8);
    expect(message).toBe('The activity log is kept for 8 days.');
    expect((data as { log_lifetime: object[] }).log_lifetime[7]).toEqual({ value: 8, label: '8 days', selected: 1 });
  });

  it('switch the log off at once, inside WordPress too, and on again', async () => {
    const { connector, call, send, visit, unknown, registered, logged, noted } = await activitySite();
    await visit('/before');
    await logged(1);
    const off = await send('/manage-activity-log', { disable_activity_log: 1 });
    expect(off.body).toMatchObject({ status: 200, data: { disable_activity_log: 1 } });
    expect(connector.policy?.policy.activity_events).toBe(0);
    await visit('/while-off');
    await call('/disable-feeds', { disable_feed: 1 });
    await call('/manage-activity-log', { disable_activity_log: 0 });
    await visit('/after');
    await logged(2);
    await noted(2);
    expect(connector.policy?.policy.activity_events).toBe(1);
    expect(pages(await unknown())).toEqual(['/after', '/before']);
    expect((await registered()).entries.map(({ activity }) => activity)).toEqual([
      'Changed Activity log in Security Optimizer from Off to On',
      'Changed Activity log in Security Optimizer from On to Off',
    ]);
  });

  it('shorten addresses before anything is written, of visits and of events', async () => {
    const { report, call, visit, unknown, registered, noted, logged } = await activitySite();
    await call('/anonymize-addresses', { anonymize_addresses: 1 });
    report(event('login'));
    await visit('/a', { address: '192.0.2.77' });
    await visit('/b', { address: '2001:db8:1:2:3:4:5:6' });
    await logged(2);
    await noted(2);
    expect((await unknown()).entries.map(({ ip }) => ip)).toEqual(['2001:db8:1::', '192.0.2.0']);
    const [login] = (await registered({ filters: filter('activity', 'login') })).entries;
    expect(login?.ip).toBe('198.51.100.0');
  });
});

describe('an export', () => {
  it('is a file of what the filters match, in the hands of nobody but an administrator', async () => {
    const { guard, visit, logged } = await activitySite();
    await visit('/a');
    await visit('/b', { address: '198.51.100.7' });
    await logged(2);
    const get = (query: string) =>
      fetch(`${guard.url}/wp-json/security-optimizer/v1/activity-export?${query}`, {
        headers: { cookie: 'session=owner', 'user-agent': BROWSER },
      });
    const csv = await get('list=unknown&ip=198.51.100.0/24&_wpnonce=owner-nonce');
    expect(csv.status).toBe(200);
    expect(csv.headers.get('content-type')).toMatch(/^text\/csv; charset=utf-8/);
    expect(csv.headers.get('content-disposition')).toMatch(
      /^attachment; filename="activity-unknown-\d{4}-\d\d-\d\d\.csv"$/,
    );
    expect([csv.headers.get('x-content-type-options'), csv.headers.get('cache-control')]).toEqual([
      'nosniff',
      'no-store',
    ]);
    const lines = (await csv.text()).split('\r\n');
    expect([lines.length, lines[1]?.includes('"198.51.100.7"')]).toEqual([3, true]);
    const json = await get('list=unknown&format=json&_wpnonce=owner-nonce');
    expect(((await json.json()) as { page_visited: string }[]).map((row) => row.page_visited)).toEqual(['/b', '/a']);
    expect(((await (await get('list=unknown')).json()) as { code: string }).code).toBe('rest_cookie_invalid_nonce');
  });

  it('is refused with the envelope for filters that can’t be read', async () => {
    const { send } = await activitySite();
    const answer = await send('/activity-export?list=unknown&ip=x;y', undefined, { method: 'GET' });
    expect(answer.body).toMatchObject({
      data: null,
      code: 'invalid_input',
      status: 400,
      fields: { ip: 'Invalid format.' },
    });
    expect((await send('/activity-export?list=unknown', undefined, { method: 'POST' })).http).toBe(404);
  });
});

function event(
  kind: string,
  object: { name?: string } = {},
  before: string | null = null,
  after: string | null = null,
) {
  return {
    uid: Math.random().toString(16).slice(2).padEnd(32, '0').slice(0, 32),
    at: Math.floor(Date.now() / 1000),
    kind,
    user: { id: 2, login: 'editor' },
    address: '198.51.100.77',
    origin: 'web',
    object: { type: 'post', id: '1', name: object.name ?? 'Hello' },
    before,
    after,
  };
}
