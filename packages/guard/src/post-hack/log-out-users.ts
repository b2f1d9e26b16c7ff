import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import { english } from '../texts/language.js';
import type { PostHackCommands } from '../wordpress/post-hack-commands.js';
import type { Visitor } from '../wordpress/sender.js';
import type { NewJob, Step } from './job-runner.js';
import { saltsSentence } from './job-words.js';

export interface LogOutDeps {
  readonly commands: Pick<PostHackCommands, 'logOutUsers'>;
}

export function newLogOut(actor: Actor): NewJob {
  return { kind: 'log-out-users', actor, cursor: null, items: [], total: 1 };
}

/**
 * Ends all sessions in one step.
 * @param keepers whose session stays, by job: cookies are never stored, so a restart ends that session too
 */
export function logOutStep(deps: LogOutDeps, keepers: { take(site: SiteConfig): Visitor | null }): Step {
  return async (site, job) => {
    const { users, salts } = await deps.commands.logOutUsers(site, keepers.take(site));
    const ended = english.counted(
      '{count} user was logged in and has to log in again.',
      '{count} users were logged in and have to log in again.',
      users,
    );
    return { ...job, state: 'done', done: 1, total: 1, summary: [ended, saltsSentence(salts)] };
  };
}
