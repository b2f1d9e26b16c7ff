import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/**
 * Chaos and restarts need no WordPress and no browser: they start their own guard. The tests of the attack tool need
 * neither, too.
 * Needs the built packages (`npm run build`).
 */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    name: 'chaos',
    include: ['src/chaos/*.test.ts', 'src/restarts/*.test.ts', 'src/attacks/*.test.ts'],
    environment: 'node',
    retry: 0,
    // Long enough to start guard on a busy machine. The limits only end a hanging test.
    testTimeout: 120_000,
    hookTimeout: 240_000,
  },
});
