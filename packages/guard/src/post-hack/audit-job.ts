import type { JobKind } from '@security-optimizer/contract/post-hack';
import type { AuditEntry } from '../storage/audit-store.js';
import type { StoredJob } from './job.js';

/** Name under which starts and ends of jobs stand in the record of changes. */
const JOB_AUDIT = 'post_hack_job';

const STOPPED = 'It stopped.';

const titles: Readonly<Record<JobKind, string>> = {
  'reinstall-plugins': 'Reinstall all',
  'force-password-reset': 'Force password reset',
  'log-out-users': 'Log out all users',
};

/** A row for the record of changes, and so for the Activity Log: what began, or what came of it. */
export function jobAudit({ kind, state, summary, error }: StoredJob): AuditEntry {
  const outcome = state === 'done' ? summary.join(' ') : state === 'stopped' ? `${STOPPED} ${error}` : 'It has begun.';
  return { name: JOB_AUDIT, before: null, after: { action: titles[kind], state, outcome } };
}
