import { type SettingValues, simpleDefaults } from '@security-optimizer/contract/settings/catalogue';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { recordedLog } from '../../test/support/logs.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { siteConfig } from '../../test/support/site-config.js';
import { english } from '../i18n/language.js';
import { createLoginAddresses } from '../login/login-addresses.js';
import type { Mail, MailOutcome } from '../mail/mailer.js';
import { sqlAlertQueue } from './alert-queue.js';
import { DAY, HOUR } from './alert-rules.js';
import { type AlertSettings, defaultAlertSettings } from './alert-settings.js';
import { deliverAlerts } from './deliver-alerts.js';
import type { Alert } from './describe-alert.js';

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 10, 21, 14);
const site = siteConfig();
const ANNA = 'anna@example.com';

/** Queue and delivery on a real database, with a clock and a mail server that the test controls. */
async function setUp() {
  const dataDir = await scratchFolder();
  const log = recordedLog();
  let db: TestDatabase = await openTestDatabase(dataDir);
  onTestFinished(() => db.destroy());
  const state = {
    now: NOON,
    settings: { ...defaultAlertSettings } as AlertSettings,
    limits: simpleDefaults('alerts') as SettingValues<'alerts'>,
    outcome: { kind: 'sent' } as MailOutcome,
    mails: [] as Mail[],
    log,
    queue: sqlAlertQueue(db),
  };
  let number = 0;
  return Object.assign(state, {
    async add(change: Partial<Alert> = {}, channels = [ANNA]) {
      const uid = `alert-${number++}`;
      const alert = {
        ...{ kind: 'software-added', uid, at: state.now, by: 'owner', address: '192.0.2.1' },
        ...{ software: 'plugin', name: `Plugin ${number}`, action: 'installed' },
        ...change,
      } as Alert;
      await state.queue.add(site.id, channels, { uid, kind: alert.kind, alert: JSON.stringify(alert) }, state.now);
    },
    /** Delivers what is due at the given time. */
    async at(now: number) {
      state.now = now;
      return deliverAlerts(
        {
          queue: state.queue,
          settings: () => state.settings,
          limits: () => state.limits,
          emails: () => [ANNA],
          describe: async () => ({
            ...{ name: 'example.com', url: 'https://example.com', language: english, timeZone: 'Europe/Berlin' },
            page: (name) => `https://example.com/wp-admin/${name}`,
            redact: createLoginAddresses(['my-door']).redact,
          }),
          mailer: {
            async send(_site, mail) {
              state.mails.push(mail);
              return state.outcome;
            },
          },
          policy: { privateTargets: [], plainHttp: false },
          resolve: async () => ['127.0.0.1'],
          clock: () => state.now,
          logger: log.logger,
        },
        site,
      );
    },
    async restart() {
      await db.destroy();
      db = await openTestDatabase(dataDir);
      state.queue = sqlAlertQueue(db);
    },
    subjects: () => state.mails.map(({ subject }) => subject),
  });
}

