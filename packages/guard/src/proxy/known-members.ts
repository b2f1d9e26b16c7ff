import { setBounded } from '../lib/set-bounded.js';
import type { SiteId } from '../site.js';

/** How long a session is known after WordPress has vouched for it, milliseconds. */
const KNOWN_MS = 3600_000;
const MOST = 10_000;
const SESSION = /(?:^|;\s*)(wordpress_logged_in_[^=;]{1,64}=[^;]{1,512})/;

/**
 * Sessions that WordPress has vouched for, by their cookies. Who leaves before WordPress has said who it was is a
 * member still when the same cookie was a member's a moment ago: pages of wp-admin break requests off all the time, and
 * the owner would find them among strangers. A made-up cookie is never known.
 */
export class KnownMembers {
  readonly #until = new Map<string, number>();

  /** @param cookie header of a request that a member made */
  saw(site: SiteId, cookie: string | undefined, now: number): void {
    const session = sessionOf(site, cookie);
    if (session !== null) setBounded(this.#until, session, now + KNOWN_MS, MOST);
  }

  knows(site: SiteId, cookie: string | undefined, now: number): boolean {
    const session = sessionOf(site, cookie);
    return session !== null && (this.#until.get(session) ?? 0) > now;
  }
}

function sessionOf(site: SiteId, cookie: string | undefined): string | null {
  const session = cookie === undefined ? undefined : SESSION.exec(cookie)?.[1];
  return session === undefined ? null : `${site} ${session}`;
}
