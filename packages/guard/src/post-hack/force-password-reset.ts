import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { Actor, JsonValue } from '../settings/audit-store.js';
import type { SiteConfig } from '../site.js';
import type { MailedLinks, PostHackCommands, ResetMails } from '../wordpress/connector-commands.js';
import type { NewJob, Step } from './job-runner.js';
import { proveSalts, saltsSentences } from './salts.js';

export interface PasswordResetContext {
  readonly commands: Pick<PostHackCommands, 'forcePasswordReset' | 'salts' | 'mailPasswordLinks'>;
  /** Deletes trusted devices and pending challenges. */
  readonly forgetFactors: (site: SiteConfig) => Promise<void>;
  /** Returns the mail in each language. */
  readonly mails: () => Promise<ResetMails>;
}

/** Users per step and partition. Partitions run in parallel, since most of the time is spent on database and mail. */
const USERS_PER_STEP = 200;
const PARTITIONS = 4;

/** Progress: null before the first step, then the last user of each partition, or null for a finished partition. */
type Cursor = {
  readonly partitions: readonly (number | null)[];
  readonly mailed: number;
  readonly failed: number;
  /** Sentences about the security keys. */
  readonly salts: readonly ServerText[];
} | null;

export function newPasswordReset(actor: Actor): NewJob {
  return { kind: 'force-password-reset', actor, cursor: null, items: [], total: 0 };
}

/** The first step resets all passwords; the following ones mail links to users in batches. */
export function passwordResetStep(deps: PasswordResetContext): Step {
  return async (site, job) => {
    const cursor = job.cursor as unknown as Cursor;
    if (cursor === null) {
      const { users, salts } = await deps.commands.forcePasswordReset(site);
      await deps.forgetFactors(site);
      const sentences = saltsSentences(await proveSalts(deps.commands, site, salts));
      const next: Cursor = { partitions: Array(PARTITIONS).fill(0), mailed: 0, failed: 0, salts: sentences };
      return { ...job, total: users, cursor: next as unknown as JsonValue, summary: sentences };
    }
    const partitions = cursor.partitions.length;
    const mails = await deps.mails();
    const results = await Promise.all(
      cursor.partitions.map((after, partition) =>
        after === null
          ? null
          : deps.commands.mailPasswordLinks(site, { after, limit: USERS_PER_STEP, partition, partitions, mails }),
      ),
    );
    const sum = (of: (result: MailedLinks) => number) =>
      results.reduce((total, result) => total + (result === null ? 0 : of(result)), 0);
    const next: NonNullable<Cursor> = {
      partitions: results.map((result) => (result?.more === true ? result.last : null)),
      mailed: cursor.mailed + sum(({ mailed }) => mailed),
      failed: cursor.failed + sum(({ failed }) => failed),
      salts: cursor.salts,
    };
    const stored = next as unknown as JsonValue;
    const done = job.done + sum(({ mailed, failed, left }) => mailed + failed + left);
    if (next.partitions.some((after) => after !== null)) return { ...job, cursor: stored, done };
    return { ...job, state: 'done', cursor: stored, done, total: Math.max(job.total, done), summary: toSummary(next) };
  };
}

function toSummary({ mailed, failed, salts }: NonNullable<Cursor>): ServerText[] {
  const lines: ServerText[] = [
    'No password from before works any more, and every session has ended.',
    serverMessage('password_links_mailed', { count: mailed }),
  ];
  if (failed > 0) {
    lines.push(serverMessage('password_links_failed', { count: failed }));
  }
  return [...lines, ...salts];
}
