import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { contractSource } from '../build/contract-source.mjs';
import { locales } from './plugins/locales.mjs';
import { sheets } from './plugins/sheets.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Shows the components and pages on a page of its own, for looking at them. Nothing of it is shipped. */
export default defineConfig({
  root: at('.'),
  plugins: [react(), sheets(), locales()],
  resolve: { alias: [contractSource] },
  server: { open: false },
  build: {
    outDir: at('../../../.cache/gallery'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 5000,
    rolldownOptions: {
      input: at('stage.html'),
      // What a page fetches later is there at once, so that a picture never shows the moment before.
      output: { codeSplitting: false },
    },
  },
});
