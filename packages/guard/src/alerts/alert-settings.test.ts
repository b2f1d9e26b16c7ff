import { describe, expect, it } from 'vitest';
import { recordedLog } from '../../test/support/logs.js';
import { DAY, MINUTE } from './alert-rules.js';
import {
  type AlertSettings,
  createAlertSettings,
  defaultAlertSettings,
  listChannelsFor,
  listFormerEmails,
  withRecipients,
} from './alert-settings.js';

const NOON = Date.UTC(2026, 10, 21, 14);
const [ANNA, BEN, CARL] = ['anna@example.com', 'ben@example.com', 'carl@example.com'];
const gets = { report: true, kinds: ['trouble' as const] };
const settings: AlertSettings = { ...defaultAlertSettings, recipients: { [ANNA]: gets, [BEN]: gets } };

describe('stored settings that can’t be used', () => {
  it.each(['{"webhook": "whsec_x', '{}', '[]', JSON.stringify({ ...settings, slack: 'whsec_x' })])(
    'like %s, give every alert to the recipients of the weekly report of that site only, until others are stored',
    async (value) => {
      const { logger, text } = recordedLog();
      const stored = new Map([
        ['a', JSON.stringify(settings)],
        ['b', value],
      ]);
      const queue = { readSettings: async () => stored, writeSettings: async () => undefined };
      const store = createAlertSettings(queue, { emails: () => [ANNA, CARL], logger });
      await store.load();
      expect(store.get('a')).toEqual(settings);
      expect(listChannelsFor('protection-off', store.get('b'), [ANNA, CARL])).toEqual([ANNA, CARL]);
      expect(JSON.parse(text())).toMatchObject({ event: 'alert-settings-unusable', level: 'error', site: 'b' });
      expect(text()).not.toContain('whsec_x');
      await store.set('b', settings);
      expect(store.get('b')).toEqual(settings);
    },
  );
});

describe('a change of the recipients', () => {
  it('deletes the choices of a removed one, who is told for a day', () => {
    const change = withRecipients(settings, [ANNA, BEN], [BEN], NOON);
    expect(change).toMatchObject({
      renamed: null,
      settings: { recipients: { [BEN]: gets }, left: { [ANNA]: { ...gets, at: NOON } } },
    });
    const after = change?.settings as AlertSettings;
    expect(listFormerEmails(after, NOON + DAY)).toEqual([ANNA]);
    expect(listFormerEmails(after, NOON + DAY + 1)).toEqual([]);
    expect(withRecipients(after, [BEN], [BEN], NOON + DAY + 1)?.settings.left).toEqual({});
  });

  it('restores the choices of one who is back within two minutes, and of no other', () => {
    const after = withRecipients(settings, [ANNA, BEN], [BEN], NOON)?.settings as AlertSettings;
    const back = withRecipients(after, [BEN], [BEN, ANNA], NOON + 2 * MINUTE);
    expect(back).toMatchObject({ restored: [ANNA], settings: { recipients: settings.recipients, left: {} } });
    expect(withRecipients(after, [BEN], [BEN, ANNA], NOON + 2 * MINUTE + 1)).toBeNull();
  });

  it('hands the choices to the address that replaces another one in its place', () => {
    const change = withRecipients(settings, [ANNA, BEN], [CARL, BEN], NOON);
    expect(change?.renamed).toEqual({ from: ANNA, to: CARL });
    expect(change?.settings.recipients).toEqual({ [CARL]: gets, [BEN]: gets });
    expect(listFormerEmails(change?.settings as AlertSettings, NOON)).toEqual([ANNA]);
  });

  it.each([
    ['two are replaced', [ANNA, BEN], [CARL, 'dora@example.com']],
    ['one is removed and another one added elsewhere', [ANNA, BEN], [BEN, CARL]],
    ['two change their places', [ANNA, BEN], [BEN, ANNA]],
    ['one of them is removed', [ANNA, BEN, CARL], [CARL, BEN]],
  ])('hands no choices to anybody when %s', (_case, before, emails) => {
    const change = withRecipients(settings, before, emails, NOON);
    expect(change?.renamed ?? null).toBeNull();
    const kept = Object.keys(change?.settings.recipients ?? settings.recipients);
    expect(kept.every((email) => email === ANNA || email === BEN)).toBe(true);
  });

  it('tells nothing to a removed one who got no alerts, and changes nothing without a removal', () => {
    const report = { report: true, kinds: [] };
    const quiet = { ...defaultAlertSettings, recipients: { [ANNA]: report } };
    expect(withRecipients(quiet, [ANNA], [], NOON)?.settings.left).toEqual({});
    expect(withRecipients(settings, [ANNA, BEN], [ANNA, BEN], NOON)).toBeNull();
  });
});
