import { describe, expect, it } from 'vitest';
import { mailElements } from '../../test/support/mail-elements.js';
import {
  REPORT_AT as AT,
  reportFacts as facts,
  reportSite as site,
  REPORT_ZONE as ZONE,
} from '../../test/support/report-facts.js';
import { english } from '../i18n/language.js';
import { buildReport, formatComparison } from './build-report.js';
import { reportText } from './make-report.js';
import { renderReport } from './render-report.js';
import { getLastWeek, getWeekToDate } from './report-facts.js';

const log = 'https://example.com/wp-admin/admin.php?page=activity-log';
const days = 'log_from=1794178800&log_to=1794783599';

describe('the texts of a weekly report', () => {
  it('link each page to the visits of exactly this page', () => {
    const pages = ['/', '/shop/', '/%d7%a9/'].map((value) => ({ value, count: 3 }));
    const { lists } = buildReport({ ...facts, pages }, site);
    const rows = lists.find(({ title }) => title === 'Pages visited most')?.rows ?? [];
    // Visitors choose the paths, so a mail has no link for unusual ones.
    expect(rows.map(({ link }) => link)).toEqual([
      `${log}&log_search=%22%2F%22&${days}`,
      `${log}&log_search=%22%2Fshop%2F%22&${days}`,
      null,
    ]);
  });

  it('name the week, the verdict, and the comparison with the week before', () => {
    const report = buildReport(facts, site);
    expect(report.subject).toBe('Weekly report for example.com, 9 – 15 November');
    expect(report.headline).toBe('A quiet week for example.com');
    expect(report.summary).toBe('221 visits and login attempts were blocked. You don’t need to do anything urgent.');
    expect(report.figures).toEqual([
      {
        label: 'Visits by humans',
        value: '4,292',
        compared: '6% more than last week',
        link: `${log}&log_show=humans&${days}`,
      },
      {
        label: 'Visits by bots',
        value: '2,067',
        compared: '2% fewer than last week',
        link: `${log}&log_show=bots&${days}`,
      },
      {
        label: 'Failed logins',
        value: '91',
        compared: '7 more than last week',
        link: `${log}&log_show=failed-logins&${days}`,
      },
      {
        label: 'Blocked visits',
        value: '221',
        compared: '1% more than last week',
        link: `${log}&log_show=blocked&${days}`,
      },
    ]);
    expect(report.days.map(({ name, humans }) => [name, humans])).toEqual([
      ['Mon', 100],
      ['Tue', 0],
      ['Wed', 0],
      ['Thu', 0],
      ['Fri', 0],
      ['Sat', 0],
      ['Sun', 4],
    ]);
    expect(report.tasks).toEqual([
      {
        title: '2 of 3 essentials are still off',
        text: 'Custom Login URL, Disable XML-RPC',
        button: 'Finish the set-up',
        link: 'https://example.com/wp-admin/admin.php?page=login-settings',
        urgent: false,
        kind: 'set-up',
      },
    ]);
  });

  it('count an essential that is on but not complete, as the dashboard does', () => {
    const twoFactor = {
      page: 'login-settings',
      title: 'Two-factor Authentication',
      on: true,
      complete: false,
    } as const;
    const feeds = { page: 'site-security', title: 'Disable RSS and ATOM Feeds', on: false, complete: false } as const;
    const task = (...essentials: (typeof twoFactor | typeof feeds)[]) =>
      buildReport(facts, { ...site, essentials }).tasks[0];
    expect(task(feeds, twoFactor)).toMatchObject({
      title: '2 of 2 essentials are off or not complete',
      text: 'Two-factor Authentication, Disable RSS and ATOM Feeds',
    });
    expect(task(twoFactor)?.title).toBe('1 of 1 essentials is not complete');
    expect(task(feeds)?.title).toBe('1 of 1 essentials is still off');
  });

  it('count changes by users as changes, but not logins', () => {
    const list = buildReport(facts, site).lists.find(({ title }) => title === 'What your users changed');
    expect(list).toEqual({
      title: 'What your users changed',
      mono: false,
      rows: [
        {
          name: 'Content updated',
          value: '7',
          link: `${log}&log_tab=registered&${days}&log_activity=post.updated#registered`,
        },
        {
          name: 'User created',
          value: '1',
          link: `${log}&log_tab=registered&${days}&log_activity=user.created#registered`,
        },
      ],
      footer: '8 changes in all. 5 more than last week.',
    });
  });

  it('say that nothing was recorded, and then contain neither lists nor chart', () => {
    const nothing = { humans: 0, bots: 0, refused: 0, failedLogins: 0, events: [] };
    const logins = { attempts: 0, addresses: 0, locked: 0, succeeded: [] };
    const empty = buildReport(
      { ...facts, now: nothing, before: null, logins, hours: [], addresses: [], pages: [] },
      site,
    );
    expect(empty.headline).toBe('Nothing was recorded for example.com');
    expect(empty.lists).toEqual([]);
    expect(renderReport(empty)).not.toContain('Day by day');
  });

  it.each([
    [5, null, ''],
    [5, 5, 'Same as last week'],
    [0, 12, '12 fewer than last week'],
    [12, 0, '12 more than last week'],
    [201, 200, '1% more than last week'],
    [1001, 1000, 'About the same as last week'],
    [250_000, 1000, '250 times as many as last week'],
  ])('compare %d with %s as "%s"', (now, before, words) => {
    expect(formatComparison(english, now, before)).toBe(words);
  });
});

