import type { Job } from '@security-optimizer/contract/post-hack';
import { CheckupPartView } from '../../src/pages/post-hack-actions/checkup-part.js';
import { JobPanel } from '../../src/pages/post-hack-actions/job-panel.js';
import type { Group, PartExample } from '../example.js';
import '../../src/icons/post-hack-icons.js';
import { checkup, ended, job } from './sample-jobs.js';
import { nothing } from './samples.js';

function panel(state: string, shown: Job, disabled = false): PartExample {
  return {
    id: `job-${state}`,
    title: `job, ${state.replace(/-/g, ' ')}`,
    ground: 'flush',
    draw: () => <JobPanel job={shown} disabled={disabled} onRetry={nothing} />,
  };
}

export const remedies: Group = {
  id: 'remedies',
  title: 'Jobs and findings of Post-hack Actions',
  examples: [
    panel('running', job()),
    panel('running-unknown', job({ total: 0, done: 0, items: [] })),
    panel('done', ended()),
    panel('done-disabled', ended(), true),
    panel('stopped', ended({ state: 'stopped', error: 'WordPress could not be reached for an hour.' })),
    panel('reset', job({ kind: 'force-password-reset', items: [], done: 318, total: 1023 })),
    ...checkup.map((part) => ({
      id: `finding-${part.part}`,
      title: `checkup, ${part.title.toLowerCase()}`,
      ground: 'flush' as const,
      draw: () => <CheckupPartView part={part} />,
    })),
  ],
};
