import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { WEEKLY_REPORT_MIN_DAYS } from '@security-optimizer/contract/activity/limits';
import { messages } from '@security-optimizer/contract/messages';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { toPlainText } from '@security-optimizer/contract/typed-text';
import { ApiError } from '../lib/api-error.js';
import type { Clock } from '../lib/clock.js';
import type { Actor } from '../settings/audit-store.js';
import { changeSettings, type SettingChangeContext } from '../settings/change-settings.js';
import type { LogSettings } from '../settings/site-settings.js';
import type { SiteConfig, SiteId } from '../site.js';

import { getDueSendTime } from './send-time.js';
import type { ReportStore } from './sent-reports.js';

/** RFC 5321 section 4.5.3.1. */
const LOCAL_MAX = 64;
const ADDRESS_MAX = 254;
/** The local part: a dot-atom of RFC 5322, the form that every mail server accepts. */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** Labels of a host name; the last one is no number. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Normalizes an e-mail address: plain text, lower-case, an internationalized domain in its ASCII form (RFC 5891).
 * @returns null when no mail can be sent to it
 */
export function normalEmail(text: string): string | null {
  const plain = toPlainText(text).toLowerCase();
  const at = plain.lastIndexOf('@');
  const local = plain.slice(0, Math.max(at, 0));
  const domain = domainToASCII(plain.slice(at + 1));
  const email = `${local}@${domain}`;
  const fits = local.length <= LOCAL_MAX && email.length <= ADDRESS_MAX;
  return fits && LOCAL.test(local) && DOMAIN.test(domain) ? email : null;
}

/**
 * Parses a new list of recipients, all or nothing. Duplicates are removed.
 * @throws ApiError invalid_input with a text for each invalid row, under its position from 0
 */
export function readRecipients(entries: readonly string[], max: number): string[] {
  const fields: Record<string, ServerText> = {};
  const list: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const email = normalEmail(entry);
    if (toPlainText(entry) === '') fields[index] = messages.required;
    else if (email === null) fields[index] = messages.invalidEmail;
    else if (!list.includes(email)) list.push(email);
  }
  if (list.length > max && Object.keys(fields).length === 0) {
    fields.entries = serverMessage('too_many_recipients', { count: max });
  }
  if (Object.keys(fields).length > 0) throw new ApiError('invalid_input', { fields });
  return list;
}

/**
 * Returns the id of a recipient: derived from the address, so that it is the same in every list. An integer below 2^48.
 */
export function recipientId(email: string): number {
  return createHash('sha256').update(email).digest().readUIntBE(0, 6);
}

/** The recipients of the weekly report, in the form of the API. */
export interface ReportRecipients {
  readonly entries: readonly { readonly id: number; readonly email: string }[];
  readonly max_emails: number;
}

export interface RecipientContext {
  readonly change: SettingChangeContext;
  readonly sends: Pick<ReportStore, 'skip'>;
  readonly timeZone: (site: SiteId) => string;
  readonly maxEmails: number;
  readonly clock: Clock;
}

/**
 * Sets the recipients of the weekly report, all or nothing. New recipients get the next report, not one that was due
 * just before.
 *
 * @returns the stored list, and whether the log is kept long enough for reports
 * @throws ApiError invalid_input with a text for each invalid row, under its position
 */
export async function setRecipients(
  deps: RecipientContext,
  { site, actor, emails }: { readonly site: SiteConfig; readonly actor: Actor; readonly emails: readonly string[] },
): Promise<{ readonly recipients: ReportRecipients; readonly willSendReports: boolean }> {
  const list = readRecipients(emails, deps.maxEmails);
  const { after } = await changeSettings(deps.change, { site, actor }, async ({ log }) => {
    const added = list.filter((email) => !log.notification_emails.includes(email));
    const due = getDueSendTime(site.id, deps.timeZone(site.id), deps.clock());
    if (added.length > 0 && due !== null) await deps.sends.skip(site.id, added, due, deps.clock());
    return { notification_emails: list };
  });
  return { recipients: toRecipients(after.log, deps.maxEmails), willSendReports: canSendReports(after.log) };
}

/** Converts the recipients of a site for the API. */
export function toRecipients({ notification_emails }: LogSettings, maxEmails: number): ReportRecipients {
  return {
    entries: notification_emails.map((email) => ({ id: recipientId(email), email })),
    max_emails: maxEmails,
  };
}

/** Whether a site's log is on and kept long enough for a report. */
export function canSendReports({ disable_activity_log, log_lifetime }: LogSettings): boolean {
  return disable_activity_log === 0 && log_lifetime >= WEEKLY_REPORT_MIN_DAYS;
}
