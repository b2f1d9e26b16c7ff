import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import type { PostHackCommands } from '../wordpress/post-hack-commands.js';
import type { NewJob, Step } from './job-runner.js';
import { count, saltsSentence } from './job-words.js';

export interface ForceResetDeps {
  readonly commands: Pick<PostHackCommands, 'forcePasswordReset' | 'mailPasswordLinks'>;
  /** Drops remembered devices and log-ins under way. */
  readonly forgetFactors: (site: SiteConfig) => Promise<void>;
}

/** Users of one step. */
const USERS_PER_STEP = 200;

/** Where it stands: `null` before anything is done, then the last user that was looked at. */
type Cursor = {
  readonly after: number;
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
      const next: Cursor = { after: 0, mailed: 0, failed: 0, first: saltsSentence(salts) };
      return { ...job, total: users, cursor: next, summary: [next.first] };
    }
    const { last, mailed, failed, left, more } = await deps.commands.mailPasswordLinks(
      site,
      cursor.after,
      USERS_PER_STEP,
    );
    const sums = { mailed: cursor.mailed + mailed, failed: cursor.failed + failed };
    const done = job.done + mailed + failed + left;
    const next: Cursor = { ...cursor, ...sums, after: last };
    if (more) return { ...job, cursor: next, done };
    return { ...job, state: 'done', cursor: next, done, total: Math.max(job.total, done), summary: summaryOf(next) };
  };
}

function summaryOf({ mailed, failed, first }: NonNullable<Cursor>): string[] {
  const lines = [
    'No password from before works any more, and every session has ended.',
    count(mailed, 'user got a link to choose a new password', 'users got a link to choose a new password'),
  ];
  if (failed > 0) {
    lines.push(
      `${count(failed, 'mail could not be sent', 'mails could not be sent')} These users can ask for a link with “Lost your password?”.`,
    );
  }
  return [...lines, first];
}
