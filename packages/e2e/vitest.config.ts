import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Folders of suites by the name of their group. `others` are all that stand in none of them. */
const groups: Readonly<Record<string, readonly string[]>> = {
  login: ['login', 'login-owner'],
  activity: ['activity', 'dashboard', 'post-hack'],
  installs: ['installs', 'shop'],
  // They walk through every page and every state, and leave a site behind that others would not know again.
  interface: ['interface'],
};
/** Runs of their own, without the stacks (`vitest.chaos.config.ts` and so on). */
const ELSEWHERE = ['src/attacks/**', 'src/chaos/**', 'src/packages/**'];

const all = [...Object.keys(groups), 'others'];
/** Names of groups with commas between them; everything when there is none. */
const wanted = (process.env.E2E_SUITES ?? all.join(',')).split(',');
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`E2E_SUITES has ${unknown.join(', ')}; it can have ${all.join(', ')}.`);
const filesOf = (names: readonly string[]) =>
  names.flatMap((name) => groups[name] ?? []).map((folder) => `src/suites/${folder}/**/*.test.ts`);

/** The stacks are shared, so files run one after another. Needs the built packages (`npm run build`). */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    name: 'e2e',
    include: wanted.includes('others') ? ['src/**/*.test.ts'] : filesOf(wanted),
    exclude: [...ELSEWHERE, ...filesOf(all.filter((name) => !wanted.includes(name)))],
    environment: 'node',
    globalSetup: ['src/global-setup.ts'],
    setupFiles: ['src/stacks/set-up.ts'],
    pool: 'forks',
    fileParallelism: false,
    // A process anew for each file would load everything again: seconds each, longer than most files take.
    isolate: false,
    // Waits end when what they wait for is there; on a busy machine that may take long.
    testTimeout: 240_000,
    expect: { poll: { timeout: 100_000 } },
    hookTimeout: 300_000,
    teardownTimeout: 120_000,
  },
});
