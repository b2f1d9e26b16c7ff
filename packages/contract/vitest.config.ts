import { defineConfig } from 'vitest/config';

// The tests have no side effects, so files need not be isolated.
export default defineConfig({ test: { include: ['src/**/*.test.ts'], testTimeout: 60_000, isolate: false } });
