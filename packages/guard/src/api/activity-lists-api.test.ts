import { describe, expect, it } from 'vitest';
import { activitySite, filter, pages, type Traffic } from '../../test/support/activity-site.js';
import { fakeEvent } from '../../test/support/fake-connector.js';
import { eventually } from '../../test/support/scratch.js';

describe('the list of anonymous clients’ visits', () => {
  it('contains client, request and response, newest first', async () => {
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

  it('is filtered by type, response, address and range, and returns the applied choices', async () => {
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
    const response = await unknown({ filters: filter('code', 403) });
    expect(pages(await unknown({ filters: { ...response.filters } }))).toEqual(['/wp-config.php.bak']);
    const code = response.filters.find(({ wp_name }) => wp_name === 'code')?.children[0];
    expect(code?.value).toBe(403);
    expect(code?.options.map(({ value }) => value).sort()).toEqual([200, 403]);
  });

  it('loads more without gaps or repeats while visits are added, by page alone and by cursor', async () => {
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

  it('counts new rows, and searches choices on the server', async () => {
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

  it('has a chart that counts the same visits', async () => {
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
  it('contains events of WordPress and changes in this product as sentences', async () => {
    const { report, visit, call, registered, noted } = await activitySite();
    report(
      fakeEvent({
        kind: 'user.role',
        object: { type: 'user', id: '3', name: 'editor-1' },
        before: 'Editor',
        after: 'Administrator',
      }),
    );
    await visit('/wp-admin/users.php');
    await call('/disable-feeds', { disable_feed: 1 });
    await noted(2);
    const { entries, filters } = await registered();
    expect(entries.map(({ user, activity }) => [user, activity]).sort()).toEqual([
      ['editor', 'Changed the role of “editor-1” from Editor to Administrator'],
      ['owner', 'Turned on “Disable RSS and ATOM Feeds” in Security Optimizer'],
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

  it('is filled promptly when a response signals events', async () => {
    const { connector, report, visit, registered } = await activitySite();
    await eventually(() => connector.drains.length > 0);
    report(fakeEvent({ kind: 'login' }));
    const began = Date.now();
    await visit('/wp-admin/');
    await eventually(async () => (await registered()).total === 1);
    // Without the signal the event would be drained by the next round, half a minute later.
    expect(Date.now() - began).toBeLessThan(20_000);
    // WordPress deletes them once they are stored here.
    await eventually(() => connector.outbox.length === 0);
  });
});
