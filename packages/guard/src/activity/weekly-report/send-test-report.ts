import { ApiError } from '../../lib/api-error.js';
import type { Mailer } from '../../mail/mailer.js';
import type { SiteConfig } from '../../site.js';
import type { Actor } from '../../storage/settings-store.js';
import { english, type Language } from '../../texts/language.js';
import type { ConnectorClient } from '../../wordpress/connector-client.js';
import type { ReportMail } from './make-report.js';
import { normalEmail } from './recipients.js';

/**
 * Sends the report as it is now to the caller alone, at the address of the caller's account.
 * @returns that address
 * @throws ApiError mail_not_sent with the reason; StorageError
 */
export async function sendTestReport(
  deps: {
    readonly client: Pick<ConnectorClient, 'user'>;
    readonly mailer: Mailer;
    readonly make: (site: SiteConfig) => Promise<ReportMail>;
    /** Of the report. */
    readonly language: Language;
  },
  { site, actor }: { readonly site: SiteConfig; readonly actor: Actor },
): Promise<string> {
  const user = actor.id === null ? null : await deps.client.user(site, actor.id);
  const email = normalEmail(user?.email ?? '');
  if (email === null) {
    throw refusal(english.translate('Your account in WordPress has no e-mail address that we can use.'));
  }
  const mail = await deps.make(site);
  const subject = deps.language.translate('Test: {subject}', { subject: mail.subject });
  const outcome = await deps.mailer.send(site, { ...mail, subject, to: email });
  if (outcome.kind !== 'sent') {
    throw refusal(english.translate('The test report could not be sent. {reason}', { reason: outcome.reason }));
  }
  return email;
}

function refusal(message: string): ApiError {
  return new ApiError('mail_not_sent', { message });
}
