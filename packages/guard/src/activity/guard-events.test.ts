import { eventSentence } from '@security-optimizer/contract/activity/event-kinds';
import { defaultSecurityOptions } from '@security-optimizer/contract/settings/protections';
import { describe, expect, it, onTestFinished } from 'vitest';
import { activityInFile } from '../../test/support/activity-store.js';
import { openTestDatabase } from '../../test/support/database.js';
import { recordedLog } from '../../test/support/logs.js';
import { eventually, scratchFolder } from '../../test/support/scratch.js';
import { defaultLoginSettings } from '../rules/login-policy.js';
import { createSecurityEvents, type SecurityEvent } from '../security-events.js';
import { COMMAND_LINE_ACTOR, createAuditOutbox, createAuditStore, type JsonValue } from '../settings/audit-store.js';
import { createSettingsStore } from '../settings/settings-store.js';
import { defaultLogSettings } from '../settings/site-settings.js';
import { toEvent } from './audit-labels.js';
import { createGuardEvents } from './guard-events.js';
import { toSettingSecurityEvents } from './security-events.js';

const owner = { id: 1, login: 'owner', address: '192.0.2.1' };
const AT = 1_795_000_000_123;

const sentence = (name: string, before: JsonValue, after: JsonValue) => {
  const event = toEvent({ id: 'x', site: 'site', at: AT, actor: owner, name, before, after }, 'Europe/Berlin');
  return eventSentence(event);
};

describe('the text of a change', () => {
  const custom = { type: 'custom', login: 'my-door', signup: 'join' };
  it.each<[string, JsonValue, JsonValue, string]>([
    ['disable_xml_rpc', 0, 1, 'Turned on “Disable XML-RPC” in Security Optimizer'],
    ['login_attempts', 5, 0, 'Turned off “Limit Login Attempts” in Security Optimizer'],
    ['login_access', [], ['192.0.2.1', '10.*.*.*'], 'to 192.0.2.1, 10.*.*.* (before: everyone)'],
    ['login_access', null, [], 'to everyone (before: unusable value)'],
    ['away_mode', null, { type: 'off' }, 'Turned off “Away Mode” in'],
    ['disable_xml_rpc', null, 1, 'Set “Disable XML-RPC” in Security Optimizer to On (before: unusable value)'],
    ['login_url', { ...custom, type: 'default' }, custom, 'to /my-door (before: Default)'],
    ['away_mode', { type: 'off' }, { type: 'weekly', weekly: ['monday', 'friday'] }, 'to every Monday and Friday'],
    ['two_factor_roles', [], ['author', 'shop_manager'], 'to Author, shop_manager (before: nobody)'],
    [
      'away_mode',
      { type: 'daily', from_hour: '22:00', to_hour: '06:00' },
      { type: 'off' },
      'Turned off “Away Mode” in',
    ],
    [
      'away_mode',
      { type: 'off' },
      { type: 'daily', from_hour: '22:00', to_hour: '06:00' },
      'to 22:00 – 06:00 every day',
    ],
    [
      'login_access',
      [],
      ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5', '192.0.2.6'],
      '192.0.2.5 and 1 more',
    ],
    ['paused_until', 0, Date.UTC(2026, 10, 21, 8, 5), 'Paused all protections until 2026-11-21 09:05'],
    ['disable_activity_log', 0, 1, 'Turned off “Activity log” in Security Optimizer'],
    ['log_lifetime', 12, 7, 'to 7 (before: 12)'],
    ['username:7', 'Admin', 'first', 'Renamed user “Admin” to “first”'],
    ['reset_2fa', { user: 7, login: 'editor', on: true }, null, 'Reset the second factor of editor'],
    ['login_unblock', { who: ['192.0.2.7'], entries: 1 }, null, 'Ended the lock of 192.0.2.7'],
    ['login_unblock', { who: 'all', entries: 9 }, null, 'Ended the lock of every address'],
    ['block_visitor', null, { kind: 'ip', value: '192.0.2.7', name: '192.0.2.7' }, 'Blocked 192.0.2.7'],
    ['unblock_visitor', { kind: 'user', value: '7', name: 'editor' }, null, 'Unblocked editor'],
    [
      'post_hack_job',
      null,
      { action: 'Reinstall all', state: 'done', outcome: '2 plugins have a clean copy.' },
      'Ran Reinstall all. 2 plugins have a clean copy.',
    ],
    ['something_new', 1, 2, 'Set “something_new” in Security Optimizer to 2 (before: 1)'],
  ])('names %s from %j to %j', (name, before, after, text) => {
    expect(sentence(name, before, after)).toContain(text);
  });

  it('names every setting for people', () => {
    for (const name of Object.keys({ ...defaultSecurityOptions, ...defaultLoginSettings, ...defaultLogSettings })) {
      expect(sentence(name, 0, 1)).not.toContain(name);
    }
  });

  it('contains values that are truncated and free of control characters', () => {
    const text = sentence('login_access', [], [`192.0.2.1\n${'x'.repeat(5000)}`]);
    expect(text).toContain('192.0.2.1\\u000a');
    expect(text).toContain('xx… (before: everyone)');
    expect(text.length).toBeLessThan(500);
  });

  it('names the user, the command line, or guard itself', () => {
    const row = { id: '0-1', site: 'site', at: AT, name: 'sg2fa', before: 0, after: 1 };
    expect(toEvent({ ...row, actor: owner }, 'UTC')).toMatchObject({
      uid: '01',
      at: 1_795_000_000,
      user: { id: 1, login: 'owner' },
      address: '192.0.2.1',
      origin: 'web',
    });
    expect(toEvent({ ...row, actor: COMMAND_LINE_ACTOR }, 'UTC')).toMatchObject({
      user: null,
      origin: 'cli',
      address: '',
    });
    expect(toEvent({ ...row, actor: { ...COMMAND_LINE_ACTOR, login: 'guard' } }, 'UTC')).toMatchObject({
      origin: 'system',
    });
  });
});

