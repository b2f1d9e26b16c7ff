import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { activitySite } from '../../test/support/activity-site.js';
import { dnsServer } from '../../test/support/dns-server.js';
import { eventually } from '../../test/support/scratch.js';
import type { VisitorStatus } from './blocklist/visitor-status.js';

const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

describe('a crawler', () => {
  it('is listed as unverified unless DNS confirms it; a confirmed one is named and can’t be blocked', async () => {
    const dns = await dnsServer();
    dns.records.set('PTR 7.2.0.192.in-addr.arpa', ['crawl-192-0-2-7.googlebot.com']);
    dns.records.set('A crawl-192-0-2-7.googlebot.com', ['192.0.2.7']);
    dns.records.set('PTR 8.2.0.192.in-addr.arpa', ['crawl-192-0-2-7.googlebot.com']);
    const site = await activitySite({ activity: { dns: [dns.address] } });
    await site.visit('/first', { address: '192.0.2.7', agent: GOOGLEBOT });
    await site.visit('/first', { address: '192.0.2.8', agent: GOOGLEBOT });
    await eventually(async () => (await site.unknown()).entries.filter(({ hostname }) => hostname !== '').length === 2);
    await site.visit('/second', { address: '192.0.2.7', agent: GOOGLEBOT });
    await site.visit('/second', { address: '192.0.2.8', agent: GOOGLEBOT });
    await site.logged(4);
    const { entries } = await site.unknown();
    // DNS may have responded before the first visit was stored.
    const second = entries.filter((row) => row.page_visited === '/second');
    const rows = second.map((row) => [row.page_visited, row.ip, row.type, row.do_not_block]);
    expect(rows.sort()).toEqual([
      ['/second', '192.0.2.7', 'Googlebot', 1],
      ['/second', '192.0.2.8', 'Unverified bot', 0],
    ]);
    const id = (ip: string) => entries.find((row) => row.ip === ip)?.visitor_id;
    const refused = await site.send(`/block-ip/${id('192.0.2.7')}`, { block: 1 });
    expect([refused.http, refused.body.code]).toEqual([400, 'must_not_be_blocked']);
    expect(await site.call<VisitorStatus>(`/get-visitor-status/${id('192.0.2.7')}`)).toMatchObject({
      block: 0,
      do_not_block: 1,
      hostname: 'crawl-192-0-2-7.googlebot.com',
      reason: 'This is a crawler of Google. Blocking it would take your site out of its search results.',
      visits_today: 2,
    });
    expect(await site.call(`/block-ip/${id('192.0.2.8')}`, { block: 1 })).toMatchObject({ block: 1 });
    const range = await site.send('/block-addresses', { address: '192.0.2.6/31' });
    expect([range.http, range.body.message]).toEqual([
      400,
      'A crawler of Google is in this range. Blocking it would take your site out of its search results.',
    ]);
    expect((await site.send('/block-addresses', { address: '192.0.2.8/31' })).http).toBe(200);
  });
});

describe('a crawler that was blocked before DNS proved it', () => {
  it('can be unblocked', async () => {
    const dns = await dnsServer();
    dns.records.set('PTR 7.2.0.192.in-addr.arpa', ['crawl-192-0-2-7.googlebot.com']);
    dns.records.set('A crawl-192-0-2-7.googlebot.com', ['192.0.2.7']);
    const site = await activitySite({ activity: { dns: [dns.address] } });
    await site.call('/block-addresses', { address: '192.0.2.7-192.0.2.9' });
    await site.visit('/', { address: '192.0.2.7', agent: GOOGLEBOT });
    await eventually(async () => (await site.unknown()).entries.some(({ hostname }) => hostname !== ''));
    const [row] = (await site.unknown()).entries;
    expect([row?.block, row?.do_not_block]).toEqual([1, 0]);
    expect(await site.call(`/get-visitor-status/${row?.visitor_id}`)).toMatchObject({ block: 1, do_not_block: 0 });
  });
});

describe('the Activity Log', () => {
  it('contains the last visits before guard was stopped', async () => {
    const site = await activitySite();
    for (let i = 0; i < 50; i++) await site.visit(`/page-${i}`);
    await site.restart();
    expect((await site.unknown()).total).toBe(50);
  });

  it('records nothing while it is off, and visits again once it is on', async () => {
    const site = await activitySite();
    await site.visit('/before');
    await site.logged(1);
    await site.call('/manage-activity-log', { disable_activity_log: 1 });
    await site.visit('/meanwhile');
    await site.call('/manage-activity-log', { disable_activity_log: 0 });
    await site.visit('/after');
    await site.logged(2);
    expect((await site.unknown()).entries.map((row) => row.page_visited)).toEqual(['/after', '/before']);
  });

  it('lists refused requests with the rule, and repeats with their count', async () => {
    const site = await activitySite();
    for (let i = 0; i < 30; i++) await site.visit('/xmlrpc.php', { address: '192.0.2.66' });
    let rows: { rule: string | null; count: number; response: string }[] = [];
    await eventually(async () => {
      rows = (await site.unknown()).entries.filter(({ ip }) => ip === '192.0.2.66');
      return rows.reduce((sum, { count }) => sum + count, 0) === 30;
    });
    expect(rows.length).toBeLessThanOrEqual(4);
    expect(rows[0]).toMatchObject({ rule: 'xml-rpc', response: '403 Blocked' });
  });

  it('folds a flood of refused requests; list, chart and export contain their number', async () => {
    const site = await activitySite();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    onTestFinished(() => clock.mockRestore());
    for (let sent = 0; sent < 600; sent += 50) {
      const visits = Array.from({ length: 50 }, (_, index) => sent + index);
      await Promise.all(visits.map((at) => site.visit(`/xmlrpc.php?try=${at}`, { address: `203.0.113.${at % 250}` })));
    }
    clock.mockRestore();
    await eventually(async () => ((await site.unknown()).total ?? 0) > 200);
    const { total, entries } = await site.unknown();
    expect(total).toBe(200 + 32 + 1);
    expect(entries[0]).toMatchObject({ rule: 'xml-rpc', count: 1, more_from: '203.0.113.0/24' });
    const traffic = await site.call<{ blocked: number }>('/activity-traffic', {});
    expect(traffic.blocked).toBe(600);
    const exported = await site.send('/activity-export?list=unknown&format=json', undefined, { method: 'GET' });
    const rows = exported.body as unknown as { count: number; more: number }[];
    expect(rows.reduce((sum, { count, more }) => sum + count + more, 0)).toBe(600);
  });
});
