import type { Language } from '../i18n/language.js';
import type { NoticeFact, NoticeList, NoticeTask } from '../mail/notice-mail.js';

/** A described alert, in the language of the site. All fields are plain text. */
export interface AlertText {
  readonly severity: 'critical' | 'warning' | 'info';
  readonly headline: string;
  /** Whether the headline names the site. Otherwise a fact does. */
  readonly namesSite?: true;
  /** Explains the event. */
  readonly lead: string;
  readonly facts: readonly NoticeFact[];
  readonly list?: NoticeList;
  /** The task of the owner. */
  readonly task: NoticeTask;
  /** URL of the Activity Log with fitting filters; null while the URL of the site is unknown. */
  readonly log: string | null;
}

export interface AlertSite {
  /** `example.com` or `example.com/blog`. */
  readonly name: string;
  /** URL of the site; empty while it is unknown. */
  readonly url: string;
  readonly language: Language;
  readonly timeZone: string;
  /** Returns the URL of a page of wp-admin, for example `plugins.php`; null while the URL of the site is unknown. */
  readonly page: (name: string) => string | null;
  /** Redacts present and former login addresses in a text. */
  readonly redact: (text: string) => string;
  /** Host names of addresses, as far as the log has them. */
  readonly hostnames?: ReadonlyMap<string, string>;
}
