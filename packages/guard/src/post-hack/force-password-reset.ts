import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import { english } from '../texts/language.js';
import type { MailedLinks, PostHackCommands } from '../wordpress/post-hack-commands.js';
import type { NewJob, Step } from './job-runner.js';
import { saltsSentence } from './job-words.js';

export interface ForceResetDeps {
  readonly commands: Pick<PostHackCommands, 'forcePasswordReset' | 'mailPasswordLinks'>;
  /** Drops remembered devices and log-ins under way. */
  readonly forgetFactors: (site: SiteConfig) => Promise<void>;
}

/** Users of one step of a lane, and lanes side by side: most of the time goes into waiting for database and mail. */
const USERS_PER_STEP = 200;
const LANES = 4;

/** Where it stands: `null` before anything is done, then the last user of each lane, or null where all had their turn. */
type Cursor = {
  readonly lanes: readonly (number | null)[];
  readonly mailed: number;
  readonly failed: number;
  readonly first: string;
} | null;

export function newPasswordReset(actor: Actor): NewJob {
  return { kind: 'force-password-reset', actor, cursor: null, items: [], total: 0 };
}

/** First everybody is shut out at once; then users get their links, some at a time. */
export function passwordResetStep(deps: ForceResetDeps): Step {
  return async (site, job) => {
    const cursor = job.cursor as Cursor;
    if (cursor === null) {
      const { users, salts } = await deps.commands.forcePasswordReset(site);
      await deps.forgetFactors(site);
      const next: Cursor = { lanes: Array(LANES).fill(0), mailed: 0, failed: 0, first: saltsSentence(salts) };
      return { ...job, total: users, cursor: next, summary: [next.first] };
    }
    const lanes = cursor.lanes.length;
    const results = await Promise.all(
      cursor.lanes.map((after, lane) =>
        after === null ? null : deps.commands.mailPasswordLinks(site, { after, limit: USERS_PER_STEP, lane, lanes }),
      ),
    );
    const sum = (of: (result: MailedLinks) => number) =>
      results.reduce((total, result) => total + (result === null ? 0 : of(result)), 0);
    const next: NonNullable<Cursor> = {
      lanes: results.map((result) => (result?.more === true ? result.last : null)),
      mailed: cursor.mailed + sum(({ mailed }) => mailed),
      failed: cursor.failed + sum(({ failed }) => failed),
      first: cursor.first,
    };
    const done = job.done + sum(({ mailed, failed, left }) => mailed + failed + left);
    if (next.lanes.some((after) => after !== null)) return { ...job, cursor: next, done };
    return { ...job, state: 'done', cursor: next, done, total: Math.max(job.total, done), summary: summaryOf(next) };
  };
}

function summaryOf({ mailed, failed, first }: NonNullable<Cursor>): string[] {
  const lines = [
    'No password from before works any more, and every session has ended.',
    english.counted(
      '{count} user got a link to choose a new password.',
      '{count} users got a link to choose a new password.',
      mailed,
    ),
  ];
  if (failed > 0) {
    lines.push(
      english.counted(
        '{count} mail could not be sent. These users can ask for a link with “Lost your password?”.',
        '{count} mails could not be sent. These users can ask for a link with “Lost your password?”.',
        failed,
      ),
    );
  }
  return [...lines, first];
}
