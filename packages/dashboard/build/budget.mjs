import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Most JavaScript that a modern browser may have to fetch for one page, compressed, in bytes. */
const PAGE_BUDGET = 110 * 1000;
/** Most JavaScript of all pages and dialogs together. */
const TOTAL_BUDGET = 150 * 1000;

/**
 * Measures what each page costs a modern browser.
 *
 * @param {string} outDir
 * @param {{ loader: string, modern: string, legacy: string, pages: Record<string, string[]> }} files
 * @throws {Error} when a page, or all together, is over the budget
 */
export async function checkBudget(outDir, { loader, modern, legacy, pages }) {
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
