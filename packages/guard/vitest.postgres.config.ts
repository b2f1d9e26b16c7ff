import { defineConfig } from 'vitest/config';
import { postgresMissing } from './test/support/postgres-server.js';
import usual from './vitest.config.js';

/** Tests of everything that is stored in guard's main database, and of the programs that use it. */
const STORES = [
  'src/{api,login,overview,post-hack,reports,settings,two-factor}/**/*.test.ts',
  'src/alerts/{alerts,deliver-alerts}.test.ts',
  'src/activity/{attackers,guard-events}.test.ts',
  'src/activity/blocklist/*.test.ts',
  'src/storage/change-feed.test.ts',
  'src/{main,unusable-settings}.test.ts',
  'src/metrics/metrics.test.ts',
  'test/{privacy-command,processes,settings-command,shutdown,site-registry,status,wp-cli}.test.ts',
];

if (postgresMissing !== null) process.stderr.write(`Guard's tests on PostgreSQL did not run: ${postgresMissing}.\n`);

/** The same tests with guard's database in PostgreSQL. What is about SQLite's files is not among them. */
export default defineConfig({
  ...usual,
  test: {
    ...usual.test,
    include: postgresMissing === null ? STORES : [],
    passWithNoTests: postgresMissing !== null,
    globalSetup: ['test/support/build.ts', 'test/support/postgres-run.ts'],
  },
});
