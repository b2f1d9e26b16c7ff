import type { Checkup, CheckupFinding } from '@security-optimizer/contract/post-hack/checkup';
import type { Job, JobItem, JobKind } from '@security-optimizer/contract/post-hack/endpoints';
import {
  FindingRow,
  KeptFindings,
  MissingCheckRow,
  Notes,
  RemovedFiles,
} from '../../src/features/post-hack-actions/checkup-rows.js';
import { Verdict } from '../../src/features/post-hack-actions/checkup-verdict.js';
import { JobPanel, SessionEnded } from '../../src/features/post-hack-actions/job-panel.js';
import RemoveDialog from '../../src/features/post-hack-actions/remove-dialog.js';
import {
  changedPlugin,
  removedFile,
  sampleCheckup,
  sampleFinding,
  suspicious,
  unknownFiles,
} from '../../test/fake-site/checkup.js';
import { sampleItem, sampleJob } from '../../test/fake-site/jobs.js';
import type { Group, PartExample } from '../example.js';
import { nothing } from './samples.js';

const plugins: readonly JobItem[] = [
  sampleItem('Contact form', { state: 'done' }),
  sampleItem('Shop', { state: 'done', files: ['includes/cache.php', 'x.php'] }),
  sampleItem('Gallery', { state: 'failed', reason: 'The directory did not answer.' }),
  sampleItem('Forum', { state: 'unchecked', reason: 'The plugin directory does not answer.' }),
  sampleItem('Members only', { state: 'skipped', reason: 'It is not in the directory' }),
  sampleItem('Newsletter', { state: 'running' }),
  sampleItem('Redirects'),
];

/** A running reinstallation, with each state of a plugin. */
export function job(change: Partial<Job> = {}): Job {
  return sampleJob({ done: 5, total: 7, items: [...plugins], ...change });
}

/** The same job at its end, with each final state of a plugin. */
export function ended(change: Partial<Job> = {}): Job {
  return job({
    state: 'done',
    ended: 1_795_255_800,
    done: 5,
    total: 5,
    items: plugins.slice(0, 5),
    summary: ['2 plugins have a clean copy.', '1 plugin could not be checked. It stays as it is.', '1 plugin failed.'],
    ...change,
  });
}

function panel(state: string, shown: Job, disabled = false): PartExample {
  return {
    id: `job-${state}`,
    title: `job, ${state.replace(/-/g, ' ')}`,
    ground: 'flush',
    draw: () => <JobPanel job={shown} disabled={disabled} onRetry={nothing} />,
  };
}

function out(id: string, kind: JobKind): PartExample {
  return {
    id: `session-ended-${id}`,
    title: `session ended by ${kind}`,
    ground: 'flush',
    draw: () => <SessionEnded kind={kind} loginUrl="/wp-login.php" email="owner@example.com" />,
  };
}

function verdict(state: string, known: Checkup, done: number | null = null): PartExample {
  const running = done === null ? null : { done, total: 4 };
  return {
    id: `verdict-${state}`,
    title: `checkup, ${state}`,
    ground: 'flush',
    draw: () => <Verdict known={{ ...known, running }} disabled={false} starting={false} onLook={nothing} />,
  };
}

function removal(state: string, title: string, finding: CheckupFinding): PartExample {
  return {
    id: `remove-${state}`,
    title: `asks before ${title} removed`,
    alone: true,
    draw: () => (
      <RemoveDialog
        finding={finding}
        removed={[]}
        onRemoved={nothing}
        onUndo={nothing}
        onUnclear={nothing}
        findNextFocus={() => null}
        onClosed={nothing}
      />
    ),
  };
}

/** A finding with the maximum number of files, some with long names. */
const manyFiles = sampleFinding({
  check: 'uploads',
  title: '200 scripts in uploads',
  remove: 'files',
  files: Array.from(
    { length: 200 },
    (_, index) =>
      `wp-content/uploads/2024/${index % 3 === 0 ? 'a-folder-with-a-long-name/'.repeat(3) : ''}${index}.php`,
  ),
});

const kept = { key: 'a', title: 'New administrator: agency', at: 1_795_255_200, by: 'owner' };

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
    out('reset', 'force-password-reset'),
    out('log-out', 'log-out-users'),
    out('reinstall', 'reinstall-plugins'),
    verdict('new', sampleCheckup({ latest: null })),
    verdict('clear', sampleCheckup()),
    verdict('gap', sampleCheckup({ latest: suspicious({ findings: [] }).latest })),
    verdict('findings', suspicious()),
    verdict('running', suspicious(), 2),
    {
      id: 'checkup-findings',
      title: 'checkup, findings',
      ground: 'flush',
      draw: () => (
        <>
          {[...(suspicious().latest?.findings ?? []), changedPlugin, unknownFiles].map((finding) => (
            <FindingRow
              key={finding.key}
              finding={finding}
              disabled={false}
              keeping={false}
              onKeep={nothing}
              onReinstall={nothing}
              onRemove={nothing}
            />
          ))}
        </>
      ),
    },
    {
      id: 'checkup-not-run',
      title: 'checkup, a check that could not run',
      ground: 'flush',
      draw: () => (
        <>
          {suspicious()
            .latest?.checks.slice(0, 1)
            .map((outcome) => (
              <MissingCheckRow key={outcome.check} outcome={outcome} disabled={false} onRetry={nothing} />
            ))}
        </>
      ),
    },
    {
      id: 'checkup-kept',
      title: 'checkup, known findings',
      ground: 'flush',
      draw: () => <KeptFindings kept={[kept]} disabled={false} onRelease={nothing} />,
    },
    {
      id: 'checkup-removed',
      title: 'checkup, removed files',
      ground: 'flush',
      draw: () => (
        <RemovedFiles
          removed={[removedFile('wp-content/uploads/2024/old/index.php'), removedFile('wp-includes/a.php')]}
          disabled={false}
          restoring={null}
          onRestore={nothing}
        />
      ),
      act: (user) => user.expand('.so-removed'),
    },
    removal('administrator', 'an administrator is', (suspicious().latest?.findings ?? [])[0] ?? manyFiles),
    removal('files', 'files are', unknownFiles),
    removal('many', 'many files are', manyFiles),
    {
      ...removal('none', 'files are', unknownFiles),
      title: 'asks before files are removed, none chosen',
      act: (user) => user.click('checkbox', /^All files/),
    },
    {
      id: 'checkup-notes',
      title: 'checkup, what is worth knowing',
      ground: 'flush',
      draw: () => <Notes notes={suspicious().latest?.notes ?? []} />,
    },
  ],
};