describe('the days of a report', () => {
  it('are the seven whole days before the day of sending, also when the clocks change', () => {
    const { edges, before, soFar } = getLastWeek(ZONE, Date.UTC(2026, 9, 26, 9) / 1000);
    const lengths = edges.slice(1).map((edge, index) => (edge - (edges[index] as number)) / 3600);
    expect(lengths).toEqual([24, 24, 24, 24, 24, 24, 25]);
    expect([before.to, (before.to - before.from) / 3600, soFar]).toEqual([edges[0], 168, false]);
  });

  it('of an example end now, and are compared with the same part of the week before', () => {
    const { edges, before, soFar } = getWeekToDate(ZONE, AT);
    expect([edges.length, edges.at(-1), soFar]).toEqual([8, AT + 1, true]);
    expect(AT - (edges[0] as number)).toBe(before.to - before.from);
    expect(before.to).toBe(AT - 7 * 86_400);
  });
});

describe('the mail of a report', () => {
  const hostile = buildReport(
    {
      ...facts,
      addresses: [{ value: '<img src=x onerror=alert(1)>', count: 3 }],
      pages: [
        { value: '/<script>alert(1)</script>"onmouseover=x', count: 4 },
        { value: '/https://evil.example/', count: 3 },
        { value: '/\u202egnp.\u0000exe', count: 2 },
        { value: `/${'a'.repeat(5000)}`, count: 1 },
      ],
      now: { ...facts.now, events: [{ kind: '<b>unknown</b>', count: 3 }] },
    },
    { ...site, name: 'example.com/"><script>' },
  );
  const html = renderReport(hostile);

  it('contains text of anonymous clients as plain text', () => {
    expect(/<script|<img|<b>|onerror=alert\(1\)>/.test(html)).toBe(false);
    expect(html.includes('&lt;script&gt;')).toBe(true);
    expect(html.includes('&lt;img src=x onerror=alert(1)&gt;')).toBe(true);
    for (const sign of ['\u202e', '\u0000']) expect(html.includes(sign)).toBe(false);
    expect(html.includes('\\u202e')).toBe(true);
  });

  it('truncates long text, and contains nothing that a mail client could turn into a link', () => {
    expect(html.includes('a'.repeat(70))).toBe(false);
    for (const text of [html, reportText(hostile)]) expect(text.includes('evil.example')).toBe(false);
    expect(html.includes('evil.\u200bexample')).toBe(true);
  });

  it('has one button, for the most urgent task', () => {
    const logins = { attempts: 12, addresses: 1, locked: 1, succeeded: [{ address: '203.0.113.9', failed: 12 }] };
    const report = buildReport({ ...facts, logins }, site);
    expect(report.tasks.map(({ button, urgent }) => [button, urgent])).toEqual([
      ['See who logged in', true],
      ['Finish the set-up', false],
    ]);
    const buttons = mailElements(renderReport(report)).filter(({ attributes }) => attributes.class === 'button');
    expect(buttons.map(({ attributes }) => attributes.href)).toEqual([
      `${log}&log_tab=registered&${days}&log_activity=login#registered`,
    ]);
    expect(reportText(report)).toContain(`See who logged in: ${log}&log_tab=registered`);
  });

  it('puts the task of its headline before the figures', () => {
    const logins = { attempts: 21, addresses: 3, locked: 3, succeeded: [] };
    const report = buildReport({ ...facts, logins }, site);
    expect(report.headline).toBe('Turn on “Custom Login URL” for example.com');
    const text = reportText(report);
    expect(text.indexOf('2 of 3 essentials are still off')).toBeLessThan(text.indexOf('Visits by humans'));
    expect(text.split('21 attempts from 3 addresses, 3 locked, nobody got in.')).toHaveLength(2);
  });

  it('loads no external resources and links only to the site', () => {
    expect(/<[^>]*\ssrc=|url\(|@import|<link|<form/.test(html)).toBe(false);
    const links = [...html.matchAll(/href="([^"]*)"/g)].map((match) => match[1]);
    expect(links.length).toBeGreaterThan(2);
    for (const link of links) expect(link).toMatch(/^https:\/\/example\.com\/wp-admin\//);
  });

  it('has the same content as text', () => {
    const text = reportText(buildReport(facts, site));
    expect(text).toContain('A quiet week for example.com\n9 – 15 November\n');
    expect(text).toContain('Visits by humans: 4,292 (6% more than last week)');
    expect(text).toContain('Mon: 100 humans, 50 bots, 10 blocked');
    expect(text).toContain('- 203.0.113.24: 41 failed logins');
    expect(text).toContain('Change the recipients: https://example.com/wp-admin/');
  });

  it('has no links while the URL of the site is unknown', () => {
    expect(renderReport(buildReport(facts, { ...site, adminUrl: () => null }))).not.toContain('href');
  });
});
