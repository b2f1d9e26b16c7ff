import { createHash } from 'node:crypto';
import type { Clock } from '../lib/clock.js';
import { setBounded } from '../lib/set-bounded.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { SessionAnswer, WordPressUser } from './connector-answers.js';
import type { ConnectorClient } from './connector-client.js';
import type { Sender } from './sender.js';

/** A positive answer is believed for this long, and only where nothing is changed. */
const CACHE_MS = 5000;
const CACHE_ENTRIES = 1000;

/** What a browser brought along to prove who it is. */
export interface Credentials {
  readonly cookie: string;
  readonly nonce: string;
  readonly sender: Sender;
  /** WordPress has said lately that a member has this browser. */
  readonly isMember: boolean;
  /** False once the visitor has gone. */
  isWanted(): boolean;
}

export interface Sessions {
  /**
   * The user behind cookie and nonce, or null when WordPress does not accept them. Throws ConnectorError, and ApiError
   * too_many_calls or wordpress_busy when there is no room for the question.
   * @param fresh asks WordPress now, whatever is remembered: a log-out or a lost role takes effect at once
   */
  who(site: SiteConfig, credentials: Credentials, fresh: boolean): Promise<WordPressUser | null>;
  /** Forgets every answer about a site. */
  forget(site: SiteId): void;
}

interface Question {
  readonly answer: Promise<SessionAnswer>;
  readonly askers: Credentials[];
}

interface Entry {
  readonly site: SiteId;
  readonly user: WordPressUser;
  readonly at: number;
}

/** Asks WordPress who is asking and remembers positive answers briefly, by a hash: no cookie stays in memory. */
export function createSessions(deps: { client: Pick<ConnectorClient, 'session'>; clock: Clock }): Sessions {
  const { client, clock } = deps;
  const known = new Map<string, Entry>();
  /** Calls of one page load arrive together; they share one question. */
  const asking = new Map<string, Question>();

  return {
    async who(site, credentials, fresh) {
      const { cookie, nonce, sender, isMember } = credentials;
      const key = createHash('sha256')
        .update(JSON.stringify([site.id, cookie, nonce]))
        .digest('base64');
      const entry = known.get(key);
      const age = entry ? clock() - entry.at : 0;
      if (!fresh && entry && age >= 0 && age < CACHE_MS) return entry.user;
      let question = fresh ? undefined : asking.get(key);
      if (question) question.askers.push(credentials);
      else {
        const askers = [credentials];
        const isWanted = () => askers.some((asker) => asker.isWanted());
        const made = { answer: client.session(site, { cookie, nonce, sender, isMember, isWanted }), askers };
        question = made;
        asking.set(key, made);
        const done = () => void (asking.get(key) === made && asking.delete(key));
        made.answer.then(done, done);
      }
      const { user } = await question.answer;
      known.delete(key);
      if (user === null) return null;
      setBounded(known, key, { site: site.id, user, at: clock() }, CACHE_ENTRIES);
      return user;
    },

    forget(site) {
      for (const [key, entry] of known) if (entry.site === site) known.delete(key);
    },
  };
}
