import type { Job } from '@security-optimizer/contract/post-hack';
import { useRef } from 'react';
import { actionTexts } from './action-texts.js';
import { announcement } from './job-words.js';

/** Tells screen readers how the jobs go that run while the page is open. What ended before is not told. */
export function Announcer({ jobs }: { readonly jobs: readonly Job[] }) {
  const seenRunning = useRef(new Set<string>());
  for (const { id, state } of jobs) if (state === 'running') seenRunning.current.add(id);
  return (
    <div className="so-vh" role="status">
      {jobs
        .filter(({ id }) => seenRunning.current.has(id))
        .map((job) => (
          <p key={job.kind}>{announcement(job, actionTexts(job.kind).title)}</p>
        ))}
    </div>
  );
}
