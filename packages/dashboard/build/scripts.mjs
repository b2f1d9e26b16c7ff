import react from '@vitejs/plugin-react';
import { parse } from 'acorn';
import compat from 'core-js-compat';
import { minify } from 'terser';
import { build } from 'vite';
import { LEGACY_BROWSERS, MODERN_TARGET } from './browsers.mjs';
import { chunkNames, pageSlug } from './chunks.mjs';
import { reactParts } from './react-parts.mjs';
import { workspaceSource } from './workspace-source.mjs';

/**
 * Builds the ES modules for current browsers: an entry, and a file for each page.
 *
 * @param {string} root folder of the package
 * @param {string} outDir
 * @returns {Promise<{ entry: string, pages: Record<string, string[]> }>} file names; for each page the files that it
 *   needs besides the entry, so that all can be fetched at once
 */
export async function buildModern(root, outDir) {
  const result = await build({
    configFile: false,
    root,
    base: './',
    logLevel: 'warn',
    plugins: [react(), reactParts(), syncZod(), plainImports(), textDomain(), secondMinifier()],
    resolve: { alias: [workspaceSource] },
    build: {
      outDir,
      emptyOutDir: false,
      assetsDir: '',
      target: MODERN_TARGET,
      modulePreload: false,
      rolldownOptions: {
        treeshake,
        // The second minifier takes most of the time of a build, so a warning about slow plugins is not useful.
        checks: { pluginTimings: false },
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

/** The files that each page needs besides the entry, by page identifier. */
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

/** Adds a file and all its static imports, direct and indirect. */
function collect(fileName, chunks, files) {
  if (files.has(fileName)) return;
  files.add(fileName);
  const chunk = chunks.find((item) => item.fileName === fileName);
  for (const name of chunk?.imports ?? []) collect(name, chunks, files);
}

/**
 * Builds the single classic script for the oldest browsers of the specification: ES2015 syntax and polyfills.
 *
 * @param {string} root folder of the package
 * @param {string} outDir
 * @returns {Promise<string>} file name
 * @throws {SyntaxError} if newer syntax remains
 */
export async function buildLegacy(root, outDir) {
  const result = await build({
    configFile: false,
    root,
    logLevel: 'warn',
    plugins: [react(), polyfills(), noBigint(), plainImports(), textDomain()],
    // Vite's helper for dynamic imports uses them; a single script has no imports to resolve.
    define: { 'import.meta.url': '""', 'import.meta.resolve': 'undefined' },
    resolve: { alias: [workspaceSource] },
    build: {
      outDir,
      emptyOutDir: false,
      assetsDir: '',
      target: 'es2015',
      modulePreload: false,
      rolldownOptions: {
        treeshake,
        input: `${root}/src/legacy.ts`,
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

/**
 * Vite plugin that removes the text domain from `__( 'Text', 'security-optimizer' )`. Only the tools that collect texts
 * need it; `src/i18n/translate.ts` adds it at run time.
 */
function textDomain() {
  return {
    name: 'security-optimizer-text-domain',
    enforce: 'pre',
    transform(code, id) {
      if (!/\/src\/.+\.tsx?$/.test(id)) return null;
      return { code: code.replace(/,\s*'security-optimizer',?(?=\s*\))/g, ''), map: null };
    },
  };
}

/**
 * Vite plugin that minifies the entry once more after Vite's own minifier: nearly 2 % smaller when compressed,
 * most of it in React. Neither of the two minifiers alone achieves that, and other files do not become smaller.
 */
function secondMinifier() {
  return {
    name: 'security-optimizer-second-minifier',
    enforce: 'post',
    async generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== 'chunk' || !file.isEntry) continue;
        const { code } = await minify(file.code, { module: true, ecma: 2020, compress: { passes: 3 } });
        file.code = code;
      }
    },
  };
}

/**
 * Vite plugin that leaves dynamic imports unchanged. Vite would wrap each in a helper that waits for style sheets and
 * preload hints, which these builds do not have.
 */
function plainImports() {
  const HELPER = '\0vite/preload-helper.js';
  return {
    name: 'security-optimizer-plain-imports',
    enforce: 'pre',
    load: (id) => (id === HELPER ? 'export const __vitePreload = (load) => load();' : null),
  };
}

/**
 * Packages with side effects that the dashboard does not need: WordPress's i18n creates an instance with WordPress's
 * hooks when it is loaded.
 */
const PURE = /[\\/]node_modules[\\/]@wordpress[\\/](?:i18n|hooks)[\\/]/;

/** Option for Rolldown: whether to keep a module whose exports are unused. */
const treeshake = { moduleSideEffects: (id) => !PURE.test(id) };

const ID = 'virtual:polyfills';

/** Parts of the language that the dashboard and its libraries use. */
const LANGUAGE =
  /^es\.(?:aggregate-error|array(?!-)|error|function|global-this|map|number|object|promise|reflect|regexp|set$|string|symbol|weak-)/;
/** Features of core-js that are not part of the language. */
const WEB = /^web\.(?:dom-collections|queue-microtask|structured-clone|url|url-search-params|immediate)/;

/** Vite plugin for `import 'virtual:polyfills'`: the modules of core-js that one of the oldest browsers needs. */
function polyfills() {
  return {
    name: 'security-optimizer-polyfills',
    resolveId: (id) => (id === ID ? `\0${ID}` : null),
    load(id) {
      if (id !== `\0${ID}`) return null;
      const { list } = compat({ targets: LEGACY_BROWSERS, modules: [LANGUAGE, WEB] });
      return list.map((name) => `import 'core-js/modules/${name}.js';`).join('\n');
    },
  };
}

/** Functions of Zod that `syncZod` breaks. */
const ASYNC_ZOD = /\bz\.(?:codec|(?:safe)?(?:parse|[eE]ncode|[dD]ecode)Async|(?:safe)?[eE]ncode)\(/;

/**
 * Vite plugin that removes the parts of Zod for checks that return promises and for encoding. The dashboard only parses,
 * and its checks are synchronous. The build fails if that changes.
 */
export function syncZod() {
  return {
    name: 'security-optimizer-sync-zod',
    transform(code, id) {
      if (!/[\\/]node_modules[\\/]zod[\\/]/.test(id)) {
        if (ASYNC_ZOD.test(code)) throw new Error(`${id} uses a part of Zod that the build removes.`);
        return null;
      }
      const sync = code
        .replace(/[\w.]+ instanceof Promise\b/g, 'false')
        .replace(/\bctx\??\.direction ([!=])== "backward"/g, (_all, sign) => String(sign === '!'))
        .replace(/\bctx\??\.async\b(?! ===)/g, 'false');
      return { code: sync, map: null };
    },
  };
}

/**
 * Vite plugin for the legacy script: removes comparisons of `typeof` with "bigint". They crash the optimising compiler
 * of Chromium 64. React and Zod have them in hot functions, and the dashboard has no such values.
 */
function noBigint() {
  return {
    name: 'security-optimizer-no-bigint',
    transform(code, id) {
      if (!/[\\/]node_modules[\\/](?:react(?:-dom)?|zod)[\\/]/.test(id)) return null;
      const compared = /(?:"bigint" ([!=])== typeof [\w$]+|typeof [\w$]+ ([!=])== "bigint")/g;
      return { code: code.replace(compared, (_all, a, b) => String((a ?? b) === '!')), map: null };
    },
  };
}
