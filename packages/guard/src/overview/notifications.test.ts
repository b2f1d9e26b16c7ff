import { toEnglish } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { expect, it } from 'vitest';
import type { WordPressOverview } from '../wordpress/connector-commands.js';
import { listNotifications, type NotificationFacts } from './notifications.js';

const wordpress: WordPressOverview = {
  core_update: null,
  plugin_updates: 0,
  theme_updates: 0,
  salts: 'set',
  shows_errors: false,
  can_edit_files: false,
  administrators: [{ id: 1, login: 'owner' }],
  default_role: 'subscriber',
  registration: false,
  https: true,
};
const healthy: NotificationFacts = {
  wordpress,
  secondFactor: true,
  enrolled: [1],
  editorsOff: true,
  pausedUntil: null,
  oldConnector: null,
  reportFailure: null,
  alertFailure: null,
  droppedVisits: 0,
  checkupFindings: 0,
};
const links = { admin: (page: string) => `https://example.com/wp-admin/${page}` };
const ids = (facts: Partial<NotificationFacts>) =>
  listNotifications({ ...healthy, ...facts }, links).map(({ id }) => id);
const inside = (facts: Partial<WordPressOverview>) => ({ wordpress: { ...wordpress, ...facts } });

it('there is no notification while nothing is wrong', () => {
  expect(listNotifications(healthy, links)).toEqual([]);
});

it.each<[string, Partial<NotificationFacts>]>([
  ['wordpress-unreachable', { wordpress: null }],
  ['paused', { pausedUntil: '2026-11-21 15:00' }],
  ['checkup-findings', { checkupFindings: 2 }],
  ['connector-version', { oldConnector: '0.0.9' }],
  ['report-failed', { reportFailure: 'The mail server refused it.' }],
  ['alerts-failed', { alertFailure: 'Nothing answers at this address.' }],
  ['visits-dropped', { droppedVisits: 3 }],
  ['core-update', inside({ core_update: '6.6.1' })],
  ['plugin-updates', inside({ plugin_updates: 1 })],
  ['theme-updates', inside({ theme_updates: 2 })],
  ['administrators-without-factor', { enrolled: [] }],
  ['salts', inside({ salts: 'in-database' })],
  ['editors', { ...inside({ can_edit_files: true }), editorsOff: false }],
  ['default-role', inside({ registration: true, default_role: 'editor' })],
  ['shows-errors', inside({ shows_errors: true })],
])('a notification is shown for %s, with one button that leads to the page where it is fixed', (id, facts) => {
  const [found, ...others] = listNotifications({ ...healthy, ...facts }, links);
  expect(others).toEqual([]);
  expect(found?.id).toBe(id);
  expect(found?.button_link).toMatch(/^https:\/\/example\.com\/wp-admin\/\w+/);
  for (const text of [found?.title, found?.text, found?.button_text]) expect(toEnglish(text ?? '')).toMatch(/^[^{}]+$/);
});

it('the most urgent notification is first', () => {
  const facts = { ...inside({ plugin_updates: 2, core_update: '6.6.1' }), droppedVisits: 5 };
  expect(ids(facts)).toEqual(['core-update', 'plugin-updates', 'visits-dropped']);
});

it('no notification asks for a second factor while it is off, or users who have one', () => {
  expect(ids({ secondFactor: false, enrolled: [] })).toEqual([]);
  const administrators = [1, 2].map((id) => ({ id, login: `owner${id}` }));
  const [found] = listNotifications({ ...healthy, ...inside({ administrators }) }, links);
  expect(toEnglish(found?.title ?? '')).toBe('One administrator has not set up the second factor yet');
  expect(toEnglish(found?.text ?? '')).toBe('The set-up follows at the next login: owner2.');
});

it('a text names five administrators and counts the others', () => {
  const administrators = [2, 3, 4, 5, 6, 7, 8].map((id) => ({ id, login: `owner${id}` }));
  const [found] = listNotifications({ ...healthy, ...inside({ administrators }) }, links);
  expect(toEnglish(found?.title ?? '')).toBe('Seven administrators have not set up the second factor yet');
  expect(toEnglish(found?.text ?? '')).toBe(
    'The set-up follows at the next login: owner2, owner3, owner4, owner5, owner6 and 2 more.',
  );
});

it('sample keys are more urgent than keys in the database', () => {
  const level = (salts: WordPressOverview['salts']) =>
    listNotifications({ ...healthy, ...inside({ salts }) }, links)[0]?.level;
  expect([level('default'), level('in-database')]).toEqual(['danger', 'warning']);
});

it('there is no notification of open registration with a harmless role, or of a strong role without registration', () => {
  expect(ids(inside({ registration: true }))).toEqual([]);
  expect(ids(inside({ default_role: 'administrator' }))).toEqual([]);
});

it('a text with values is a code with parameters, for other languages', () => {
  const [found] = listNotifications({ ...healthy, ...inside({ plugin_updates: 12 }) }, links);
  expect(found?.title).toEqual(serverMessage('plugins_outdated', { count: { inWords: 12 } }));
});
