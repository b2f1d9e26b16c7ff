import { defineConfig } from 'vitest/config';

// Rules and data: no file leaves anything behind for the next.
export default defineConfig({ test: { include: ['src/**/*.test.ts'], testTimeout: 60_000, isolate: false } });