async function setUp() {
  const db = await openTestDatabase(await scratchFolder());
  onTestFinished(() => db.destroy());
  const memory = await activityInFile();
  const log = recordedLog();
  const recording = { site: true as boolean | null };
  const securityEvents = createSecurityEvents();
  const reported: SecurityEvent[] = [];
  securityEvents.subscribe(async (_site, events) => void reported.push(...events));
  const begin = () => {
    const events = createGuardEvents({
      outbox: createAuditOutbox(db),
      store: memory.store,
      securityEvents,
      recording: () => recording.site,
      shorten: (_site, address) => address.replace(/\d+$/, '0'),
      timeZone: () => 'Europe/Berlin',
      clock: () => AT,
      logger: log.logger,
    });
    onTestFinished(() => events.stop());
    return events;
  };
  const change = (name: string, before: JsonValue, after: JsonValue) =>
    createSettingsStore(db).write({
      site: 'site',
      changes: [{ name, before, after, expectedVersion: 0 }],
      actor: owner,
      at: AT,
    });
  return { db, memory, log, recording, reported, begin, change };
}

describe('a protection that is switched off', () => {
  const custom = { type: 'custom', login: 'my-door', signup: 'join' };
  const found = (name: string, before: JsonValue, after: JsonValue) =>
    toSettingSecurityEvents({ id: 'x', site: 'site', at: AT, actor: owner, name, before, after })[0] ?? null;

  it.each<[string, JsonValue, JsonValue, string]>([
    ['xss_protection', 1, 0, 'Advanced XSS Protection'],
    ['sg2fa', 1, 0, 'Two-factor Authentication for Admin & Editors Users'],
    ['login_attempts', 5, 0, 'Limit Login Attempts'],
    ['login_access', ['192.0.2.1'], [], 'Login Access'],
    ['login_url', custom, { ...custom, type: 'default' }, 'Custom Login URL'],
    ['disable_activity_log', 0, 1, 'Activity log'],
    ['weekly_checkup', 1, 0, 'Weekly checkup'],
    ['paused_until', 0, AT + 3_600_000, 'All protections'],
  ])('is %s from %j to %j', (name, before, after, protection) => {
    expect(found(name, before, after)).toMatchObject({ kind: 'protection-off', protection, by: 'owner' });
  });

  it.each<[string, JsonValue, JsonValue]>([
    ['xss_protection', 0, 1],
    ['login_attempts', 5, 3],
    ['login_access', ['192.0.2.1'], ['192.0.2.2']],
    ['login_url', { ...custom, type: 'default' }, custom],
    ['disable_activity_log', 1, 0],
    ['paused_until', AT + 3_600_000, 0],
    ['log_lifetime', 12, 7],
  ])('is not %s from %j to %j', (name, before, after) => expect(found(name, before, after)).toBeNull());

  it('is reported once, with an anonymised address where the site requires it, also while the log is off', async () => {
    const { begin, change, reported, recording } = await setUp();
    recording.site = false;
    const events = begin();
    await change('xss_protection', 1, 0);
    events.start();
    events.handleAuditChange();
    await eventually(() => reported.length === 1);
    events.handleAuditChange();
    await events.stop();
    expect(reported).toMatchObject([{ kind: 'protection-off', by: 'owner', address: '192.0.2.0', until: null }]);
  });
});

