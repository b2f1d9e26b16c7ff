import type { Job, JobKind } from '@security-optimizer/contract/post-hack';
import { useState } from 'react';
import { useDialogs } from '../../dialogs/use-dialogs.js';
import { formatNumber } from '../../i18n/format-number.js';
import { __, _n } from '../../i18n/translate.js';
import { ignoreFailure } from '../../options/use-changes.js';
import { useServices } from '../../services.js';
import type { ActionDialogProps } from './action-dialog.js';
import { ActionRow, type Fact } from './action-row.js';
import { Announcer } from './announcer.js';
import { JobPanel } from './job-panel.js';
import { unfinished } from './job-words.js';
import type { PostHackState } from './read-post-hack.js';
import { startAction, startedJob } from './start-action.js';
import type { PostHack } from './use-post-hack.js';

const dialogs = { action: () => import('./action-dialog.js') };
const KINDS: readonly JobKind[] = ['reinstall-plugins', 'force-password-reset', 'log-out-users'];

export interface ActionsProps {
  readonly page: PostHack;
}

/** The three actions, in the order in which they help. */
export function Actions({ page }: ActionsProps) {
  const { run, config } = useServices();
  const [asking, setAsking] = useState<JobKind | null>(null);
  const dialog = useDialogs<'action', ActionDialogProps>(dialogs);
  const [retrying, setRetrying] = useState(false);
  const { jobs, facts } = page.known;
  const costs = costsOf(facts, (value) => formatNumber(value, config.localeSlug));

  function began(job: Job | null, loggedOut: boolean): void {
    if (job !== null) page.began(job);
    if (loggedOut) page.leave();
  }

  function retry(job: Job, only?: readonly string[]): void {
    // A reset that shut everybody out already must not do so again: only its mails are left.
    const body = job.kind === 'reinstall-plugins' ? { only: only ?? unfinished(job) } : { go_on: 1 };
    setRetrying(true);
    run<unknown>({
      ...startAction(job.kind, body),
      onSuccess: (data) => began(startedJob(data), false),
      onFailure: page.look,
      onComplete: () => setRetrying(false),
    }).catch(ignoreFailure);
  }

  return (
    <div className="so-card">
      {KINDS.map((kind) => {
        const job = page.jobOf(kind);
        return (
          <ActionRow
            key={kind}
            kind={kind}
            job={job}
            facts={costs[kind]}
            disabled={page.loggedOut}
            onStart={() => {
              setAsking(kind);
              dialog.open('action');
            }}
          >
            {job === null ? null : (
              <JobPanel
                job={job}
                disabled={page.loggedOut || retrying}
                onRetry={kind === 'log-out-users' ? null : (only) => retry(job, only)}
              />
            )}
          </ActionRow>
        );
      })}
      <Announcer jobs={jobs} />
      {asking === null || dialog.Current === null ? null : (
        <dialog.Current kind={asking} facts={facts} onBegan={began} onUnclear={page.look} onClosed={dialog.closed} />
      )}
    </div>
  );
}

/** What each action costs; what is not known is left out. */
function costsOf(
  { plugins, users, sessions }: PostHackState['facts'],
  number: (value: number) => string,
): Readonly<Record<JobKind, readonly Fact[]>> {
  const known = (icon: string, value: number | null, text: (value: number) => string): Fact[] =>
    value === null ? [] : [{ icon, text: text(value).replace('%s', () => number(value)) }];
  return {
    'reinstall-plugins': [
      { icon: 'check', text: __('Settings and content stay', 'security-optimizer') },
      ...known('plugin', plugins, (value) =>
        /* translators: %s: number of plugins */
        _n('%s plugin', '%s plugins', value, 'security-optimizer'),
      ),
    ],
    'force-password-reset': [
      { icon: 'logout', text: __('You are logged out too', 'security-optimizer') },
      ...known('users', users, (value) =>
        /* translators: %s: number of users */
        _n('%s user', '%s users', value, 'security-optimizer'),
      ),
    ],
    'log-out-users': [
      { icon: 'logout', text: __('You are logged out too, unless you choose to stay', 'security-optimizer') },
      ...known('users', sessions, (value) =>
        /* translators: %s: number of sessions */
        _n('%s open session', '%s open sessions', value, 'security-optimizer'),
      ),
    ],
  };
}
