import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts'],
    // The system tests start servers. In parallel they would slow each other down on small machines.
    fileParallelism: false,
    // On a busy machine the start of a server may take long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Each test uses its own folders and processes.
    isolate: false,
  },
});
