import type { SiteConfig } from '../../site.js';
import type { Sender, Visitor } from '../../wordpress/sender.js';

/** Lets WordPress make the session of a user who passed the second factor. Throws when WordPress did not do it. */
export interface SessionIssuer {
  issueSession(
    site: SiteConfig,
    ask: {
      readonly user: number;
      readonly remember: boolean;
      readonly redirect: string;
      readonly interim: boolean;
      /** The factor was set up in this very log-in, so it proves nothing beyond the password. */
      readonly newFactor: boolean;
      readonly sender: Sender;
    },
  ): Promise<{
    /** Where WordPress sends the user. */
    readonly redirect: string;
    /** Its `Set-Cookie` headers, passed on unchanged. */
    readonly setCookies: readonly string[];
  }>;
}

/**
 * Asks WordPress who is signed in, by the cookies alone; only for what changes nothing but the visitor's own. Throws
 * when WordPress can't be asked.
 */
export interface SessionOfVisitor {
  whoIs(
    site: SiteConfig,
    visitor: Visitor,
  ): Promise<{ readonly id: number; readonly login: string; readonly administrator: boolean } | null>;
}
