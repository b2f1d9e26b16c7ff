import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { freshLog, visit } from '../../../test/fake-site/activity-log.js';
import { ok, refused } from '../../../test/fake-site/server.js';
import { type FakeSite, gate, startFakeSite, toOptions, toPage } from '../../../test/fake-site/site.js';
import { choose, openLog, tableTexts } from '../../../test/pages/activity-log.js';
import { toastTexts } from '../../../test/pages/open-page.js';

const TABLE = 'Unknown Visitors Activity';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});
afterEach(() => void vi.restoreAllMocks());

const rowsShown = () => within(screen.getByRole('table', { name: TABLE })).getAllByRole('row').length - 1;

describe('the list of unknown visitors', () => {
  it('shows five placeholder rows first, then the visits, newest first', async () => {
    const held = gate();
    site.replies.set('/activity-unknown', async () => {
      await held.opened;
      return ok({ entries: freshLog().unknown, filters: [], page: 1, pages: 1 });
    });
    await openLog(site);
    expect(document.querySelectorAll('.so-table--sk tbody tr')).toHaveLength(5);
    held.open();
    expect(await tableTexts(TABLE)).toEqual([
      ['Time', 'Visitor', 'IP address', 'Page visited', 'Response', 'Actions'],
      ['14:32:08 21 Nov', 'Human', '203.0.113.24host-24.example.net', '/ XML-RPC is off', '403 Blocked', ''],
      ['14:32:08 21 Nov', 'Googlebot', '192.0.2.66', '/', '200', ''],
      ['14:32:08 21 Nov', 'Unknown', '198.51.100.140', '/.env× 1212 times', '404', ''],
    ]);
  });

  it('is fetched once, although the site’s time zone arrives later', async () => {
    const held = gate();
    Object.assign(site.login.away_mode, { timezone: 'Pacific/Auckland' });
    site.replies.set('/fetch-options', async (call) => {
      if (toPage(call) === 'login') await held.opened;
      return ok(toOptions(site, toPage(call)));
    });
    await openLog(site);
    await tableTexts(TABLE);
    held.open();
    await waitFor(() => expect(document.querySelector('.so-status')).not.toBeNull());
    expect(document.querySelector('.so-table--sk')).toBeNull();
    expect(site.calls('/activity-unknown')).toHaveLength(1);
  });

  it('shows in the row of a flood the number of similar visits and their origin', async () => {
    const refusal = { page_visited: '/xmlrpc.php?try=1', code: 403, rule: 'xml-rpc', ip: '203.0.113.24' };
    site.log.unknown = [
      visit(3, { ...refusal, more: 9500, more_from: '203.0.113.24', count: 2 }),
      visit(2, { ...refusal, more: 9500, more_from: '203.0.113.0/24' }),
      visit(1, { ...refusal, more: 9500, more_from: null }),
    ];
    await openLog(site);
    expect((await tableTexts(TABLE)).slice(1).map((row) => row[3])).toEqual([
      '/xmlrpc.php?try=1× 22 times XML-RPC is offand 9,500 more like this',
      '/xmlrpc.php?try=1 XML-RPC is offand 9,500 more like this from 203.0.113.0/24',
      '/xmlrpc.php?try=1 XML-RPC is offand 9,500 more like this from other addresses',
    ]);
  });

  it('shows what a scan looks for beside its path, and the reason of a refusal instead', async () => {
    site.log.unknown = [
      visit(4, { page_visited: '/backup.zip', code: 404, goal: 'files' }),
      visit(3, { page_visited: '/.env', code: 403, rule: 'system-folders', goal: 'files' }),
      visit(2, { page_visited: '/wp-login.php', failed_login: 1, tried: '', goal: 'passwords' }),
      visit(1, { page_visited: '/new', code: 404, goal: 'a goal of a newer server' }),
    ];
    await openLog(site);
    expect((await tableTexts(TABLE)).slice(1).map((cells) => cells[3])).toEqual([
      '/backup.zip Looks for forgotten files',
      '/.env This file is not for visitors',
      '/wp-login.php',
      '/new',
    ]);
  });

  it('shows values of anonymous clients as plain text', async () => {
    const evil = '<img src=x onerror=alert(1)>"\'&lt;\u202e';
    site.log.unknown = [
      visit(1, { page_visited: evil, type: evil, hostname: evil, ip: evil, rule: evil, response: evil }),
    ];
    await openLog(site);
    const [, row] = await tableTexts(TABLE);
    expect(row?.[3]).toBe(evil);
    expect(row?.[1]).toBe(evil);
    expect(document.querySelector('.so-table img')).toBeNull();
  });

  it('says that there are no visits yet, or how to change the filters', async () => {
    site.log.unknown = [];
    await openLog(site);
    expect(await screen.findByText('Nothing was found')).toBeDefined();
    expect(screen.queryByRole('button', { name: 'Clear filters' })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Export' })).toBeNull();
  });

  it('says why the list could not be loaded, and loads it on request', async () => {
    site.replies.set('/activity-unknown', () => refused(503, 'wordpress_unreachable', 'WordPress does not answer.'));
    await openLog(site);
    expect(await screen.findByText('We couldn’t load this list.')).toBeDefined();
    site.replies.clear();
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect((await tableTexts(TABLE)).length).toBe(4);
    await waitFor(() => expect(document.activeElement?.textContent).toBe(TABLE));
  });

  it('handles a response that is not a list', async () => {
    site.replies.set('/activity-unknown', () => ok('nonsense'));
    await openLog(site);
    expect(await screen.findByText('We couldn’t load this list.')).toBeDefined();
  });

  it('loads more rows at the end, focuses the first new row, and ends with the last page', async () => {
    site.log.unknown = Array.from({ length: 5 }, (_, index) => visit(100 - index));
    site.log.pageRows = 3;
    await openLog(site);
    await tableTexts(TABLE);
    expect(screen.getByText('Page 1 of 2')).toBeDefined();
    await userEvent.click(screen.getByRole('button', { name: 'Load More' }));
    await waitFor(() => expect(rowsShown()).toBe(5));
    expect(site.sent('/activity-unknown').pop()).toEqual({ page: 2, filters: [], cursor: 'after-1' });
    expect((document.activeElement as HTMLElement).dataset.row).toBe('97');
    expect(screen.queryByRole('button', { name: 'Load More' })).toBeNull();
  });

  it('keeps the rows and shows an error if more could not be loaded', async () => {
    site.log.unknown = Array.from({ length: 5 }, (_, index) => visit(100 - index));
    site.log.pageRows = 3;
    await openLog(site);
    await tableTexts(TABLE);
    site.replies.set('/activity-unknown', () => refused(500, 'internal', 'No.'));
    await userEvent.click(screen.getByRole('button', { name: 'Load More' }));
    expect(await screen.findByText('We couldn’t load more. Try again.')).toBeDefined();
    expect(rowsShown()).toBe(3);
    site.replies.clear();
    await userEvent.click(screen.getByRole('button', { name: 'Load More' }));
    await waitFor(() => expect(rowsShown()).toBe(5));
  });

  it('keeps the rows if reloading fails, and does not mention further pages', async () => {
    site.log.unknown = Array.from({ length: 5 }, (_, index) => visit(100 - index));
    site.log.pageRows = 3;
    await openLog(site);
    await tableTexts(TABLE);
    site.replies.set('/activity-unknown', () => refused(500, 'internal', 'No.'));
    await userEvent.click(screen.getByRole('button', { name: 'Refresh' }));
    await waitFor(() => expect(toastTexts().join()).toContain('No.'));
    expect(rowsShown()).toBe(3);
    expect(screen.queryByText('We couldn’t load more. Try again.')).toBeNull();
  });

  it('ignores a slow response to an older request', async () => {
    const held = gate();
    await openLog(site);
    await tableTexts(TABLE);
    site.replies.set('/activity-unknown', async ({ body }) => {
      const isSlow = body.includes('198.51.100.140');
      if (isSlow) await held.opened;
      const entries = [visit(1, { page_visited: isSlow ? '/slow' : '/quick' })];
      return ok({ entries, filters: [], page: 1, pages: 1 });
    });
    await choose('198.51.100.140', 'View activity');
    await userEvent.click(await screen.findByRole('button', { name: 'Remove filter IP address: 198.51.100.140' }));
    expect((await tableTexts(TABLE))[1]?.[3]).toBe('/quick');
    held.open();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await tableTexts(TABLE))[1]?.[3]).toBe('/quick');
    expect(toastTexts()).toEqual([]);
  });

  it('aborts its request without a toast when the page is closed', async () => {
    const held = gate();
    site.replies.set('/activity-unknown', async () => {
      await held.opened;
      return ok({ entries: [], filters: [], page: 1, pages: 1 });
    });
    const fetched = vi.spyOn(globalThis, 'fetch');
    await openLog(site);
    await waitFor(() => expect(site.calls('/activity-unknown')).toHaveLength(1));
    await userEvent.click(await screen.findByRole('tab', { name: 'Log Settings' }));
    await screen.findByRole('switch', { name: 'Activity log' });
    const call = fetched.mock.calls.find(([url]) => String(url).endsWith('/activity-unknown'));
    expect(call?.[1]?.signal?.aborted).toBe(true);
    held.open();
    expect(toastTexts()).toEqual([]);
  });

  it('reloads the list on request and keeps the rows visible', async () => {
    await openLog(site);
    await tableTexts(TABLE);
    const held = gate();
    site.replies.set('/activity-unknown', async () => {
      await held.opened;
      return ok({ entries: [visit(101)], filters: [], page: 1, pages: 1 });
    });
    await userEvent.click(screen.getByRole('button', { name: 'Refresh' }));
    expect(rowsShown()).toBe(3);
    held.open();
    await waitFor(() => expect(rowsShown()).toBe(1));
  });

  it('shows the number of new rows while the page is visible, and adds them only on request', async () => {
    const every: (() => void)[] = [];
    const realInterval = globalThis.setInterval;
    vi.spyOn(globalThis, 'setInterval').mockImplementation(((work: () => void, ms: number) => {
      if (ms !== 15_000) return realInterval(work, ms);
      every.push(work);
      return realInterval(() => undefined, 1_000_000);
    }) as typeof setInterval);
    await openLog(site);
    await tableTexts(TABLE);
    // The rows are visible before the effect that starts the counting.
    await act(async () => {});
    site.log.news = 5;
    const visible = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
    every.at(-1)?.();
    expect(site.calls('/activity-new')).toHaveLength(0);
    visible.mockReturnValue('visible');
    every.at(-1)?.();
    const button = await screen.findByRole('button', { name: '5 new, Refresh' });
    expect(site.sent('/activity-new')).toEqual([{ list: 'unknown', since: 100, filters: [] }]);
    expect(rowsShown()).toBe(3);
    site.log.unknown.unshift(visit(105));
    await userEvent.click(button);
    await waitFor(() => expect(rowsShown()).toBe(4));
    expect(screen.getByRole('button', { name: 'Refresh' })).toBeDefined();
  });

  it('exports the filtered list by a link with filters and nonce', async () => {
    const links: string[] = [];
    document.addEventListener('click', (event) => {
      const link = (event.target as Element).closest('a');
      if (link === null) return;
      event.preventDefault();
      links.push(link.href);
    });
    await openLog(site);
    await tableTexts(TABLE);
    await choose('203.0.113.24', 'View activity');
    await tableTexts(TABLE);
    await userEvent.click(screen.getByRole('button', { name: 'Export' }));
    await userEvent.click(screen.getByRole('menuitem', { name: 'Export as CSV' }));
    await waitFor(() => expect(links).toHaveLength(1));
    const url = new URL(links[0] ?? '');
    expect(url.pathname).toBe('/wp-json/security-optimizer/v1/activity-export');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      list: 'unknown',
      format: 'csv',
      ip: '203.0.113.24',
      _wpnonce: 'aaaaaaaaaa',
    });
  });

  it('shows a truncated text in full after one second of hovering, and closes it on Escape', async () => {
    await openLog(site);
    await tableTexts(TABLE);
    const cell = screen.getByText('203.0.113.24').parentElement as HTMLElement;
    fireEvent.mouseEnter(cell);
    expect(screen.queryByRole('tooltip')).toBeNull();
    await waitFor(() => expect(screen.getByRole('tooltip').textContent).toBe('host-24.example.net'));
    // An effect of the tooltip registers the key handler.
    await waitFor(() => {
      fireEvent.keyDown(document, { key: 'Escape' });
      expect(screen.queryByRole('tooltip')).toBeNull();
    });
  });
});

