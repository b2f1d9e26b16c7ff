import { WEEKLY_REPORT_MIN_DAYS } from '@security-optimizer/contract/activity-limits';
import type { Clock } from '../../lib/clock.js';
import type { Logger } from '../../lib/logger.js';
import type { Mailer, MailOutcome } from '../../mail/mailer.js';
import type { SiteConfig, SiteId } from '../../site.js';
import { english } from '../../texts/language.js';
import type { LogSettings } from '../log-settings.js';
import type { ReportMail } from './make-report.js';
import type { ClaimedReport, ReportSends } from './report-sends.js';
import { dueSendTime, nextTry } from './send-time.js';

const EVERY_MS = 60_000;
const INTERRUPTED = english.translate('We were stopped while it was being sent, so it may not have arrived.');

export interface ReportSenderDeps {
  readonly sites: readonly SiteConfig[];
  readonly settings: (site: SiteId) => LogSettings;
  readonly timeZone: (site: SiteId) => string;
  readonly sends: ReportSends;
  readonly mailer: Mailer;
  /** The report that belongs to a time of sending, milliseconds since the Unix epoch. Throws StorageError. */
  readonly make: (site: SiteConfig, sendTime: number) => Promise<ReportMail>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly everyMs?: number;
}

export interface ReportSender {
  start(): void;
  /** Sends what is due now, for every site. Never throws. */
  round(): Promise<void>;
  /** Resolves when no mail is under way. */
  stop(): Promise<void>;
}

/** Whether a site's log is kept long enough for a report. */
export function reportsArePossible({ disable_activity_log, log_lifetime }: LogSettings): boolean {
  return disable_activity_log === 0 && log_lifetime >= WEEKLY_REPORT_MIN_DAYS;
}

/**
 * Sends each site's report once a week to each of its recipients. What is done is written down before a mail leaves, so
 * that neither a restart nor a clock that jumps sends one twice.
 */
export function createReportSender(deps: ReportSenderDeps): ReportSender {
  const { sites, sends, clock, logger, everyMs = EVERY_MS } = deps;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;
  /** Sites whose sending fails as a whole; once per outage. */
  const failing = new Set<SiteId>();

  async function sendAll(): Promise<void> {
    for (const site of sites) {
      if (stopped) return;
      try {
        await sendDue(site);
        failing.delete(site.id);
      } catch (error) {
        if (!failing.has(site.id) && !stopped) {
          logger.error({ event: 'report-not-made', site: site.id, err: error }, 'A weekly report can’t be made yet.');
        }
        failing.add(site.id);
      }
    }
  }

  async function sendDue(site: SiteConfig): Promise<void> {
    const settings = deps.settings(site.id);
    const emails = settings.notification_emails;
    if (emails.length === 0 || !reportsArePossible(settings)) return;
    await sends.endInterrupted(site.id, INTERRUPTED, clock());
    const due = dueSendTime(site.id, deps.timeZone(site.id), clock());
    for (const email of emails) {
      if (stopped) return;
      // One by one: what was claimed and could not be begun before a stop would count as interrupted.
      const claimed = await sends.claim(site.id, email, due, clock());
      if (claimed !== null) await sendOne(site, claimed);
    }
  }

  /** The report of a week is made once for all its recipients. */
  let made: { readonly site: SiteId; readonly slot: number; readonly mail: Promise<ReportMail> } | null = null;

  function reportOf(site: SiteConfig, slot: number): Promise<ReportMail> {
    if (made?.site !== site.id || made.slot !== slot) made = { site: site.id, slot, mail: deps.make(site, slot) };
    return made.mail;
  }

  async function sendOne(site: SiteConfig, report: ClaimedReport): Promise<void> {
    let outcome: MailOutcome;
    try {
      const mail = await reportOf(site, report.slot);
      outcome = await deps.mailer.send(site, { ...mail, to: report.email });
    } catch (error) {
      made = null;
      await noteFailure(site, report, english.translate('The report could not be made.'), true);
      throw error;
    }
    if (outcome.kind !== 'sent') return noteFailure(site, report, outcome.reason, outcome.kind === 'refused');
    await sends.sent(site.id, report, clock());
    logger.info({ event: 'report-sent', site: site.id, tries: report.tries + 1 }, 'A weekly report was sent.');
  }

  async function noteFailure(site: SiteConfig, report: ClaimedReport, reason: string, again: boolean): Promise<void> {
    const tries = report.tries + 1;
    const nextAt = again ? nextTry(tries, clock()) : null;
    await sends.failed(site.id, report, { reason, nextAt });
    logger.warn(
      { event: 'report-not-sent', site: site.id, tries, reason, next: nextAt && new Date(nextAt).toISOString() },
      'A weekly report could not be sent.',
    );
  }

  function round(): Promise<void> {
    running = running.then(sendAll).finally(() => {
      made = null;
    });
    return running;
  }

  function later(): void {
    timer = setTimeout(() => {
      round().finally(() => {
        if (!stopped) later();
      });
    }, everyMs).unref();
  }

  return {
    start: later,
    round,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
