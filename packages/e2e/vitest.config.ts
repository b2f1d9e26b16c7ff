import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Folders of suites by group. `others` are all that are in none of them. */
const groups: Readonly<Record<string, readonly string[]>> = {
  login: ['login', 'login-owner'],
  activity: ['activity', 'dashboard', 'post-hack'],
  installs: ['installs', 'shop'],
  // These suites go through every page and state, and change the site for all others.
  interface: ['interface'],
};
/** Separate runs without the stacks (`vitest.chaos.config.ts` and so on). */
const ELSEWHERE = ['src/attacks/**', 'src/chaos/**', 'src/restarts/**', 'src/packages/**'];

const all = [...Object.keys(groups), 'others'];
/** Names of groups, separated by commas; all groups by default. */
const selected = (process.env.E2E_SUITES ?? all.join(',')).split(',');
const unknown = selected.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`E2E_SUITES has ${unknown.join(', ')}; it can have ${all.join(', ')}.`);
const listFiles = (names: readonly string[]) =>
  names.flatMap((name) => groups[name] ?? []).map((folder) => `src/suites/${folder}/**/*.test.ts`);

/** The stacks are shared, so files run one after another. Needs the built packages (`npm run build`). */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    name: 'e2e',
    include: selected.includes('others') ? ['src/**/*.test.ts'] : listFiles(selected),
    exclude: [...ELSEWHERE, ...listFiles(all.filter((name) => !selected.includes(name)))],
    environment: 'node',
    globalSetup: ['src/global-setup.ts'],
    setupFiles: ['src/stacks/set-up.ts'],
    pool: 'forks',
    fileParallelism: false,
    // A new process for each file would load everything again, which takes longer than most files.
    isolate: false,
    // Long enough for a busy machine. A wait ends as soon as its condition is true.
    testTimeout: 240_000,
    expect: { poll: { timeout: 100_000 } },
    hookTimeout: 300_000,
    teardownTimeout: 120_000,
  },
});
