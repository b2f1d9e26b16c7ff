import { activityEndpoints } from '@security-optimizer/contract/activity/endpoints';
import { describe, expect, it } from 'vitest';
import { activitySite, BROWSER, filter, pages } from '../../test/support/activity-site.js';
import { fakeEvent } from '../../test/support/fake-connector.js';

describe('the endpoints of the page Activity Log', () => {
  it('respond as the contract defines', async () => {
    const { visit, call, logged, report, noted } = await activitySite();
    report(fakeEvent());
    await visit('/one');
    await logged(1);
    await noted(1);
    const bodies: Record<string, object> = {
      '/activity-options': { list: 'unknown', filter: 'type' },
      '/activity-new': { list: 'registered', since: 0 },
      '/activity-log-lifetime-preview': { log_lifetime: 5 },
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

  it('accept GET for reading, with the filters as JSON text', async () => {
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

  it('parse the filters of a GET as PHP does, too, and refuse those that they can’t parse', async () => {
    const { visit, send, logged } = await activitySite();
    await visit('/here');
    await visit('/nowhere', { address: '192.0.2.2' });
    await logged(2);
    const child = 'filters[0][children][0]';
    const chosen = `filters[0][wp_name]=ip&${child}[id]=ip&${child}[selectedValue]=`;
    for (const query of [`${chosen}192.0.2.2`, encodeURI(`${chosen}192.0.2.2`).replaceAll('[', '%5B')]) {
      const { body } = await send(`/activity-unknown?${query}`, undefined, { method: 'GET' });
      expect(pages(body.data)).toEqual(['/nowhere']);
    }
    const faulty = await send(`/activity-unknown?${chosen}x`, undefined, { method: 'GET' });
    expect([faulty.http, faulty.body.fields]).toEqual([400, { ip: 'Invalid format. Check “x”.' }]);
    const nameless = await send(`/activity-unknown?${child}[id]=ip`, undefined, { method: 'GET' });
    expect([nameless.http, Object.keys(nameless.body.fields ?? {})]).toEqual([400, ['filters']]);
  });

  it.each([
    ['/activity-unknown', { page: 0 }, { page: 'Use a page number from 1.' }],
    ['/activity-unknown', { page: 1e15 }, { page: 'Use a page number from 1.' }],
    ['/activity-unknown', { page: 1.5 }, { page: 'Use a page number from 1.' }],
    ['/activity-unknown', { page: [1] }, { page: 'Use a page number from 1.' }],
    ['/activity-unknown', { page: true }, { page: 'Use a page number from 1.' }],
    ['/activity-traffic', { from: [1] }, { from: 'Invalid format.' }],
    ['/activity-new', { list: 'unknown', since: true }, { since: 'Invalid format.' }],
    ['/activity-unknown', { limitedView: 2 }, { limitedView: 'Use 0 or 1.' }],
    ['/activity-unknown', { filters: filter('ip', 'x') }, { ip: 'Invalid format. Check “x”.' }],
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
    ['/log-own-cron', { log_own_cron: 2 }, { log_own_cron: 'Use 0 or 1.' }],
    ['/fetch-options', { page: 'log' }, { page: 'Use security, login or activity.' }],
  ])('%s refuses %j and names the field', async (suffix, body, fields) => {
    const { send } = await activitySite();
    const response = await send(suffix, body);
    expect([response.http, response.body.code, response.body.fields]).toEqual([400, 'invalid_input', fields]);
  });

  it('are available to administrators of this site only', async () => {
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

describe('the settings of the log', () => {
  it('are in the options of the page, with their defaults at first', async () => {
    const { call } = await activitySite();
    const options = await call<{ log_lifetime: { value: number; label: string; selected: number }[] }>(
      '/fetch-options',
      {
        page: 'activity',
      },
    );
    expect(options).toMatchObject({ disable_activity_log: 0, anonymize_addresses: 0, log_own_cron: 0, dropped: 0 });
    expect(options.log_lifetime.map(({ value }) => value)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(options.log_lifetime.filter(({ selected }) => selected === 1)).toEqual([
      { value: 12, label: '12 days', selected: 1 },
    ]);
  });

  it('warn that weekly reports stop when fewer than 8 days are kept', async () => {
    const { send } = await activitySite();
    const lifetime = async (log_lifetime: unknown) => (await send('/activity-log-lifetime', { log_lifetime })).body;
    expect((await lifetime('7')).message).toMatch(/No weekly reports .* fewer than 8 days/);
    const { message, data } = await lifetime(8);
    expect(message).toBe('The activity log is kept for 8 days.');
    expect((data as { log_lifetime: object[] }).log_lifetime[7]).toEqual({ value: 8, label: '8 days', selected: 1 });
  });

  it('return how many entries fewer days would delete, without a change', async () => {
    const { call, send, visit, report, logged, noted } = await activitySite();
    const daysAgo = (days: number) => Math.floor(Date.now() / 1000) - days * 86_400 - 60;
    for (const days of [0, 3, 5, 9]) report(fakeEvent({ at: daysAgo(days) }));
    await visit('/today');
    await logged(1);
    await noted(4);
    const preview = (log_lifetime: unknown) => call('/activity-log-lifetime-preview', { log_lifetime });
    expect(await preview(12)).toEqual({ visits: 0, events: 0, exact: 1 });
    expect(await preview('5')).toEqual({ visits: 0, events: 2, exact: 1 });
    expect(await preview(1)).toEqual({ visits: 0, events: 3, exact: 1 });
    expect((await send('/activity-log-lifetime-preview', { log_lifetime: 0 })).body.fields).toEqual({
      log_lifetime: 'Use 1 to 12 days.',
    });
    expect(await call('/fetch-options', { page: 'activity' })).toMatchObject({
      log_lifetime: expect.arrayContaining([{ value: 12, label: '12 days', selected: 1 }]),
    });
  });

  it('keep the entries that fewer days would delete for a minute, so that the change can be undone', async () => {
    const { call, report, visit, registered, noted } = await activitySite();
    const at = Math.floor(Date.now() / 1000) - 5 * 86_400;
    report(fakeEvent({ at }));
    // The response signals the event to guard; without one guard would drain it half a minute later.
    await visit('/');
    await noted(1);
    const undo = async () =>
      (await call<{ log_lifetime_undo: unknown }>('/fetch-options', { page: 'activity' })).log_lifetime_undo;
    expect(await undo()).toBeNull();
    await call('/activity-log-lifetime', { log_lifetime: 9 });
    expect(await undo()).toEqual({ days: 12, seconds: expect.any(Number), deletes: 0 });
    await call('/activity-log-lifetime', { log_lifetime: 2 });
    // The changes themselves become entries some time later.
    expect((await registered()).entries.map(({ ts_unix }) => ts_unix)).toContain(at);
    expect(await undo()).toEqual({ days: 9, seconds: expect.any(Number), deletes: 1 });
    await call('/activity-log-lifetime', { log_lifetime: 12 });
    expect(await undo()).toBeNull();
    expect(await call('/activity-log-lifetime-preview', { log_lifetime: 12 })).toMatchObject({ events: 0 });
  });

  it('switch the log off at once, inside WordPress, too, and on again', async () => {
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
      'Turned on “Activity log” in Security Optimizer',
      'Turned off “Activity log” in Security Optimizer',
    ]);
  });

  it('anonymise addresses before anything is stored, of visits and of events', async () => {
    const { report, call, visit, unknown, registered, noted, logged } = await activitySite();
    await call('/anonymize-addresses', { anonymize_addresses: 1 });
    report(fakeEvent({ kind: 'login' }));
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
  it('contains the rows that match the filters, and is available to administrators only', async () => {
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

  it('is refused with the envelope for invalid filters', async () => {
    const { send } = await activitySite();
    const response = await send('/activity-export?list=unknown&ip=x;y', undefined, { method: 'GET' });
    expect(response.body).toMatchObject({
      data: null,
      code: 'invalid_input',
      status: 400,
      fields: { ip: 'Invalid format. Check “x”.' },
    });
    expect((await send('/activity-export?list=unknown', undefined, { method: 'POST' })).http).toBe(404);
  });
});