describe('alerts by mail', () => {
  it('are sent one by one, with a task and one button', async () => {
    const alerts = await setUp();
    await alerts.add({ kind: 'new-administrator', login: 'web-helper', promoted: false } as Partial<Alert>);
    expect(await alerts.at(NOON)).toBe(NOON + 5000);
    await alerts.at(NOON + 5000);
    expect(alerts.subjects()).toEqual(['example.com has a new administrator']);
    const [mail] = alerts.mails as [Mail];
    for (const text of [
      'web-helper',
      'owner',
      '192.0.2.1',
      'Was it not you?',
      'Open the checkup',
      'See it in the log',
    ]) {
      expect(mail.html).toContain(text);
      expect(mail.text).toContain(text);
    }
    expect(mail.text).toContain(`You get this alert because ${ANNA} asked for it on example.com.`);
    const log = 'https://example.com/wp-admin/admin.php?page=activity-log';
    expect(mail.text).toContain(`${log}&log_tab=weekly-reports#weekly-reports`);
    const from = NOON / 1000;
    expect(mail.text).toContain(`${log}&log_tab=registered&log_from=${from}&log_activity=user.created#registered`);
    expect(await alerts.at(NOON + HOUR)).toBeNull();
    expect(alerts.mails).toHaveLength(1);
  });

  it('are combined in one mail when there are more than four an hour', async () => {
    const alerts = await setUp();
    for (let minute = 0; minute < 10; minute++) {
      await alerts.add();
      await alerts.at(NOON + minute * MINUTE + 10_000);
    }
    expect(alerts.mails).toHaveLength(4);
    await alerts.at(NOON + HOUR + 10_000);
    expect(alerts.subjects().at(-1)).toBe('6 alerts of example.com');
    expect(alerts.mails.at(-1)?.text).toContain('6 alerts came together in this mail: you get at most 4 an hour.');
    expect(alerts.mails.at(-1)?.text).toContain('The plugin Plugin 5 was installed');
  });

  it('survive a restart, and are sent once each', async () => {
    const alerts = await setUp();
    await alerts.add();
    await alerts.restart();
    await alerts.at(NOON + 5000);
    await alerts.restart();
    await alerts.at(NOON + HOUR);
    expect(alerts.mails).toHaveLength(1);
  });

  it('that fail are retried after growing pauses, logged once, and given up after a day', async () => {
    const alerts = await setUp();
    alerts.outcome = { kind: 'refused', reason: 'WordPress could not send the mail.' };
    await alerts.add();
    let next = await alerts.at(NOON + 5000);
    const rests: number[] = [];
    while (next !== null && rests.length < 100) {
      rests.push(Math.round((next - alerts.now) / 1000));
      next = await alerts.at(next);
    }
    expect(rests.slice(0, 5)).toEqual([30, 120, 600, 1800, 3600]);
    expect(rests.length).toBeLessThan(30);
    expect(alerts.now - NOON).toBeLessThanOrEqual(DAY + 2 * HOUR);
    const events = alerts.log.events();
    expect(events.filter((event) => event === 'alerts-send-failed')).toHaveLength(1);
    expect(events.filter((event) => event === 'alerts-given-up')).toHaveLength(1);
    const [channel] = await alerts.queue.listChannels(site.id);
    expect(channel).toMatchObject({ channel: ANNA, answer: 'WordPress could not send the mail.', waiting: 0 });
  });

  it('are sent as soon as the mailer works again', async () => {
    const alerts = await setUp();
    alerts.outcome = { kind: 'refused', reason: 'no' };
    await alerts.add();
    await alerts.at(NOON + 5000);
    alerts.outcome = { kind: 'sent' };
    await alerts.queue.retryNow(site.id, NOON + 6000);
    await alerts.at(NOON + 6000);
    expect(alerts.mails).toHaveLength(2);
    expect(await alerts.at(NOON + HOUR)).toBeNull();
  });

  it('are not sent again when they may have been delivered', async () => {
    const alerts = await setUp();
    alerts.outcome = { kind: 'unclear', reason: 'The answer was lost.' };
    await alerts.add();
    await alerts.at(NOON + 5000);
    expect(await alerts.at(NOON + HOUR)).toBeNull();
    expect(alerts.mails).toHaveLength(1);
  });

  it('are limited in number: the oldest are deleted first, a new administrator last', async () => {
    const alerts = await setUp();
    await alerts.add({ kind: 'new-administrator', login: 'first', promoted: false } as Partial<Alert>);
    for (let count = 0; count < 260; count++) await alerts.add();
    const waiting = await alerts.queue.listWaiting(site.id, ANNA);
    expect(waiting).toHaveLength(200);
    expect(waiting[0]?.kind).toBe('new-administrator');
    await alerts.at(NOON + 5000);
    expect(alerts.mails).toHaveLength(1);
    expect(alerts.subjects()).toEqual(['200 alerts of example.com']);
  });

  it('wait until the morning in quiet hours', async () => {
    const alerts = await setUp();
    alerts.limits = { ...alerts.limits, alert_quiet_hours: 1 };
    const night = Date.UTC(2026, 10, 21, 22);
    alerts.now = night;
    await alerts.add();
    const morning = Date.UTC(2026, 10, 22, 6);
    expect(await alerts.at(night + MINUTE)).toBe(morning);
    await alerts.add({ kind: 'new-administrator', login: 'web-helper', promoted: true } as Partial<Alert>);
    await alerts.at(night + 2 * MINUTE);
    expect(alerts.subjects()).toEqual(['example.com has a new administrator']);
    await alerts.at(morning);
    expect(alerts.subjects()).toHaveLength(2);
  });
});

describe('text of visitors and users in an alert', () => {
  it('is plain, truncated, and contains no login address', async () => {
    const alerts = await setUp();
    const name = `<img src=x onerror=alert(1)>\r\nBcc: evil@example.net /my-door/ ${'long '.repeat(100)}`;
    await alerts.add({ name, by: '<script>' } as Partial<Alert>);
    await alerts.at(NOON + 5000);
    const [{ subject, html, text }] = alerts.mails as [Mail];
    expect(subject).not.toMatch(/[\r\n]/);
    expect(subject.length).toBeLessThan(150);
    expect(html).not.toMatch(/<img|<script/);
    expect(`${subject}${html}${text}`).not.toContain('my-door');
  });
});
