import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { visit } from '../../../test/fake-site/activity-log.js';
import { ok, refused } from '../../../test/fake-site/server.js';
import { type FakeSite, startFakeSite } from '../../../test/fake-site/site.js';
import { choose, openLog, tableTexts } from '../../../test/pages/activity-log.js';
import { closePage, toastTexts } from '../../../test/pages/open-page.js';

const TABLE = 'Unknown Visitors Activity';
const PANEL = 'Who is attacking';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
  site.log.unknown = [
    visit(103, {
      ip: '203.0.113.201',
      visitor_id: 201,
      page_visited: '/wp-content/uploads/x.php',
      code: 403,
      rule: 'system-folders',
    }),
    visit(102, { ip: '203.0.113.202', visitor_id: 202 }),
    visit(101, {
      ip: '203.0.113.201',
      visitor_id: 201,
      failed_login: 1,
      tried: 'owner',
      page_visited: '/wp-login.php',
    }),
  ];
});

const panelButton = (name: string) => screen.findByRole('button', { name });
const marks = () => Array.from(document.querySelectorAll('.so-table--open .so-mark'), (mark) => mark.textContent);

describe('the panel "Who is attacking"', () => {
  it('shows the attackers, their goals and their days, and the totals', async () => {
    await openLog(site);
    const rows = await tableTexts(PANEL);
    expect(rows[1]).toEqual([
      '198.51.100.0/2414 addresses of one network',
      'Guesses passwords/xmlrpc.php',
      '4, 6, 9, 41, 22, 18, 12',
      '112',
      'Block',
    ]);
    expect(rows[3]?.[0]).toBe('203.0.113.201No host name');
    expect(rows).toHaveLength(6);
    expect(screen.getByText('318 requests blocked in 7 days, from 31 addresses.')).toBeDefined();
    expect(screen.getByText('None of them logged in')).toBeDefined();
  });

  it('says how many addresses of a network are blocked already, and calls scans attempts', async () => {
    const { attackers } = site.log;
    if (attackers === null) throw new Error('no attackers');
    const [network, ...others] = attackers.entries;
    if (network === undefined) throw new Error('no network');
    const entries = [{ ...network, blocked_addresses: 2 }, ...others];
    site.log.attackers = { ...attackers, entries, scanned: 18 };
    await openLog(site);
    expect((await tableTexts(PANEL))[1]?.[0]).toBe('198.51.100.0/2414 addresses, 2 blocked');
    expect(screen.getByText('318 attempts in 7 days, from 31 addresses.')).toBeDefined();
  });

  it('states the failed logins in the words of the weekly mail', async () => {
    const { attackers } = site.log;
    if (attackers !== null) site.log.attackers = { ...attackers, failed: 41, failed_addresses: 3, locked: 2 };
    await openLog(site);
    await screen.findByText(
      '318 attempts in 7 days, from 31 addresses. Failed logins: 41 attempts from 3 addresses, 2 locked.',
    );
    closePage();
    if (attackers !== null) site.log.attackers = { ...attackers, attempts: 1, failed: 1, failed_addresses: 1 };
    await openLog(site);
    await screen.findByText('1 attempt in 7 days, from 31 addresses. Failed logins: 1 attempt from 1 address.');
  });

  it('filters the log by an address, a target and a reason, and removes the filter', async () => {
    await openLog(site);
    await userEvent.click(await panelButton('Show only 203.0.113.201'));
    await screen.findByRole('button', { name: 'Remove filter IP address: 203.0.113.201' });
    await userEvent.click(await panelButton('Show only 203.0.113.201'));
    const target = await screen.findByRole('button', { name: '/xmlrpc.php 112 attempts' });
    await userEvent.click(target);
    await waitFor(() =>
      expect(site.sent('/activity-unknown').at(-1)).toEqual({ page: 1, filters: [], search: '/xmlrpc.php' }),
    );
    expect(target.getAttribute('aria-pressed')).toBe('true');
    await userEvent.click(target);
    await userEvent.click(await screen.findByRole('button', { name: 'Guesses passwords 193 attempts' }));
    await waitFor(() =>
      expect(site.sent('/activity-unknown').at(-1)).toEqual({
        page: 1,
        filters: [{ wp_name: 'goal', children: [{ id: 'goal', selectedValue: 'passwords' }] }],
      }),
    );
  });

  it('says that nobody attacks, or that the data could not be loaded', async () => {
    const attackers = site.log.attackers;
    site.replies.set('/activity-attackers', () => refused(503, 'unreachable', 'No.'));
    await openLog(site);
    expect(await screen.findByText('We couldn’t load who attacks.')).toBeDefined();
    expect(toastTexts()).toEqual([]);
    site.replies.clear();
    if (attackers !== null)
      site.log.attackers = { ...attackers, attempts: 0, addresses: 0, entries: [], targets: [], goals: [] };
    await userEvent.click(await screen.findByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('Nobody was blocked in 7 days.')).toBeDefined();
  });

  it('is hidden with everything that belongs to it if the server lacks the endpoint', async () => {
    site.log.attackers = null;
    site.replies.set('/activity-unknown', () => {
      const { current_block: _block, failed_login: _failed, ...old } = visit(1);
      return ok({ entries: [old], filters: [], page: 1, pages: 1 });
    });
    await openLog(site);
    await tableTexts(TABLE);
    await waitFor(() => expect(screen.queryByText(PANEL)).toBeNull());
    expect(document.querySelector('.so-attackers--wait')).toBeNull();
    expect(screen.queryByRole('searchbox')).toBeNull();
    expect(screen.queryByRole('button', { name: 'Select' })).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: /^Actions for/ }));
    expect(screen.getAllByRole('menuitem').map(({ textContent }) => textContent)).toEqual([
      'Manage IP Traffic',
      'View activity',
    ]);
    expect(toastTexts()).toEqual([]);
  });

  it('warns in red about an attacker’s successful login, and mentions a mistyped password calmly', async () => {
    const { attackers } = site.log;
    if (attackers !== null) site.log.attackers = { ...attackers, logins: 3, mistyped: 2 };
    await openLog(site);
    expect((await screen.findByText('1 login succeeded')).className).toContain('so-pill--bad');
    closePage();
    if (attackers !== null) site.log.attackers = { ...attackers, logins: 2, mistyped: 2 };
    await openLog(site);
    expect((await screen.findByText('2 logins after failed attempts')).className).not.toContain('so-pill--bad');
  });

  it('does not offer to block the owner’s address', async () => {
    const [first, ...others] = site.log.attackers?.entries ?? [];
    if (site.log.attackers && first) site.log.attackers.entries = [{ ...first, own: 1, do_not_block: 1 }, ...others];
    await openLog(site);
    expect(((await panelButton('Block 198.51.100.0/24')) as HTMLButtonElement).disabled).toBe(true);
    expect(screen.getByText('Includes your own address')).toBeDefined();
  });

  it('says why Block is disabled for other rows', async () => {
    const [first, ...others] = site.log.attackers?.entries ?? [];
    if (site.log.attackers && first) site.log.attackers.entries = [{ ...first, do_not_block: 1 }, ...others];
    await openLog(site);
    expect(((await panelButton('Block 198.51.100.0/24')) as HTMLButtonElement).disabled).toBe(true);
    expect(screen.getByText('Not to be blocked: server, monitor or search engine')).toBeDefined();
  });
});

