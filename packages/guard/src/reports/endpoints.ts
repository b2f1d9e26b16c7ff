import type { weeklyReportEndpoints } from '@security-optimizer/contract/activity/endpoints';
import type { CallHandlers } from '../feature.js';
import type { Mailer } from '../mail/mailer.js';
import type { Services } from '../services.js';
import { readSiteSettings } from '../settings/site-settings.js';
import type { SiteConfig, SiteId } from '../site.js';
import { type ReportMail, sendTestReport } from './make-report.js';
import { type ReportRecipients, setRecipients, toRecipients } from './recipients.js';
import { getWeekToDate, type ReportPeriod } from './report-facts.js';
import type { ReportStore } from './sent-reports.js';

export type ReportCalls = (typeof weeklyReportEndpoints)[number];

/** The endpoints of the tab Weekly Reports. */
export function reportEndpoints(
  { config, change, wordpress, sites, clock }: Services,
  reports: {
    readonly sends: ReportStore;
    readonly mailer: Mailer;
    report(site: SiteConfig, period: ReportPeriod): Promise<ReportMail>;
  },
): CallHandlers<ReportCalls> {
  const { maxEmails } = config.weeklyReport;
  const { sends, mailer } = reports;
  const timeZone = (site: SiteId) => sites.timeZone(site);
  const soFar = (site: SiteConfig) =>
    reports.report(site, getWeekToDate(timeZone(site.id), Math.floor(clock() / 1000)));
  return {
    async weeklyReport(_input, { site }) {
      const { log } = await readSiteSettings(change.settings, site.id);
      return { data: toResponse(toRecipients(log, maxEmails)), message: '' };
    },
    async 'update:notification_emails'({ entries: emails }, { site, actor }) {
      const deps = { change, sends, timeZone, maxEmails, clock };
      const { recipients, willSendReports } = await setRecipients(deps, { site, actor, emails });
      return { data: toResponse(recipients), message: savedText(recipients, willSendReports) };
    },
    async previewWeeklyReport(_input, { site }) {
      return { data: await soFar(site), message: '' };
    },
    async testWeeklyReport(_input, { site, actor }) {
      const deps = { client: wordpress, mailer, make: soFar, language: sites.language(site.id) };
      return { data: { email: await sendTestReport(deps, { site, actor }) }, message: '' };
    },
  };
}

function savedText({ entries }: ReportRecipients, willSendReports: boolean): string {
  if (entries.length === 0) return 'Nobody gets the weekly report.';
  return willSendReports
    ? 'The list is saved.'
    : 'The list is saved. Reports come once the log is on and kept for 8 days or more.';
}

function toResponse({ entries, max_emails }: ReportRecipients) {
  return { entries: entries.map((entry) => ({ ...entry })), max_emails };
}
