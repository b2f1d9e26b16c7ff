import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/**
 * Chaos needs no WordPress and no browser: it starts a guard of its own. The tests of the attack tool itself need neither.
 * Needs the built packages (`npm run build`).
 */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    name: 'chaos',
    include: ['src/chaos/*.test.ts', 'src/attacks/*.test.ts'],
    environment: 'node',
    retry: 0,
    // Limits end what hangs; on a busy machine the start of guard may take long.
    testTimeout: 120_000,
    hookTimeout: 240_000,
  },
});