describe('a change by which somebody gets fewer alerts', () => {
  const found = (name: string, before: JsonValue, after: JsonValue) =>
    toSettingSecurityEvents({ id: 'x', site: 'site', at: AT, actor: owner, name, before, after });
  const [anna, ben] = ['anna@example.com', 'ben@example.com'];

  it.each<[string, JsonValue, JsonValue, object[]]>([
    [
      'notification_emails',
      [anna, ben],
      [],
      [
        { recipient: anna, change: 'removed' },
        { recipient: ben, change: 'removed' },
      ],
    ],
    ['alert_recipient', `${anna}: report, trouble`, `${anna}: report`, [{ recipient: anna, change: 'off' }]],
    [
      'alert_recipient',
      `${anna}: trouble, new-administrator`,
      `${anna}: trouble`,
      [{ recipient: anna, change: 'fewer' }],
    ],
    ['alert_slack', 'hooks.example.com', 'Off', [{ recipient: 'slack', change: 'off' }]],
    ['alert_webhook', 'hooks.example.com', 'hooks.example.net', [{ recipient: 'webhook', change: 'changed' }]],
    ['alert_slack', 'hooks.example.com', 'hooks.example.com, changed', [{ recipient: 'slack', change: 'changed' }]],
  ])('is %s from %j to %j', (name, before, after, changes) => {
    const events = found(name, before, after);
    expect(events).toMatchObject(changes.map((change) => ({ ...change, kind: 'alerts-changed', by: 'owner' })));
    expect(new Set(events.map(({ uid }) => uid)).size).toBe(changes.length);
  });

  it.each<[string, JsonValue, JsonValue]>([
    ['notification_emails', [anna], [anna, ben]],
    ['alert_recipient', `${anna}: report, trouble`, `${anna}: trouble`],
    ['alert_recipient', `${anna}: trouble`, `${anna}: trouble, new-administrator`],
    ['alert_slack', 'Off', 'hooks.example.com'],
    ['alert_limit', 4, 2],
  ])('is not %s from %j to %j', (name, before, after) => expect(found(name, before, after)).toEqual([]));
});

