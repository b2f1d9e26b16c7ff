import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { deed, words } from '../../../test/fake-site/activity-log.js';
import { type FakeSite, startFakeSite } from '../../../test/fake-site/site.js';
import { choose, openLog, tableTexts } from '../../../test/pages/activity-log.js';

const TABLE = 'Registered Users Activity';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});

describe('the list of registered users', () => {
  it('describes each event in words, and marks those of the reader', async () => {
    await openLog(site, 'registered');
    expect(await tableTexts(TABLE)).toEqual([
      ['Time', 'User', 'IP address', 'Activity', 'Actions'],
      ['14:29:45 21 Nov', 'editor-1', '198.51.100.22office-22.example.net', 'Updated page “About us”', ''],
      ['14:29:45 21 Nov', 'ownerYou', '198.51.100.22office-22.example.net', 'Logged in', ''],
    ]);
  });

  it('shows the target of a failed login, not as an act of that user', async () => {
    site.log.registered = [deed(1, { user: 'owner', you: 1, words: words('login.failed', '') })];
    await openLog(site, 'registered');
    expect((await tableTexts(TABLE))[1]?.slice(1, 4)).toEqual([
      'tried owner',
      '198.51.100.22office-22.example.net',
      'Failed login',
    ]);
  });

  it('describes events in the reader’s language, with unchanged names', async () => {
    const locale = { '': {}, 'Updated {type} “{object}”': ['{type} „{object}“ geändert'], page: ['Seite'] };
    site.log.registered = [deed(1, { words: words('post.updated', '{type} <b>x</b> $&') })];
    await openLog(site, 'registered', { locale: JSON.stringify(locale) });
    expect((await tableTexts(TABLE))[1]?.[3]).toBe('Seite „{type} <b>x</b> $&“ geändert');
    expect(document.querySelector('.so-table b')).toBeNull();
  });

  it('keeps a right-to-left name at its place in the sentence', async () => {
    const title = { ...words('option.changed', 'Site Title'), before: 'חנות', after: 'Shop 2' };
    site.log.registered = [deed(2, { words: words('post.updated', 'שלום (1)') }), deed(1, { words: title })];
    await openLog(site, 'registered');
    const [, first, second] = await tableTexts(TABLE);
    expect(first?.[3]).toBe('Updated page “\u2068שלום (1)\u2069”');
    expect(second?.[3]).toBe('Changed the setting “Site Title” from \u2068חנות\u2069 to Shop 2');
  });

  it('shows the end of a lockout in the reader’s time format', async () => {
    site.log.registered = [deed(1, { words: { ...words('login.locked', '198.51.100.7'), after: '2026-11-21 15:08' } })];
    await openLog(site, 'registered', { localeSlug: 'en-US' });
    expect((await tableTexts(TABLE))[1]?.[3]?.replace('\u202f', ' ')).toBe(
      'Locked out until Nov 21, 3:08 PM after too many failed logins',
    );
  });

  it('shows the network that is locked out, and the address of each failed login', async () => {
    const at = (id: number, ip: string, kind: string) => deed(id, { ip, hostname: '', words: words(kind, '') });
    site.log.registered = [
      at(3, '2001:db8:9::', 'login.locked'),
      at(2, '2001:db8:9::5', 'login.failed'),
      at(1, '198.51.100.7', 'login.locked'),
    ];
    await openLog(site, 'registered');
    expect((await tableTexts(TABLE)).slice(1).map((cells) => cells[2])).toEqual([
      '2001:db8:9::/64',
      '2001:db8:9::5',
      '198.51.100.7',
    ]);
  });

  it('uses the server’s sentence for an unknown event', async () => {
    site.log.registered = [deed(1, { words: words('shop.refunded', 'x'), activity: 'Refunded an order' })];
    await openLog(site, 'registered');
    expect((await tableTexts(TABLE))[1]?.[3]).toBe('Refunded an order');
  });

  it('names the command line or a scheduled task, which can’t be blocked', async () => {
    site.log.registered = [
      deed(2, { origin: 'cli', ip: '', hostname: '' }),
      deed(1, { user: 'Scheduled task', visitor_id: 0, origin: 'cron', ip: '', hostname: '', ip_visitor_id: 0 }),
    ];
    await openLog(site, 'registered', { locale: JSON.stringify({ '': {}, 'Scheduled task': ['Aufgabe'] }) });
    const [, first, second] = await tableTexts(TABLE);
    expect(first?.[1]).toBe('editor-1Command line');
    expect(second?.[1]).toBe('Aufgabe');
    expect(screen.getAllByRole('button', { name: /^Actions for/ })).toHaveLength(1);
  });

  it('shows the events of one user, and keeps the filter while other tabs are open', async () => {
    await openLog(site, 'registered');
    await choose('editor-1', 'View activity');
    const chip = await screen.findByRole('button', { name: 'Remove filter User: editor-1' });
    expect(site.sent('/activity-registered').at(-1)?.filters).toEqual([
      { wp_name: 'user', children: [{ id: 'user', selectedValue: 11 }] },
    ]);
    await userEvent.click(await screen.findByRole('tab', { name: 'Unknown' }));
    await waitFor(() => expect(document.contains(chip)).toBe(false));
    await userEvent.click(await screen.findByRole('tab', { name: 'Registered' }));
    expect(await screen.findByRole('button', { name: 'Remove filter User: editor-1' })).toBeDefined();
  });

  it('offers Manage User Traffic, except for the reader', async () => {
    await openLog(site, 'registered');
    await userEvent.click(await screen.findByRole('button', { name: 'Actions for owner' }));
    expect(screen.getAllByRole('menuitem').map(({ textContent }) => textContent)).toEqual([
      'Block 198.51.100.22…',
      'View activity',
    ]);
    await userEvent.keyboard('{Escape}');
    site.log.status = { block: 1 };
    await choose('editor-1', 'Manage User Traffic');
    expect(await screen.findByRole('dialog', { name: 'Manage User Traffic' })).toBeDefined();
    await userEvent.click(await screen.findByRole('button', { name: 'Unblock' }));
    await waitFor(() => expect(site.sent('/block-user/11')).toEqual([{ block: 0 }]));
  });
});
