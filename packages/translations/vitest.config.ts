import { defaultServerConditions } from 'vite';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // The contract's sources: a test needs no build of it.
  ssr: { resolve: { conditions: ['security-optimizer-source', ...defaultServerConditions] } },
  test: { include: ['src/**/*.test.ts'], testTimeout: 60_000, isolate: false },
});
