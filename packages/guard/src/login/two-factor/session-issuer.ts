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
      /** What the user's must still be, or empty. */
      readonly stamp: string;
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

/** Asks WordPress who somebody is. Every method throws when WordPress can't be asked. */
export interface SessionOfVisitor {
  /** Who is signed in, by the cookies alone; only for what changes nothing but the visitor's own. */
  whoIs(
    site: SiteConfig,
    visitor: Visitor,
  ): Promise<{ readonly id: number; readonly login: string; readonly administrator: boolean } | null>;
  /** A user by ID, or null; the stamp is empty when WordPress does not tell it. */
  user(site: SiteConfig, id: number): Promise<{ readonly stamp: string } | null>;
}
