import { defaultServerConditions } from 'vite';
import { defineConfig } from 'vitest/config';

/**
 * What touches Node's own interfaces: sockets and HTTP, TLS, names, files, processes, threads, SQLite. Rules, settings
 * and texts are the same on every release of Node.
 */
const NODE_INTERFACES = [
  'test/**/*.test.ts',
  'src/{gateway,http,lib,login,mail,storage,two-factor,upstream,settings,wordpress,activity/store}/**/*.test.ts',
  'src/cli/{as-root,config-store,processes}.test.ts',
  'src/main.test.ts',
];

export default defineConfig({
  // The contract's sources: a test needs no build of it.
  ssr: { resolve: { conditions: ['security-optimizer-source', ...defaultServerConditions] } },
  test: {
    include: process.env.NODE_INTERFACES === '1' ? NODE_INTERFACES : ['src/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
    // The storage worker and the command line run from the bundle.
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/set-up.ts'],
    // Waits end when what they wait for is there; on a busy machine that may take long.
    testTimeout: 240_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 100_000 } },
    // Much of the time goes into waiting for processes; the cores would be left idle otherwise.
    maxWorkers: 3,
    // Each test has folders, sockets and processes of its own; a process anew for each file would only cost time.
    isolate: false,
  },
});
