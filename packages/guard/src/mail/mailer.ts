import type { ServerText } from '@security-optimizer/contract/server-message';
import type { SiteConfig } from '../site.js';

/** A mail to one person. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/**
 * The outcome of a mail. `refused`: it was certainly not sent, and a retry is safe. `unclear`: the response was
 * lost after the mail was transmitted, so a retry could send it twice. Reasons are texts for the owner.
 */
export type MailOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused' | 'unclear'; readonly reason: ServerText };

/** Sends mails by one transport. */
export interface Mailer {
  /**
   * @param onSend called once, when the transport is ready and just before the mail is transmitted
   * @throws the error of `onSend`, and no other; then nothing was transmitted
   */
  send(site: SiteConfig, mail: Mail, onSend?: () => Promise<void>): Promise<MailOutcome>;
}
