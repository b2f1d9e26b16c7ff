import { afterEach, beforeEach } from 'vitest';
import { forgetRecentLog, recentLog } from './logs.js';

declare module 'vitest' {
  interface TaskMeta {
    /** The end of guard's log, for a failed test. The reporter of `npm test` shows it. */
    guardLog?: readonly string[];
  }
}

beforeEach(forgetRecentLog);

afterEach(({ task }) => {
  if (task.result?.state === 'fail') task.meta.guardLog = recentLog();
});
