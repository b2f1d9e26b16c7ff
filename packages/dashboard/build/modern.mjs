import react from '@vitejs/plugin-react';
import { build } from 'vite';
import { MODERN_TARGET } from './browsers.mjs';
import { chunkNames, pageSlug } from './chunks.mjs';
import { contractSource } from './contract-source.mjs';
import { plainImports } from './plain-imports.mjs';
import { treeshake } from './side-effects.mjs';
import { textDomain } from './text-domain.mjs';

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
    plugins: [react(), plainImports(), textDomain()],
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
          codeSplitting: {
            includeDependenciesRecursively: false,
            groups: [{ debugName: 'parts of pages', name: chunkNames(`${root}/src/main.ts`) }],
          },
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

/** What each page needs beside the entry. The name of its module is the page's identifier in small letters. */
function pageFiles(entry, chunks) {
  const pages = {};
  for (const chunk of chunks) {
    const slug = chunk.moduleIds.map(pageSlug).find((found) => found !== undefined);
    if (slug === undefined) continue;
    const files = new Set();
    collect(chunk.fileName, chunks, files);
    collect(entry.fileName, chunks, files);
    files.delete(entry.fileName);
    pages[slug.replace(/-/g, '_').toUpperCase()] = [...files];
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
