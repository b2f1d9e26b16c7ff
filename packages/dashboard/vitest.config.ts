import { defineConfig } from 'vitest/config';
import { workspaceSource } from './build/workspace-source.mjs';

export default defineConfig({
  resolve: { alias: [workspaceSource] },
  test: {
    name: 'dashboard',
    environment: 'jsdom',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 45_000 } },
    environmentOptions: { jsdom: { url: 'http://example.com/wp-admin/admin.php?page=site-security' } },
    include: ['src/**/*.test.{ts,tsx}', 'test/**/*.test.{ts,tsx}'],
    // jsdom and React once for all files instead of once for each: they took longer to load than most files to run.
    // What a file leaves behind is cleared away by the set-up.
    isolate: false,
    setupFiles: ['./test/setup.ts'],
  },
});
