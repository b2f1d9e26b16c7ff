import react from '@vitejs/plugin-react';
import { build } from 'vite';
import { MODERN_TARGET } from './browsers.mjs';
import { contractSource } from './contract-source.mjs';
import { treeshake } from './side-effects.mjs';

/**
 * Files of a few lines cost more than they hold, since each is compressed alone: what several parts share stands
 * together, once for the pages and once for forms and dialogs, which pages fetch later.
 */
const codeSplitting = {
  includeDependenciesRecursively: false,
  groups: [
    {
      name: 'shared',
      test: /(?:read-flag|format-number|tannin.sprintf|site-now|read-login-options|read-activity-options|contract.src)/,
      minShareCount: 2,
    },
    { name: 'forms', test: /src.(?:forms|addresses|dialogs.(?:dialog|confirm|use-[cflm]))/, minShareCount: 2 },
  ],
};

/**
 * Builds the ES modules for current browsers: one entry and one file for each page.
 *
 * @param {string} root folder of the package
 * @param {string} outDir
 * @returns {Promise<{ entry: string, pages: Record<string, string[]> }>} file names; for each page what it
 *   needs beside the entry, so that all can be fetched at once
 */
export async function buildModern(root, outDir) {
  const result = await build({
    configFile: false,
    root,
    base: './',
    logLevel: 'warn',
    plugins: [react()],
    resolve: { alias: [contractSource] },
    build: {
      outDir,
      emptyOutDir: false,
      assetsDir: '',
      target: MODERN_TARGET,
      modulePreload: false,
      rolldownOptions: {
        treeshake,
        input: `${root}/src/main.ts`,
        output: {
          format: 'es',
          codeSplitting,
          entryFileNames: 'dashboard-[hash].js',
          chunkFileNames: '[name]-[hash].js',
          hashCharacters: 'hex',
        },
      },
    },
  });
  const chunks = result.output.filter((file) => file.type === 'chunk');
  const entry = chunks.find((chunk) => chunk.isEntry);
  return { entry: entry.fileName, pages: pageFiles(entry, chunks) };
}

/** A page's chunk starts with `src/pages/<name>/<name>-page.tsx`; the name is the page's identifier in small letters. */
function pageFiles(entry, chunks) {
  const pages = {};
  for (const chunk of chunks) {
    const match = /\/src\/pages\/([a-z-]+)\/\1-page\.tsx$/.exec(chunk.facadeModuleId ?? '');
    if (!match) continue;
    const files = new Set();
    collect(chunk.fileName, chunks, files);
    collect(entry.fileName, chunks, files);
    files.delete(entry.fileName);
    pages[match[1].replace(/-/g, '_').toUpperCase()] = [...files];
  }
  return pages;
}

/** Adds a file and everything that it imports at once, directly or not. */
function collect(fileName, chunks, files) {
  if (files.has(fileName)) return;
  files.add(fileName);
  const chunk = chunks.find((item) => item.fileName === fileName);
  for (const name of chunk?.imports ?? []) collect(name, chunks, files);
}
