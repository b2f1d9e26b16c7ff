import react from '@vitejs/plugin-react';
import { parse } from 'acorn';
import { build } from 'vite';
import { contractSource } from './contract-source.mjs';
import { noBigint } from './no-bigint.mjs';
import { plainImports } from './plain-imports.mjs';
import { polyfills } from './polyfills.mjs';
import { treeshake } from './side-effects.mjs';
import { textDomain } from './text-domain.mjs';

/**
 * Builds the single classic script for the oldest browsers of the specification: ES2015 syntax and polyfills.
 *
 * @param {string} root folder of the package
 * @param {string} outDir
 * @returns {Promise<string>} file name
 * @throws {SyntaxError} when newer syntax got through
 */
export async function buildLegacy(root, outDir) {
  const result = await build({
    configFile: false,
    root,
    logLevel: 'warn',
    plugins: [react(), polyfills(), noBigint(), plainImports(), textDomain()],
    // Vite's helper for dynamic imports names it; in a single script it has nothing to resolve.
    define: { 'import.meta.url': '""', 'import.meta.resolve': 'undefined' },
    resolve: { alias: [contractSource] },
    build: {
      outDir,
      emptyOutDir: false,
      assetsDir: '',
      target: 'es2015',
      modulePreload: false,
      rolldownOptions: {
        treeshake,
        input: `${root}/src/legacy/main.ts`,
        output: {
          format: 'iife',
          codeSplitting: false,
          entryFileNames: 'dashboard-legacy-[hash].js',
          hashCharacters: 'hex',
        },
      },
    },
  });
  const chunk = result.output.find((file) => file.type === 'chunk' && file.isEntry);
  parse(chunk.code, { ecmaVersion: 2015, sourceType: 'script' });
  if (/typeof [\w$]+[!=]=+[`'"]bigint|bigint[`'"][!=]=+typeof/.test(chunk.code))
    throw new Error('A type is compared with "bigint".');
  return chunk.fileName;
}
