import type { weeklyReportEndpoints } from '@security-optimizer/contract/activity-endpoints';
import type { ReportRecipients } from '../activity/weekly-report/set-recipients.js';
import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import type { HandlersOf } from './handlers.js';

type Caller = { readonly site: SiteConfig; readonly actor: Actor };

/** The use cases behind the tab Weekly Reports. Texts are for the owner. */
export interface WeeklyReportUseCases {
  readonly fetchRecipients: (site: SiteConfig) => Promise<ReportRecipients>;
  /** The whole new list, all or nothing. Throws ApiError invalid_input with texts by position. */
  readonly setRecipients: (
    change: Caller & { readonly emails: readonly string[] },
  ) => Promise<{ readonly recipients: ReportRecipients; readonly reportsCome: boolean }>;
  /** The report as it would be sent now. */
  readonly previewReport: (
    site: SiteConfig,
  ) => Promise<{ readonly subject: string; readonly html: string; readonly text: string }>;
  /** Sends it to the caller alone. @returns where it goes */
  readonly testReport: (ask: Caller) => Promise<string>;
}

/** Connects each call of the tab Weekly Reports with its use case. */
export function createWeeklyReportHandlers(
  useCases: WeeklyReportUseCases,
): HandlersOf<(typeof weeklyReportEndpoints)[number]> {
  return {
    async weeklyReport(_input, { site }) {
      return { data: answer(await useCases.fetchRecipients(site)), message: '' };
    },
    async 'update:notification_emails'({ entries: emails }, { site, actor }) {
      const { recipients, reportsCome } = await useCases.setRecipients({ site, actor, emails });
      return { data: answer(recipients), message: savedText(recipients, reportsCome) };
    },
    async previewWeeklyReport(_input, { site }) {
      return { data: await useCases.previewReport(site), message: '' };
    },
    async testWeeklyReport(_input, { site, actor }) {
      return { data: { email: await useCases.testReport({ site, actor }) }, message: '' };
    },
  };
}

function savedText({ entries }: ReportRecipients, reportsCome: boolean): string {
  if (entries.length === 0) return 'Nobody gets the weekly report.';
  return reportsCome
    ? 'The list is saved.'
    : 'The list is saved. Reports come once the log is on and kept for 8 days or more.';
}

function answer({ entries, max_emails }: ReportRecipients) {
  return { entries: entries.map((entry) => ({ ...entry })), max_emails };
}