describe('the menu of a row', () => {
  it('offers to manage the traffic, except for visitors that must not be blocked', async () => {
    await openLog(site);
    await userEvent.click(await screen.findByRole('button', { name: 'Actions for 203.0.113.24' }));
    expect(screen.getAllByRole('menuitem').map(({ textContent }) => textContent)).toEqual([
      'Block this visitor…',
      'Manage IP Traffic',
      'View activity',
    ]);
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('menu')).toBeNull());
    await userEvent.click(screen.getByRole('button', { name: 'Actions for 192.0.2.66' }));
    expect(screen.getAllByRole('menuitem').map(({ textContent }) => textContent)).toEqual(['View activity']);
  });

  it('works with the keyboard alone and restores the focus', async () => {
    await openLog(site);
    const button = await screen.findByRole('button', { name: 'Actions for 203.0.113.24' });
    button.focus();
    for (const item of ['Block this visitor…', 'Manage IP Traffic', 'View activity', 'Block this visitor…']) {
      await userEvent.keyboard('{ArrowDown}');
      await waitFor(() => expect(document.activeElement?.textContent).toBe(item));
    }
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(document.activeElement).toBe(button));
    expect(button.getAttribute('aria-expanded')).toBe('false');
  });
});

describe('the chart', () => {
  it('shows totals, a scale and a table for screen readers, and filters by the day of a bar', async () => {
    await openLog(site);
    const bar = await screen.findByRole('button', { name: /^Saturday 21 Nov: 300 humans, 50 bots, 2 blocked/ });
    expect(screen.getByText('Last 3 days')).toBeDefined();
    expect(Array.from(document.querySelectorAll('.so-traffic__sums b'), (sum) => sum.textContent)).toEqual([
      '3',
      '150',
      '600',
    ]);
    expect(within(screen.getByRole('table', { name: 'Traffic' })).getAllByRole('row')).toHaveLength(4);
    await userEvent.click(bar);
    const from = 1_795_219_200;
    await waitFor(() =>
      expect(site.sent('/activity-unknown').pop()?.filters).toEqual([
        {
          wp_name: 'date',
          children: [
            { id: 'from', selectedValue: from },
            { id: 'to', selectedValue: from },
          ],
        },
      ]),
    );
    await waitFor(() => expect(site.sent('/activity-traffic').pop()).toEqual({ from, to: from + 86_400 }));
    expect(await screen.findByRole('button', { name: 'Remove filter Since: 21 Nov 2026' })).toBeDefined();
  });

  it('is hidden if the server lacks the endpoint', async () => {
    site.log.traffic = null;
    await openLog(site);
    await tableTexts(TABLE);
    await waitFor(() => expect(document.querySelector('.so-traffic--sk')).toBeNull());
    expect(screen.queryByRole('heading', { name: 'Traffic' })).toBeNull();
    expect(toastTexts()).toEqual([]);
  });

  it('moves between the bars with the arrow keys; the bars are one stop of the Tab key', async () => {
    await openLog(site);
    const bars = await screen.findAllByRole('button', { name: /Show only this time/ });
    bars[2]?.focus();
    await userEvent.keyboard('{ArrowLeft}');
    await waitFor(() => expect(document.activeElement).toBe(bars[1]));
    expect(bars.map(({ tabIndex }) => tabIndex)).toEqual([-1, 0, -1]);
    expect(bars[1]?.querySelector('.so-tip')?.textContent).toContain('Friday 20 Nov');
  });
});
