import { expect, it } from 'vitest';
import { applyChanges, defaultSiteSettings } from '../settings/site-settings.js';
import { toHardeningItems } from './overview-facts.js';

const admin = (page: string) => `/wp-admin/${page}`;

it('a card counts the essentials of its page', () => {
  const cards = toHardeningItems(defaultSiteSettings, admin);
  expect(cards.map(({ id, on, total }) => [id, on, total])).toEqual([
    ['site-security', 5, 6],
    ['login-settings', 2, 4],
  ]);
  expect(cards.map(({ button_link }) => button_link)).toEqual([
    '/wp-admin/admin.php?page=site-security',
    '/wp-admin/admin.php?page=login-settings',
  ]);
});

it('a card counts the second factor once everybody has set it up', () => {
  const settings = applyChanges(defaultSiteSettings, { sg2fa: 1 });
  const count = (complete: boolean) => toHardeningItems(settings, admin, complete)[1]?.on;
  expect([count(false), count(true)]).toEqual([2, 3]);
});

it('a card says that everything is on once it is', () => {
  const full = applyChanges(defaultSiteSettings, {
    disable_feed: 1,
    sg2fa: 1,
    login_url: { type: 'custom', login: 'my-door', signup: '' },
  });
  for (const { on, total, text } of toHardeningItems(full, admin)) {
    expect(on).toBe(total);
    expect(text).toBe('Everything recommended is on.');
  }
});
