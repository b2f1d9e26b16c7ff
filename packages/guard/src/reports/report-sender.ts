import { type MessageParam, type ServerText, toEnglish, toParam } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { Rounds } from '../lib/rounds.js';
import { toLocalTimestamp } from '../lib/time-zone.js';
import type { Mailer, MailOutcome } from '../mail/mailer.js';
import type { LogSettings } from '../settings/site-settings.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { ReportMail } from './make-report.js';
import { canSendReports } from './recipients.js';
import { getDueSendTime, toNextTry } from './send-time.js';
import type { ClaimedReport, ReportFailure, ReportStore } from './sent-reports.js';

const EVERY_MS = 60_000;
const INTERRUPTED = 'We were stopped while it was being sent, so it may not have arrived.';

export interface ReportSenderOptions {
  /** The sites, read at each round. */
  readonly sites: Iterable<SiteConfig>;
  readonly settings: (site: SiteId) => LogSettings;
  /** Returns the recipients of the report. */
  readonly recipients: (site: SiteId) => readonly string[];
  readonly timeZone: (site: SiteId) => string;
  readonly sends: ReportStore;
  readonly mailer: Mailer;
  /** Creates the report of a time of sending, milliseconds since the Unix epoch. Throws StorageError. */
  readonly make: (site: SiteConfig, sendTime: number) => Promise<ReportMail>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly everyMs?: number;
}

/**
 * Sends each site's report once a week to each of its recipients. Each mail is recorded before it is sent, so that
 * neither a restart nor a clock that jumps sends one twice.
 */
export function createReportSender(deps: ReportSenderOptions): Rounds {
  const { sites, sends, clock, logger, everyMs = EVERY_MS } = deps;
  const rounds = new Rounds(round, everyMs);
  /** Sites whose sending fails as a whole; logged once per outage. */
  const failing = new Set<SiteId>();

  async function sendAll(): Promise<void> {
    for (const site of sites) {
      if (rounds.isStopped) return;
      try {
        await sendDue(site);
        failing.delete(site.id);
      } catch (error) {
        if (!failing.has(site.id) && !rounds.isStopped) {
          logger.error(
            { event: 'report-build-failed', site: site.id, err: error },
            'A weekly report can’t be made yet.',
          );
        }
        failing.add(site.id);
      }
    }
  }

  async function sendDue(site: SiteConfig): Promise<void> {
    const settings = deps.settings(site.id);
    const emails = deps.recipients(site.id);
    if (emails.length === 0 || !canSendReports(settings)) return;
    await sends.endInterrupted(site.id, INTERRUPTED, clock());
    const due = getDueSendTime(site.id, deps.timeZone(site.id), clock());
    for (const email of emails) {
      if (rounds.isStopped) return;
      // Claimed one by one: a mail that was claimed but not begun before a stop would count as interrupted.
      const claimed = await sends.claim(site.id, email, due, clock());
      if (claimed !== null) await sendOne(site, claimed);
    }
  }

  /** The last report, which is created once for all its recipients. */
  let latest: { readonly site: SiteId; readonly slot: number; readonly mail: Promise<ReportMail> } | null = null;

  function buildReport(site: SiteConfig, slot: number): Promise<ReportMail> {
    if (latest?.site !== site.id || latest.slot !== slot) latest = { site: site.id, slot, mail: deps.make(site, slot) };
    return latest.mail;
  }

  async function sendOne(site: SiteConfig, report: ClaimedReport): Promise<void> {
    let outcome: MailOutcome;
    try {
      const mail = await buildReport(site, report.slot);
      outcome = await deps.mailer.send(site, { ...mail, to: report.email });
    } catch (error) {
      latest = null;
      await recordFailure(site, report, 'The report could not be made.', true);
      throw error;
    }
    if (outcome.kind !== 'sent') return recordFailure(site, report, outcome.reason, outcome.kind === 'refused');
    await sends.sent(site.id, report, clock());
    logger.info({ event: 'report-sent', site: site.id, tries: report.tries + 1 }, 'A weekly report was sent.');
  }

  async function recordFailure(
    site: SiteConfig,
    report: ClaimedReport,
    reason: ServerText,
    again: boolean,
  ): Promise<void> {
    const tries = report.tries + 1;
    const nextAt = again ? toNextTry(tries, clock()) : null;
    await sends.failed(site.id, report, { reason, nextAt });
    logger.warn(
      {
        event: 'report-send-failed',
        site: site.id,
        tries,
        reason: toEnglish(reason),
        next: nextAt && new Date(nextAt).toISOString(),
      },
      'A weekly report could not be sent.',
    );
  }

  async function round(): Promise<void> {
    await sendAll();
    latest = null;
  }

  return rounds;
}

/** Returns why reports were not sent, for the owner; null when all were. */
export function toFailureText(failures: readonly ReportFailure[], timeZone: string): ServerText | null {
  const [first, ...others] = failures;
  if (first === undefined) return null;
  const { email } = first;
  const reason = toSentence(first.reason);
  const more = others.length;
  if (first.nextAt === null) {
    return more === 0
      ? serverMessage('report_failed', { email, reason })
      : serverMessage('reports_failed', { email, reason, more });
  }
  const time = { time: toLocalTimestamp(timeZone, first.nextAt / 1000) };
  return more === 0
    ? serverMessage('report_failed_retry', { email, reason, time })
    : serverMessage('reports_failed_retry', { email, reason, time, more });
}

/** Adds a full stop if needed: reasons that an earlier release stored may lack it. */
function toSentence(reason: ServerText): MessageParam {
  return typeof reason !== 'string' || /[.…]$/.test(reason) ? toParam(reason) : `${reason}.`;
}
