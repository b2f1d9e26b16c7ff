import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import type { Visitor } from '../wordpress/sender.js';

/** Who calls, and for which site. */
export interface CallContext {
  readonly site: SiteConfig;
  readonly actor: Actor;
  /** The caller's browser, for commands to WordPress that concern its own session. */
  readonly visitor: Visitor;
}

/** What a call answers with; the envelope is put around it later. */
export interface Outcome<Data> {
  readonly data: Data;
  readonly message: string;
  /** Values of `Set-Cookie` that WordPress wants the caller's browser to have. */
  readonly setCookies?: readonly string[];
}
