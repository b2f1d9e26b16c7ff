import { afterEach, inject } from 'vitest';
import { recentGuardLog } from './guard-process.js';

declare module 'vitest' {
  interface TaskMeta {
    /** The end of guard's log if a test has failed. The reporter of `npm test` shows it. */
    guardLog?: readonly string[];
  }
}

afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  task.meta.guardLog = inject('stacks').flatMap((stack) => ('problem' in stack ? [] : recentGuardLog(stack)));
});
