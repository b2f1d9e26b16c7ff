import { defineConfig } from 'vitest/config';

// Each test runs a whole Vitest over files that it has written.
export default defineConfig({
  test: { include: ['**/*.test.mjs'], testTimeout: 120_000, expect: { poll: { timeout: 60_000 } } },
});
