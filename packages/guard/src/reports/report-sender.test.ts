import { type ServerText, toEnglish } from '@security-optimizer/contract/server-message';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { recordedLog } from '../../test/support/logs.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { siteConfig } from '../../test/support/site-config.js';
import type { Mail, MailOutcome } from '../mail/mailer.js';
import { defaultLogSettings, type LogSettings } from '../settings/site-settings.js';
import { createReportSender, toFailureText } from './report-sender.js';
import { lastSendTime } from './send-time.js';
import { createReportStore } from './sent-reports.js';

const ZONE = 'Europe/Berlin';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const site = siteConfig();
/** The time when the site's report is due. */
const DUE = lastSendTime(site.id, ZONE, Date.UTC(2026, 10, 21));

/** The sender on a real database, with a clock and a mail server that the test controls. */
async function sending(change: Partial<LogSettings> = {}) {
  const log = recordedLog();
  const dataDir = await scratchFolder();
  const fake = {
    now: DUE,
    settings: { ...defaultLogSettings, notification_emails: ['anna@example.com', 'ben@example.com'], ...change },
    /** Recipients who want alerts only. */
    without: [] as string[],
    answer: { kind: 'sent' } as MailOutcome,
    mails: [] as Mail[],
    made: 0,
    faulty: false,
    log,
  };
  let db: TestDatabase = await openTestDatabase(dataDir, { logger: log.logger });
  onTestFinished(() => db.destroy());
  const start = () =>
    createReportSender({
      sites: [site],
      settings: () => fake.settings,
      recipients: () => fake.settings.notification_emails.filter((email) => !fake.without.includes(email)),
      timeZone: () => ZONE,
      sends: createReportStore(db),
      mailer: {
        async send(_site, mail) {
          fake.mails.push(mail);
          return fake.answer;
        },
      },
      async make(_site, at) {
        fake.made++;
        if (fake.faulty) throw new Error('The log can’t be read.');
        return { subject: `Report of ${at}`, html: '<p>', text: 'p' };
      },
      clock: () => fake.now,
      logger: log.logger,
    });
  let sender = start();
  return Object.assign(fake, {
    round: () => sender.round(),
    async roundAt(now: number) {
      fake.now = now;
      await sender.round();
    },
    async restart() {
      await sender.stop();
      await db.destroy();
      db = await openTestDatabase(dataDir, { logger: log.logger });
      sender = start();
    },
    failure: async () =>
      printEnglish(
        toFailureText(await createReportStore(db).failures(site.id, fake.settings.notification_emails), ZONE),
      ),
    to: () => fake.mails.map(({ to }) => to),
  });
}

describe('weekly reports', () => {
  it('are sent to each recipient once a week, and created once for all', async () => {
    const week = await sending();
    await week.roundAt(DUE - MINUTE);
    await week.roundAt(DUE);
    await week.roundAt(DUE + MINUTE);
    expect(week.to()).toEqual(['anna@example.com', 'ben@example.com']);
    expect([week.made, week.mails[0]?.subject]).toEqual([1, `Report of ${DUE}`]);
    await week.roundAt(lastSendTime(site.id, ZONE, DUE + 8 * DAY));
    expect(week.mails).toHaveLength(4);
  });

  it('are not sent to recipients who want alerts only', async () => {
    const week = await sending();
    week.without.push('ben@example.com');
    await week.roundAt(DUE);
    expect(week.to()).toEqual(['anna@example.com']);
  });

  it('are not sent again after a restart', async () => {
    const week = await sending();
    await week.round();
    await week.restart();
    await week.roundAt(DUE + 2 * MINUTE);
    expect(week.mails).toHaveLength(2);
  });

  it('that were missed are sent within a day, and not later', async () => {
    const late = await sending();
    await late.roundAt(DUE + DAY - MINUTE);
    expect(late.mails).toHaveLength(2);
    const later = await sending();
    await later.roundAt(DUE + DAY);
    expect(later.mails).toEqual([]);
  });

  it.each([{ log_lifetime: 7 }, { disable_activity_log: 1 }, { notification_emails: [] }] as const)(
    'are not sent with %j',
    async (settings) => {
      const week = await sending(settings);
      await week.round();
      expect([week.mails, week.made]).toEqual([[], 0]);
    },
  );

  it('are sent with 8 days', async () => {
    const week = await sending({ log_lifetime: 8 });
    await week.round();
    expect(week.mails).toHaveLength(2);
  });

  it('that failed are retried after 10 minutes, 1, 6 and 24 hours, also after a restart, and then given up', async () => {
    const week = await sending({ notification_emails: ['anna@example.com'] });
    week.answer = { kind: 'refused', reason: 'Mailbox full' };
    let at = DUE;
    await week.roundAt(at);
    for (const rest of [10 * MINUTE, HOUR, 6 * HOUR, DAY]) {
      await week.roundAt(at + rest - MINUTE);
      const before = week.mails.length;
      await week.restart();
      at += rest;
      await week.roundAt(at);
      expect(week.mails.length).toBe(before + 1);
    }
    await week.roundAt(at + DAY);
    await week.roundAt(at + 2 * DAY);
    expect(week.mails).toHaveLength(5);
    expect(await week.failure()).toBe('The report to anna@example.com failed. Mailbox full.');
    expect(week.log.events().filter((event) => event === 'report-send-failed')).toHaveLength(5);
  });

  it('that failed are reported to the owner until one is sent', async () => {
    const week = await sending();
    week.answer = { kind: 'refused', reason: 'Mailbox full' };
    await week.round();
    expect(await week.failure()).toMatch(
      /^The report to \w+@example\.com and 1 more failed\. Mailbox full\. We try again at 2026-11-\d\d \d\d:\d\d\.$/,
    );
    week.answer = { kind: 'sent' };
    await week.roundAt(DUE + 10 * MINUTE);
    expect(await week.failure()).toBeNull();
    expect(week.mails).toHaveLength(4);
  });

  it('whose response was lost are not sent again', async () => {
    const week = await sending({ notification_emails: ['anna@example.com'] });
    week.answer = { kind: 'unclear', reason: 'no answer' };
    await week.round();
    await week.roundAt(DUE + HOUR);
    expect(week.mails).toHaveLength(1);
    expect(await week.failure()).toBe('The report to anna@example.com failed. no answer.');
  });

  it('that could not be created are tried again', async () => {
    const week = await sending({ notification_emails: ['anna@example.com'] });
    week.faulty = true;
    await week.round();
    week.faulty = false;
    await week.roundAt(DUE + 10 * MINUTE);
    expect(week.to()).toEqual(['anna@example.com']);
    expect(week.log.events()).toContain('report-build-failed');
  });

  it('are no longer sent to a recipient who was removed from the list', async () => {
    const week = await sending();
    week.answer = { kind: 'refused', reason: 'no' };
    await week.round();
    week.settings = { ...week.settings, notification_emails: ['ben@example.com'] };
    week.answer = { kind: 'sent' };
    await week.roundAt(DUE + 10 * MINUTE);
    expect(week.to()).toEqual(['anna@example.com', 'ben@example.com', 'ben@example.com']);
    expect(await week.failure()).toBeNull();
  });
});

function printEnglish(text: ServerText | null): string | null {
  return text === null ? null : toEnglish(text);
}
