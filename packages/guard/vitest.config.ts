import { defaultServerConditions } from 'vite';
import { defineConfig } from 'vitest/config';

/**
 * Tests of code that uses Node's own interfaces: sockets and HTTP, TLS, DNS, files, processes, threads, SQLite. Rules,
 * settings and texts behave the same on every release of Node.
 */
const NODE_INTERFACES = [
  'test/**/*.test.ts',
  'src/{alerts,gateway,http,lib,login,mail,storage,two-factor,upstream,settings,wordpress,activity/store}/**/*.test.ts',
  'src/cli/{as-root,config-store,processes}.test.ts',
  'src/main.test.ts',
];

export default defineConfig({
  // Resolves the contract to its sources, so that a test needs no build of it.
  ssr: { resolve: { conditions: ['security-optimizer-source', ...defaultServerConditions] } },
  test: {
    include: process.env.NODE_INTERFACES === '1' ? NODE_INTERFACES : ['src/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
    // The storage worker and the command line run from the bundle.
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/set-up.ts'],
    // A wait ends when its condition holds, which may take long on a busy machine.
    testTimeout: 240_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 100_000 } },
    // Tests spend much of their time waiting for processes, which would leave the cores idle.
    maxWorkers: 3,
    // Each test has its own folders, sockets and processes, so a new process for each file would only cost time.
    isolate: false,
  },
});
