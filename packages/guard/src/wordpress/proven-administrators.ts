import { createHash } from 'node:crypto';
import type { Clock } from '../lib/clock.js';
import { setBounded } from '../lib/set-bounded.js';
import type { SiteId } from '../site.js';

/** How long an administrator's browser is known after WordPress has vouched for it, milliseconds. */
const KNOWN_MS = 3600_000;
const MOST = 1000;
/** WordPress's own session; the other cookies of a browser change from one call to the next. */
const SESSION = /(?:^|;\s*)(wordpress_logged_in_[^=;]{1,64}=[^;]{1,512})/;

/**
 * Browsers of which WordPress has said lately that an administrator has them. They go first where others wait; what
 * they may do is asked anew each time. By a hash: no cookie stays in memory.
 */
export class ProvenAdministrators {
  readonly #until = new Map<string, number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(site: SiteId, cookie: string): boolean {
    return (this.#until.get(keyOf(site, cookie)) ?? 0) > this.#clock();
  }

  /** What WordPress said of a browser. */
  note(site: SiteId, cookie: string, isAdministrator: boolean): void {
    const key = keyOf(site, cookie);
    this.#until.delete(key);
    if (isAdministrator) setBounded(this.#until, key, this.#clock() + KNOWN_MS, MOST);
  }
}

function keyOf(site: SiteId, cookie: string): string {
  const session = SESSION.exec(cookie)?.[1] ?? cookie;
  return createHash('sha256')
    .update(JSON.stringify([site, session]))
    .digest('base64');
}
