import type { SiteConfig } from '../site.js';

/** A mail to one person. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/**
 * What became of a mail. `refused`: it was surely not sent and may be tried again. `unclear`: the answer got lost after
 * it was handed over, so trying again could send it twice. Reasons are words for the owner.
 */
export type MailOutcome = { readonly kind: 'sent' } | { readonly kind: 'refused' | 'unclear'; readonly reason: string };

/** A way in which mails leave. Never throws. */
export interface Mailer {
  send(site: SiteConfig, mail: Mail): Promise<MailOutcome>;
}
