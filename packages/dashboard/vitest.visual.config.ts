import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { workspaceSource } from './build/workspace-source.mjs';

/** Compares the gallery with the pictures that are kept of it. Needs Chromium. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  resolve: { alias: [workspaceSource] },
  test: {
    name: 'visual',
    include: ['gallery/shots/*.visual.ts'],
    environment: 'node',
    globalSetup: ['gallery/shots/global-setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
