import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { contractSource } from '../build/contract-source.mjs';
import { SHEETS } from '../build/styles.mjs';

/** Shows the components on a page of its own, for looking at them. Nothing of it is shipped. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  resolve: { alias: [contractSource] },
  define: { __SHEETS__: JSON.stringify(SHEETS) },
});
