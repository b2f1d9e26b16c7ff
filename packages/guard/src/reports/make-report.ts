import { type ServerText, toParam } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { Language } from '../i18n/language.js';
import { ApiError } from '../lib/api-error.js';
import type { LoginAddresses } from '../login/index.js';
import type { Mail, Mailer } from '../mail/mailer.js';
import type { Actor } from '../settings/audit-store.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { ConnectorClient } from '../wordpress/connector-client.js';
import { buildReport, type ReportSite, type ReportTask, type WeeklyReport } from './build-report.js';
import { normalEmail } from './recipients.js';
import { type ReportPeriod, type ReportSource, readReportFacts } from './report-facts.js';

/** A report as a mail, without its recipient. */
export type ReportMail = Omit<Mail, 'to'>;

/**
 * Creates the report of a period as a mail. The HTML renderer is loaded with the first report, since most processes
 * never create one.
 * @param addresses present and former login and sign-up addresses, which no mail contains
 * @throws StorageError
 */
export async function makeReport(
  store: ReportSource,
  id: SiteId,
  site: ReportSite,
  period: ReportPeriod,
  addresses: LoginAddresses,
): Promise<ReportMail> {
  const [facts, { renderReport }] = await Promise.all([
    readReportFacts(store, id, period, addresses),
    import('./render-report.js'),
  ]);
  const report = buildReport(facts, site);
  return { subject: report.subject, html: renderReport(report), text: reportText(report) };
}

/**
 * Formats a report as plain text, for mail clients that show no HTML. It is created from the report, not from the HTML:
 * a table that reads well would become a column of bare numbers (decision 12).
 */
export function reportText(report: WeeklyReport): string {
  const { labels, links, tasks } = report;
  const blocks = [
    [report.headline, report.period],
    [report.summary],
    ...tasks.filter(({ urgent }) => urgent).map(toLines),
    report.figures.map(({ label, value, compared }) => `${label}: ${value}${compared === '' ? '' : ` (${compared})`}`),
    [labels.days, ...report.days.map(({ words }) => words)],
    ...report.lists.map(({ title, rows, footer }) => [
      title,
      ...rows.map(({ name, value }) => `- ${name}: ${value}`),
      ...(footer === null ? [] : [footer]),
    ]),
    ...tasks.filter(({ urgent }) => !urgent).map(toLines),
    ...(report.notes.length === 0 ? [] : [report.notes]),
    [labels.why, ...linkLine(labels.log, links.log), ...linkLine(labels.recipients, links.recipients)],
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function toLines({ title, text, button, link }: ReportTask): string[] {
  return [title, text, ...linkLine(button, link)];
}

function linkLine(label: string, href: string | null): string[] {
  return href === null ? [] : [`${label}: ${href}`];
}

/**
 * Sends the current report to the caller alone, at the address of the caller's account.
 * @returns that address
 * @throws ApiError mail_not_sent with the reason
 * @throws StorageError
 */
export async function sendTestReport(
  deps: {
    readonly client: Pick<ConnectorClient, 'user'>;
    readonly mailer: Mailer;
    readonly make: (site: SiteConfig) => Promise<ReportMail>;
    /** Language of the report. */
    readonly language: Language;
  },
  { site, actor }: { readonly site: SiteConfig; readonly actor: Actor },
): Promise<string> {
  const user = actor.id === null ? null : await deps.client.user(site, actor.id);
  const email = normalEmail(user?.email ?? '');
  if (email === null) {
    throw refusal('Your account in WordPress has no e-mail address that we can use.');
  }
  const mail = await deps.make(site);
  const subject = deps.language.translate('Test: {subject}', { subject: mail.subject });
  const outcome = await deps.mailer.send(site, { ...mail, subject, to: email });
  if (outcome.kind !== 'sent') {
    throw refusal(serverMessage('test_report_failed', { reason: toParam(outcome.reason) }));
  }
  return email;
}

function refusal(message: ServerText): ApiError {
  return new ApiError('mail_not_sent', { message });
}
