import type { Job, JobKind } from '@security-optimizer/contract/post-hack';
import { type ApiAnswer, authorised, callApi, type Session } from '../../http/session.js';
import { people } from '../../stacks/prepare-site.js';
import type { Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress } from '../../stacks/wordpress.js';

const API = '/wp-json/security-optimizer/v1';

/** Calls one of the page's actions. */
export function act(stack: Stack, session: Session, suffix: string, body: object = {}): Promise<ApiAnswer> {
  return callApi(stack, { path: `${API}${suffix}`, body: JSON.stringify(body), headers: authorised(session) });
}

/** The latest job of a kind, or null. */
export async function latestJob(stack: Stack, session: Session, kind: JobKind): Promise<Job | null> {
  const { body } = await act(stack, session, '/post-hack-jobs');
  if (body.status !== 200) throw new Error(`Jobs can't be read: ${JSON.stringify(body)}`);
  return (body.data as { jobs: Job[] }).jobs.find((job) => job.kind === kind) ?? null;
}

/** Waits until the latest job of a kind has ended. */
export function endedJob(stack: Stack, session: Session, kind: JobKind): Promise<Job> {
  const look = async () => {
    const job = await latestJob(stack, session, kind);
    return job !== null && job.state !== 'running' ? job : null;
  };
  return until(`the job ${kind} has ended`, look, 60);
}

/** Gives everyone the password of before again, as if there had been no reset. */
export async function takeBackReset(stack: Stack): Promise<void> {
  const logins = [stack.user, ...Object.values(people)].map((login) => `'${login}'`).join(', ');
  await runInWordPress(
    stack,
    `delete_metadata( 'user', 0, 'security_optimizer_old_password', '', true );
    delete_site_option( 'security_optimizer_reset_at' );
    foreach ( array( ${logins} ) as $login ) {
      wp_set_password( '${stack.password}', get_user_by( 'login', $login )->ID );
    }`,
  );
}