describe('the block popover', () => {
  it('blocks for 24 hours with two clicks: all rows of the visitor change at once, and Undo reverts it', async () => {
    await openLog(site);
    await tableTexts(TABLE);
    await userEvent.click(await panelButton('Block 203.0.113.201'));
    const popover = await screen.findByRole('dialog', { name: 'Block 203.0.113.201' });
    await waitFor(() => expect(document.activeElement?.textContent).toBe('24 hours'));
    await userEvent.click(within(popover).getByRole('button', { name: 'Block for 24 hours' }));
    await waitFor(() => expect(marks()).toHaveLength(2));
    expect(marks()[0]).toMatch(/^Blocked until tomorrow, \d\d:\d\d$/);
    expect(site.sent('/block-ip/201')).toEqual([{ block: 1, duration: 86_400 }]);
    expect(site.calls('/activity-unknown')).toHaveLength(1);
    await waitFor(() =>
      expect(toastTexts().join()).toMatch(/^\u2066203\.0\.113\.201\u2069, until tomorrow, \d\d:\d\d$/),
    );
    expect(await panelButton('Unblock 203.0.113.201')).toBeDefined();
    await waitFor(() => expect(document.activeElement?.getAttribute('aria-label')).toBe('Unblock 203.0.113.201'));
    await userEvent.click(screen.getByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(site.sent('/block-ip/201').at(-1)).toEqual({ block: 0 }));
    await waitFor(() => expect(marks()).toEqual([]));
  });

  it('shows an error if a visitor can’t be unblocked, or blocked again', async () => {
    await openLog(site);
    await userEvent.click(await panelButton('Block 203.0.113.201'));
    const popover = await screen.findByRole('dialog', { name: 'Block 203.0.113.201' });
    await userEvent.click(within(popover).getByRole('button', { name: 'Block for 24 hours' }));
    const unblock = await panelButton('Unblock 203.0.113.201');
    site.replies.set('/block-ip/201', () => refused(500, 'internal', 'The log is locked.'));
    await userEvent.click(unblock);
    await waitFor(() => expect(toastTexts()).toContain('The log is locked.'));
    expect(await panelButton('Unblock 203.0.113.201')).toBeDefined();
    site.replies.clear();
    await userEvent.click(await panelButton('Unblock 203.0.113.201'));
    const undo = await waitFor(() => {
      const buttons = screen.getAllByRole('button', { name: 'Undo' });
      expect(site.sent('/block-ip/201')).toHaveLength(3);
      return buttons.at(-1) as HTMLElement;
    });
    site.replies.set('/block-ip/201', () => refused(500, 'internal', 'The disk is full.'));
    await userEvent.click(undo);
    await waitFor(() => expect(toastTexts()).toContain('The disk is full.'));
  });

  it('blocks the network with a note, and shows its effect', async () => {
    site.log.status.network_cost = { range: '203.0.113.0/24', visitors: 9, own: 0 };
    await openLog(site);
    await tableTexts(TABLE);
    await choose('203.0.113.202', 'Block this visitor…');
    const popover = within(await screen.findByRole('dialog', { name: 'Block 203.0.113.202' }));
    expect(await popover.findByText('256 addresses. 9 other visitors came from it.')).toBeDefined();
    await userEvent.click(popover.getByRole('radio', { name: /^Its network 203\.0\.113\.0\/24/ }));
    await userEvent.click(popover.getByRole('radio', { name: 'For good' }));
    await userEvent.type(popover.getByRole('textbox', { name: 'Note (optional)' }), 'Scans us');
    await userEvent.click(popover.getByRole('button', { name: 'Block for good' }));
    await waitFor(() =>
      expect(site.sent('/block-ip/202')).toEqual([{ block: 1, duration: 0, note: 'Scans us', network: 1 }]),
    );
    // Every address of the network shows the block.
    await waitFor(() => expect(marks()).toEqual(['Blocked', 'Blocked', 'Blocked']));
  });

  it('refuses to block a network that contains the owner’s address', async () => {
    site.log.status.network_cost = { range: '203.0.113.0/24', visitors: 9, own: 1 };
    await openLog(site);
    await tableTexts(TABLE);
    await choose('203.0.113.202', 'Block this visitor…');
    const network = await screen.findByRole('radio', { name: /Its network.*It includes your own address/ });
    expect((network as HTMLInputElement).disabled).toBe(true);
  });

  it('shows an error inside, and restores the focus when Escape closes it', async () => {
    site.replies.set('/block-ip/201', () => refused(400, 'must_not_be_blocked', 'This is your own address.'));
    await openLog(site);
    const button = await panelButton('Block 203.0.113.201');
    await userEvent.click(button);
    const popover = within(await screen.findByRole('dialog', { name: 'Block 203.0.113.201' }));
    await userEvent.click(popover.getByRole('button', { name: 'Block for 24 hours' }));
    expect((await popover.findByRole('alert')).textContent).toContain('This is your own address.');
    expect(toastTexts()).toEqual([]);
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(document.activeElement).toBe(button);
  });

  it('blocks several rows at once, and lists the visitors that were refused', async () => {
    site.log.unknown.push(visit(100, { ip: '192.0.2.66', visitor_id: 66 }));
    site.replies.set('/block-visitors', () =>
      ok({
        done: [
          {
            visitor_id: 201,
            block: 1,
            current: { by: 'owner', by_login: 'owner', until: null, note: '', range: '203.0.113.201' },
          },
        ],
        refused: [{ visitor_id: 66, reason: 'It is a search engine.' }],
      }),
    );
    await openLog(site);
    await tableTexts(TABLE);
    expect(screen.queryByRole('checkbox')).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Select' }));
    const [first] = screen.getAllByRole('checkbox', { name: 'Select 203.0.113.201' });
    if (first) await userEvent.click(first);
    await userEvent.click(screen.getByText('192.0.2.66'));
    expect(screen.getByText('2 addresses selected')).toBeDefined();
    expect(screen.getAllByRole('checkbox', { checked: true })).toHaveLength(3);
    await userEvent.click(screen.getByRole('button', { name: 'Block selected…' }));
    const popover = within(await screen.findByRole('dialog', { name: 'Block 2 addresses' }));
    await userEvent.click(popover.getByRole('button', { name: 'Block for 24 hours' }));
    await waitFor(() => expect(site.sent('/block-visitors')).toEqual([{ ids: [201, 66], block: 1, duration: 86_400 }]));
    await waitFor(() => expect(marks()).toEqual(['Blocked', 'Blocked']));
    await waitFor(() => expect(toastTexts()).toContain('1 address was not blocked. It is a search engine.'));
  });
});

