import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { parse } from 'acorn';
import { minify } from 'vite';
import { buildLegacy, buildModern } from './scripts.mjs';
import { buildStyles, contentHash } from './styles.mjs';

// Builds the files that the connector serves into dist/: style sheets for both directions, the modern and the legacy
// script, the loader that selects one of them, the icons, and entrypoints.json with the names of all files.

/** Maximum size of the JavaScript of one page for a modern browser, compressed, in bytes. */
const PAGE_BUDGET = 125 * 1000;
/** Maximum size of the JavaScript of all pages and dialogs together. */
const TOTAL_BUDGET = 175 * 1000;

// Vitest sets it to `test`, which would bundle the development version of React.
process.env.NODE_ENV = 'production';
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const outDir = join(root, 'dist');

await rm(outDir, { recursive: true, force: true });
await mkdir(outDir, { recursive: true });
await cp(join(root, 'src/ui/icons'), join(outDir, 'icons'), { recursive: true });
const styles = await buildStyles(join(root, 'src'), outDir);
const modern = await buildModern(root, outDir);
const legacy = await buildLegacy(root, outDir);
const files = { modern: modern.entry, legacy, pages: modern.pages };
const requests = JSON.parse(await readFile(join(root, 'src/app/preloaded-requests.json'), 'utf8'));
const loader = await buildLoader(join(root, 'src/app/bootstrap.js'), outDir, { ...files, requests });
await writeFile(join(outDir, 'entrypoints.json'), `${JSON.stringify({ ...styles, loader, ...files }, null, 2)}\n`);
await checkBudget(outDir, { loader, ...files });

/**
 * Writes the script that selects the build and sends the first requests, including the names of both.
 *
 * @param {string} source path of the script
 * @param {string} outDir
 * @param {{ modern: string, legacy: string, pages: Record<string, string[]>, requests: Record<string, [string,
 * object][]> }} files
 * @returns {Promise<string>} file name
 * @throws {SyntaxError} if it contains syntax newer than ES5
 */
async function buildLoader(source, outDir, files) {
  const text = (await readFile(source, 'utf8')).replace('= FILES;', `= ${JSON.stringify(files)};`);
  const { code: short } = await minify('loader.js', text, { compress: false });
  // The printer may write strings as template literals, which ES5 does not have.
  const code = short.replace(/`([^`$"\\\n]*)`/g, '"$1"');
  parse(code, { ecmaVersion: 5, sourceType: 'script' });
  const name = `loader-${contentHash(code)}.js`;
  await writeFile(join(outDir, name), code);
  return name;
}

/**
 * Measures the size of each page in a modern browser.
 *
 * @param {string} outDir
 * @param {{ loader: string, modern: string, legacy: string, pages: Record<string, string[]> }} files
 * @throws {Error} if a page, or all together, exceeds the budget
 */
async function checkBudget(outDir, { loader, modern, legacy, pages }) {
  for (const [page, parts] of Object.entries(pages)) {
    const sizes = await Promise.all([loader, modern, ...parts].map((name) => compressedSize(join(outDir, name))));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    console.log(`${page}: ${(bytes / 1000).toFixed(1)} KB of JavaScript, compressed`);
    if (bytes > PAGE_BUDGET) throw new Error(`${page} is over its budget of ${PAGE_BUDGET / 1000} KB.`);
  }
  const scripts = (await readdir(outDir)).filter((name) => name.endsWith('.js') && name !== legacy);
  const sizes = await Promise.all(scripts.map((name) => compressedSize(join(outDir, name))));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`All pages and dialogs: ${(total / 1000).toFixed(1)} KB`);
  if (total > TOTAL_BUDGET) throw new Error(`All together is over the budget of ${TOTAL_BUDGET / 1000} KB.`);
}

async function compressedSize(path) {
  return gzipSync(await readFile(path)).length;
}
