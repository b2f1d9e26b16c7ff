import { defineConfig } from 'vitest/config';
import { contractSource } from './build/contract-source.mjs';

export default defineConfig({
  resolve: { alias: [contractSource] },
  test: {
    name: 'dashboard',
    environment: 'jsdom',
    environmentOptions: { jsdom: { url: 'http://example.com/wp-admin/admin.php?page=site-security' } },
    include: ['src/**/*.test.{ts,tsx}', 'test/**/*.test.{ts,tsx}'],
    setupFiles: ['./test/setup.ts'],
  },
});
