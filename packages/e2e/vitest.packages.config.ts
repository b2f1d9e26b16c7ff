import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** They need root and a Debian from its mirror. `PACKAGE_TESTS=short` skips them. */
const LONG = ['debian-package', 'container'].map((name) => `src/packages/${name}.test.ts`);

/** Builds and installs the packages as users do. The tests start their own sites. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    name: 'packages',
    include: ['src/packages/*.test.ts'],
    exclude: process.env.PACKAGE_TESTS === 'short' ? LONG : [],
    environment: 'node',
    retry: 0,
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 900_000,
  },
});
