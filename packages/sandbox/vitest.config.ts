import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts'],
    // The system tests start whole servers: one file after the other keeps their times honest on small machines.
    fileParallelism: false,
    // Limits end what hangs; on a busy machine the start of a server may take long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Each has folders and processes of its own.
    isolate: false,
  },
});
