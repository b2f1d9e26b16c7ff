import type { LoginAddresses } from '../../login/login-addresses.js';
import type { Mail } from '../../mail/mailer.js';
import type { SiteId } from '../../site.js';
import { buildReport, type ReportSite } from './build-report.js';
import { gatherReportFacts, type ReportStore } from './report-facts.js';
import type { ReportPeriod } from './report-period.js';
import { reportText } from './report-text.js';

/** A report as a mail, without its recipient. */
export type ReportMail = Omit<Mail, 'to'>;

/**
 * Makes the report of a period. What draws the HTML is loaded with the first one: most processes never make any.
 * @param addresses at which one logs in or signs up, or did: a mail names none of them
 * @throws StorageError
 */
export async function makeReport(
  store: ReportStore,
  id: SiteId,
  site: ReportSite,
  period: ReportPeriod,
  addresses: LoginAddresses,
): Promise<ReportMail> {
  const [facts, { renderReport }] = await Promise.all([
    gatherReportFacts(store, id, period, addresses),
    import('./render-report.js'),
  ]);
  const report = buildReport(facts, site);
  return { subject: report.subject, html: renderReport(report), text: reportText(report) };
}
