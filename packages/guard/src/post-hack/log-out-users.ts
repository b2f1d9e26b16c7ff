import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { Actor } from '../settings/audit-store.js';
import type { SiteConfig } from '../site.js';
import type { BrowserIdentity } from '../wordpress/connector-client.js';
import type { PostHackCommands } from '../wordpress/connector-commands.js';
import type { NewJob, Step } from './job-runner.js';
import { proveSalts, saltsSentences } from './salts.js';

export interface LogOutContext {
  readonly commands: Pick<PostHackCommands, 'logOutUsers' | 'salts'>;
}

export function newLogOut(actor: Actor): NewJob {
  return { kind: 'log-out-users', actor, cursor: null, items: [], total: 1 };
}

/**
 * Ends all sessions in one step.
 * @param callerSessions browsers whose sessions are kept. Cookies are never stored, so after a restart these sessions
 * end, too
 */
export function logOutStep(
  deps: LogOutContext,
  callerSessions: { take(site: SiteConfig): BrowserIdentity | null },
): Step {
  return async (site, job) => {
    const { users, salts } = await deps.commands.logOutUsers(site, callerSessions.take(site));
    const outcome = await proveSalts(deps.commands, site, salts);
    const ended = serverMessage('users_logged_out', { count: users });
    return { ...job, state: 'done', done: 1, total: 1, summary: [ended, ...saltsSentences(outcome)] };
  };
}
