import type { Job, JobKind } from '@security-optimizer/contract/post-hack';
import { isFields } from '../../data/fields.js';
import type { TrackedRequest } from '../../requests/run-request.js';
import { readJob } from './read-post-hack.js';

const CALLS: Readonly<Record<JobKind, { readonly name: string; readonly suffix: string }>> = {
  'reinstall-plugins': { name: 'reinstallPlugins', suffix: '/reinstall-plugins' },
  'force-password-reset': { name: 'forcePasswordReset', suffix: '/force-password-reset' },
  'log-out-users': { name: 'logOutUsers', suffix: '/logout-users' },
};

/** The request that starts an action. */
export function startAction(kind: JobKind, body: object): Pick<TrackedRequest<unknown>, 'name' | 'call'> {
  const { name, suffix } = CALLS[kind];
  return { name, call: { suffix, body } };
}

/** The job that was answered to a start, or null. */
export function startedJob(data: unknown): Job | null {
  return isFields(data) ? readJob(data.job) : null;
}