describe('the details of a request', () => {
  const row = (id: number) => document.querySelector<HTMLElement>(`[data-row="${id}"]`);
  const drawer = () => screen.findByRole('dialog', { name: /^Request/ });

  it('open with Enter, follow Up and Down, and return the focus to the row', async () => {
    await openLog(site);
    await tableTexts(TABLE);
    act(() => row(103)?.focus());
    await userEvent.keyboard('{Enter}');
    expect(within(await drawer()).getByRole('heading', { name: 'Request 1 of 3' })).toBe(document.activeElement);
    expect(await screen.findByText('Refused: scripts can’t run in this folder.')).toBeDefined();
    await userEvent.keyboard('{ArrowDown}{ArrowDown}');
    expect(await screen.findByText('Failed login: the password was not accepted.')).toBeDefined();
    expect(screen.getByText('Tried “owner”.')).toBeDefined();
    expect(row(101)?.className).toContain('is-picked');
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await waitFor(() => expect(document.activeElement).toBe(row(101)));
  });

  it('block and unblock with one click', async () => {
    await openLog(site);
    await tableTexts(TABLE);
    await userEvent.click(screen.getByText('/wp-login.php'));
    const block = await screen.findByRole('button', { name: 'Block for 24 hours' });
    await waitFor(() => expect((block as HTMLButtonElement).disabled).toBe(false));
    await userEvent.click(block);
    expect(await within(await drawer()).findByText(/^Blocked until tomorrow/)).toBeDefined();
    await userEvent.click(await within(await drawer()).findByRole('button', { name: 'Unblock' }));
    expect(await within(await drawer()).findByText('Not blocked')).toBeDefined();
    expect(site.sent('/block-ip/201')).toEqual([{ block: 1, duration: 86_400 }, { block: 0 }]);
  });

  it('offer other durations in a menu', async () => {
    await openLog(site);
    await tableTexts(TABLE);
    await userEvent.click(screen.getByText('/wp-login.php'));
    await screen.findByText('Failed login: the password was not accepted.');
    await userEvent.click(screen.getByRole('button', { name: 'Choose for how long' }));
    expect(screen.getAllByRole('menuitem').map(({ firstChild }) => firstChild?.textContent)).toEqual([
      'For 1 hour',
      'For 24 hours',
      'For 7 days',
      'For good',
      'Network or note…',
    ]);
    await userEvent.click(screen.getByRole('menuitem', { name: /^For 7 days/ }));
    await waitFor(() => expect(site.sent('/block-ip/201')).toEqual([{ block: 1, duration: 604_800 }]));
  });

  it('open by a searched reference', async () => {
    await openLog(site);
    await tableTexts(TABLE);
    site.replies.set('/activity-unknown', () =>
      ok({ entries: [visit(101, { ip: '203.0.113.201' })], filters: [], page: 1, pages: 1, total: 1 }),
    );
    await userEvent.type(screen.getByRole('searchbox'), '001N-GDMM{Enter}');
    expect(await drawer()).toBeDefined();
    expect(await screen.findByText('Failed login: the password was not accepted.')).toBeDefined();
  });

  it('show values of visitors as plain text, and name missing values', async () => {
    const evil = '<img src=x onerror=alert(1)>';
    site.log.details = { agent: evil, url: `https://example.com/${evil}`, referer: null };
    await openLog(site);
    await tableTexts(TABLE);
    await userEvent.click(screen.getByText('/wp-login.php'));
    expect(await screen.findByText(evil)).toBeDefined();
    expect(screen.getByText('Not given')).toBeDefined();
    expect(document.querySelector('.so-drawer img')).toBeNull();
  });

  it('say why they could not be loaded', async () => {
    site.replies.set('/activity-request/101', () => refused(404, 'not_found', 'This request is not kept.'));
    await openLog(site);
    await tableTexts(TABLE);
    await userEvent.click(screen.getByText('/wp-login.php'));
    expect(await screen.findByText('We couldn’t load this request.')).toBeDefined();
    expect(toastTexts()).toEqual([]);
  });
});

