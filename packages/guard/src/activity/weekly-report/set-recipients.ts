import type { Clock } from '../../lib/clock.js';
import { type ChangeDeps, changeSettings } from '../../settings/change-settings.js';
import type { SiteConfig, SiteId } from '../../site.js';
import type { Actor } from '../../storage/settings-store.js';
import type { LogSettings } from '../log-settings.js';
import { readRecipients, recipientId } from './recipients.js';
import { reportsArePossible } from './report-sender.js';
import type { ReportSends } from './report-sends.js';
import { dueSendTime } from './send-time.js';

/** Who gets the weekly report, as the API tells it. */
export interface ReportRecipients {
  readonly entries: readonly { readonly id: number; readonly email: string }[];
  readonly max_emails: number;
}

export interface RecipientDeps {
  readonly change: ChangeDeps;
  readonly sends: Pick<ReportSends, 'skip'>;
  readonly timeZone: (site: SiteId) => string;
  readonly maxEmails: number;
  readonly clock: Clock;
}

/**
 * Sets who gets the weekly report, all or nothing. Whoever is new gets the next one: the report of a time that has
 * just passed is not made up for them.
 *
 * @returns the list as it is stored, and whether the log is kept long enough for reports
 * @throws ApiError invalid_input with a text for each bad row, under its position
 */
export async function setRecipients(
  deps: RecipientDeps,
  { site, actor, emails }: { readonly site: SiteConfig; readonly actor: Actor; readonly emails: readonly string[] },
): Promise<{ readonly recipients: ReportRecipients; readonly reportsCome: boolean }> {
  const list = readRecipients(emails, deps.maxEmails);
  const { after } = await changeSettings(deps.change, { site, actor }, async ({ log }) => {
    const fresh = list.filter((email) => !log.notification_emails.includes(email));
    const due = dueSendTime(site.id, deps.timeZone(site.id), deps.clock());
    if (fresh.length > 0 && due !== null) await deps.sends.skip(site.id, fresh, due, deps.clock());
    return { notification_emails: list };
  });
  return { recipients: recipientsOf(after.log, deps.maxEmails), reportsCome: reportsArePossible(after.log) };
}

/** The recipients of a site, as the API tells them. */
export function recipientsOf({ notification_emails }: LogSettings, maxEmails: number): ReportRecipients {
  return {
    entries: notification_emails.map((email) => ({ id: recipientId(email), email })),
    max_emails: maxEmails,
  };
}
