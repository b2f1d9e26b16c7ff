import { defineConfig } from 'vitest/config';

// Logs are generated and a million addresses made up: seconds on a machine that is busy.
// No file leaves anything behind for the next.
export default defineConfig({ test: { include: ['src/**/*.test.ts'], testTimeout: 120_000, isolate: false } });