describe('the URL of the log', () => {
  it('opens the view that it names', async () => {
    await openLog(site, '?page=activity-log&log_show=blocked&log_search=xmlrpc&log_ip=203.0.113.24');
    await tableTexts(TABLE);
    expect(site.sent('/activity-unknown')).toEqual([
      {
        page: 1,
        filters: [{ wp_name: 'ip', children: [{ id: 'ip', selectedValue: '203.0.113.24' }] }],
        preset: 'blocked',
        search: 'xmlrpc',
      },
    ]);
    expect(screen.getByRole('radio', { name: 'Blocked' }).getAttribute('aria-checked')).toBe('true');
    expect((screen.getByRole('searchbox') as HTMLInputElement).value).toBe('xmlrpc');
  });

  it('follows presets and search, and Back opens the previous list', async () => {
    await openLog(site, '?page=activity-log');
    await tableTexts(TABLE);
    await userEvent.click(screen.getByRole('radio', { name: 'Not found' }));
    expect(window.location.search).toBe('?page=activity-log&log_show=not-found');
    await userEvent.type(screen.getByRole('searchbox'), '.env{Enter}');
    expect(window.location.search).toBe('?page=activity-log&log_show=not-found&log_search=.env');
    await userEvent.click(screen.getByRole('searchbox'));
    await userEvent.keyboard('{Escape}');
    expect(window.location.search).toBe('?page=activity-log&log_show=not-found');
    act(() => window.history.back());
    await waitFor(() => expect((screen.getByRole('searchbox') as HTMLInputElement).value).toBe('.env'));
    await waitFor(() => expect(site.sent('/activity-unknown').at(-1)).toMatchObject({ search: '.env' }));
  });

  it('distinguishes the period of an hour from a period of whole days', async () => {
    const day = 1_795_219_200;
    await openLog(site, `?log_from=${day}&log_to=${day + 3600}`);
    await tableTexts(TABLE);
    expect(site.sent('/activity-unknown')[0]).toMatchObject({ exact: 1 });
  });

  it('follows the legend of the chart to the filtered list', async () => {
    await openLog(site, '?page=activity-log');
    await tableTexts(TABLE);
    const sums = await waitFor(() => {
      const found = document.querySelector<HTMLElement>('.so-traffic__sums');
      if (found === null) throw new Error('no chart yet');
      return found;
    });
    await userEvent.click(await within(sums).findByRole('link', { name: /^Blocked/ }));
    expect(window.location.search).toBe('?page=activity-log&log_show=blocked');
    // These are not among the presets; they are shown while they apply.
    expect(screen.queryByRole('radio', { name: 'Bots' })).toBeNull();
    await userEvent.click(within(sums).getByRole('link', { name: /^Bots/ }));
    expect(window.location.search).toBe('?page=activity-log&log_show=bots');
    expect(screen.getByRole('radio', { name: 'Bots' }).getAttribute('aria-checked')).toBe('true');
    await userEvent.click(within(sums).getByRole('link', { name: /^Humans/ }));
    await waitFor(() => expect(site.sent('/activity-unknown').at(-1)).toMatchObject({ preset: 'humans' }));
    await userEvent.click(screen.getByRole('radio', { name: 'All' }));
    expect(screen.queryByRole('radio', { name: 'Humans' })).toBeNull();
  });
});
