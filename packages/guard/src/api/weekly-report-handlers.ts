import type { weeklyReportEndpoints } from '@security-optimizer/contract/activity-endpoints';
import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import type { HandlersOf } from './handlers.js';

type Caller = { readonly site: SiteConfig; readonly actor: Actor };

/** Who gets the weekly report, as the API tells it. */
export interface ReportRecipients {
  readonly entries: readonly { readonly id: number; readonly email: string }[];
  readonly max_emails: number;
}

/** The use cases behind the tab Weekly Reports. Texts are for the owner. */
export interface WeeklyReportUseCases {
  readonly fetchRecipients: (site: SiteConfig) => Promise<ReportRecipients>;
  /** The whole new list, all or nothing. Throws ApiError invalid_input with texts by position. */
  readonly setRecipients: (
    change: Caller & { readonly emails: readonly string[] },
  ) => Promise<{ readonly recipients: ReportRecipients; readonly message: string }>;
  /** The report as it would be sent now. */
  readonly previewReport: (
    site: SiteConfig,
  ) => Promise<{ readonly subject: string; readonly html: string; readonly text: string }>;
  /** Sends it to the caller alone. */
  readonly testReport: (ask: Caller) => Promise<{ readonly email: string; readonly message: string }>;
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
      const { recipients, message } = await useCases.setRecipients({ site, actor, emails });
      return { data: answer(recipients), message };
    },
    async previewWeeklyReport(_input, { site }) {
      return { data: await useCases.previewReport(site), message: '' };
    },
    async testWeeklyReport(_input, { site, actor }) {
      const { email, message } = await useCases.testReport({ site, actor });
      return { data: { email }, message };
    },
  };
}

function answer({ entries, max_emails }: ReportRecipients) {
  return { entries: entries.map((entry) => ({ ...entry })), max_emails };
}
