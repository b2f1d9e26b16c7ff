import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Chaos needs no WordPress and no browser: it starts a guard of its own. Needs the built packages (`npm run build`). */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: { name: 'chaos', include: ['src/chaos/*.test.ts'], environment: 'node', retry: 0 },
});
