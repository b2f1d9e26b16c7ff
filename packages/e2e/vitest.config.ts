import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** These walk through every page and every state, and leave a site behind that others would not know again. */
const WALKS = 'src/suites/interface/**/*.test.ts';
/** A run of its own, without the stacks (`vitest.chaos.config.ts`). */
const CHAOS = 'src/chaos/**/*.test.ts';
/** A run of its own, too (`vitest.packages.config.ts`). */
const PACKAGES = 'src/packages/**/*.test.ts';
/** `walks`, `others`, or everything. */
const wanted = process.env.E2E_SUITES;

/** The stacks are shared, so files run one after another. Needs the built packages (`npm run build`). */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    name: 'e2e',
    include: [wanted === 'walks' ? WALKS : 'src/**/*.test.ts'],
    exclude: wanted === 'others' ? [WALKS, CHAOS, PACKAGES] : [CHAOS, PACKAGES],
    environment: 'node',
    globalSetup: ['src/stacks/global-setup.ts'],
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
