import { createHash } from 'node:crypto';
import type { Clock } from '../lib/clock.js';
import { setBounded } from '../lib/collections.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { ConnectorClient } from './connector-client.js';
import type { SessionResponse, WordPressUser } from './connector-responses.js';
import type { Sender } from './site-origin.js';

/** A positive result is cached for this long, milliseconds, and used only by requests that change nothing. */
const CACHE_MS = 5000;
const CACHE_ENTRIES = 1000;

/** The credentials that a browser sent. */
export interface SessionCredentials {
  readonly cookie: string;
  readonly nonce: string;
  readonly sender: Sender;
  /** Whether WordPress has recently confirmed that a user is signed in with this browser. */
  readonly isRegisteredUser: boolean;
  /** False once the client has disconnected. */
  isWanted(): boolean;
}

export interface Sessions {
  /**
   * The user of cookie and nonce, or null when WordPress does not accept them.
   * @param fresh bypasses the cache, so that a logout or a lost role takes effect at once
   * @throws ConnectorError; ApiError too_many_calls or wordpress_busy when the queue is full
   */
  getUser(site: SiteConfig, credentials: SessionCredentials, fresh: boolean): Promise<WordPressUser | null>;
  /** Clears the cache of a site. */
  clear(site: SiteId): void;
}

interface SessionQuery {
  readonly response: Promise<SessionResponse>;
  readonly callers: SessionCredentials[];
}

interface Entry {
  readonly site: SiteId;
  readonly user: WordPressUser;
  readonly at: number;
}

/** Finds users in WordPress and caches positive results briefly. Keys are hashes, so that no cookie stays in memory. */
export function createSessions(deps: { client: Pick<ConnectorClient, 'session'>; clock: Clock }): Sessions {
  const { client, clock } = deps;
  const cache = new Map<string, Entry>();
  /** API requests of one page load arrive together and share one query. */
  const pending = new Map<string, SessionQuery>();

  return {
    async getUser(site, credentials, fresh) {
      const { cookie, nonce, sender, isRegisteredUser } = credentials;
      const key = createHash('sha256')
        .update(JSON.stringify([site.id, cookie, nonce]))
        .digest('base64');
      const entry = cache.get(key);
      const age = entry ? clock() - entry.at : 0;
      if (!fresh && entry && age >= 0 && age < CACHE_MS) return entry.user;
      let query = fresh ? undefined : pending.get(key);
      if (query) query.callers.push(credentials);
      else {
        const callers = [credentials];
        const isWanted = () => callers.some((caller) => caller.isWanted());
        const created = {
          response: client.session(site, { cookie, nonce, sender, isRegisteredUser, isWanted }),
          callers,
        };
        query = created;
        pending.set(key, created);
        const done = () => void (pending.get(key) === created && pending.delete(key));
        created.response.then(done, done);
      }
      const { user } = await query.response;
      cache.delete(key);
      if (user === null) return null;
      setBounded(cache, key, { site: site.id, user, at: clock() }, CACHE_ENTRIES);
      return user;
    },

    clear(site) {
      for (const [key, entry] of cache) if (entry.site === site) cache.delete(key);
    },
  };
}
