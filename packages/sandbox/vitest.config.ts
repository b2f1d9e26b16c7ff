import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The system tests start whole servers: one file after the other keeps their times honest on small machines.
    fileParallelism: false,
    // Each has folders and processes of its own.
    isolate: false,
  },
});