describe('an event of guard', () => {
  it('is in the log soon after it was stored, once, with an anonymised address where the site requires it', async () => {
    const { memory, begin, change } = await setUp();
    const events = begin();
    events.start();
    await change('disable_feed', 0, 1);
    events.handleAuditChange();
    await eventually(async () => (await memory.allEvents()).length === 1);
    events.handleAuditChange();
    await events.stop();
    expect(await memory.allEvents()).toHaveLength(1);
    expect((await memory.allEvents())[0]).toMatchObject({
      kind: 'product.setting',
      login: 'owner',
      address: '192.0.2.0',
    });
  });

  it('is not lost when guard is killed before it is in the log, nor duplicated when it is killed right after', async () => {
    const { memory, begin, change } = await setUp();
    await change('disable_feed', 0, 1);
    const write = memory.store.writeEvents;
    memory.store.writeEvents = async (...args) => {
      await write(...args);
      throw new Error('killed');
    };
    await begin().stop();
    memory.store.writeEvents = write;
    await begin().stop();
    expect(await memory.allEvents()).toHaveLength(1);
  });

  it('is logged whatever the number of events, with unreadable values among them', async () => {
    const { db, memory, begin } = await setUp();
    const entries = Array.from({ length: 450 }, (_, index) => ({ name: `n${index}`, before: 0, after: index }));
    await createAuditStore(db).add('site', { actor: owner, at: AT }, entries);
    await db.updateTable('audit').set({ before: '{' }).where('name', '=', 'n7').execute();
    await begin().stop();
    expect(await memory.allEvents()).toHaveLength(450);
  });

  it('is kept while the log can’t be written, with one line in the service’s log', async () => {
    const { memory, begin, change, log } = await setUp();
    const write = memory.store.writeEvents;
    let tries = 0;
    memory.store.writeEvents = async () => {
      tries++;
      throw new Error('disk full');
    };
    await change('disable_feed', 0, 1);
    const events = begin();
    events.handleAuditChange();
    await eventually(() => log.events().length === 1);
    const before = tries;
    events.handleAuditChange();
    await eventually(() => tries > before);
    expect(log.events()).toEqual(['guard-events-store-failed']);
    memory.store.writeEvents = write;
    events.handleAuditChange();
    await eventually(async () => (await memory.allEvents()).length === 1);
  });

  it('is omitted when it happened while the log was off, also after the log is on again', async () => {
    const { memory, begin, change, recording } = await setUp();
    recording.site = false;
    await change('disable_feed', 0, 1);
    await begin().stop();
    recording.site = true;
    await begin().stop();
    expect(await memory.allEvents()).toEqual([]);
  });

  it('is omitted by the time when it happened, not by the time when it is written', async () => {
    const { db, memory, begin } = await setUp();
    const rows: [string, JsonValue, JsonValue][] = [
      ['disable_feed', 0, 1],
      ['disable_activity_log', 0, 1],
      ['disable_xml_rpc', 0, 1],
      ['disable_activity_log', 1, 0],
      ['sg2fa', 0, 1],
    ];
    for (const [index, [name, before, after]] of rows.entries()) {
      await createAuditStore(db).add('site', { actor: owner, at: AT + index }, [{ name, before, after }]);
    }
    await begin().stop();
    expect((await memory.allEvents()).map(({ object }) => object)).toEqual([
      'Disable RSS and ATOM Feeds',
      'Activity log',
      'Activity log',
      'Two-factor Authentication for Admin & Editors Users',
    ]);
  });

  it('names the locked address and the end of the lockout, once per lockout', async () => {
    const { memory, begin } = await setUp();
    const events = begin();
    events.recordLockout('site', '192.0.2.7', AT + 3_600_000);
    events.recordLockout('site', '192.0.2.7', AT + 3_600_000);
    events.recordLockout('site', '192.0.2.7', AT + 90_000_000);
    await events.stop();
    expect(await memory.allEvents()).toHaveLength(2);
    expect((await memory.allEvents())[0]).toMatchObject({ kind: 'login.locked', address: '192.0.2.0', login: '' });
    const others = begin();
    others.recordLockout('site', '2001:db8:1:2::/64', AT + 3_600_000);
    await others.stop();
    expect((await memory.allEvents())[2]).toMatchObject({ address: '2001:db8:1:2::', object: '2001:db8:1:2::' });
    expect((await memory.allEvents())[0]?.after).toBe('2026-11-18 13:06');
  });

  it('is dropped when too many lockouts can’t be written', async () => {
    const { memory, begin } = await setUp();
    const events = begin();
    let stored = 0;
    memory.store.writeEvents = () => Promise.reject(new Error('disk full'));
    for (let index = 0; index < 12_000; index++)
      events.recordLockout('site', `2001:db8::${index.toString(16)}:1`, AT + 1);
    memory.store.writeEvents = async (_site, batch) => {
      stored += batch.length;
    };
    await events.stop();
    expect(stored).toBe(10_000);
  });
});
