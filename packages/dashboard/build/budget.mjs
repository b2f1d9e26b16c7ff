import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Most JavaScript that a modern browser may have to fetch for one page, compressed, in bytes. */
const PAGE_BUDGET = 110 * 1000;

/**
 * Measures what each page costs a modern browser.
 *
 * @param {string} outDir
 * @param {{ loader: string, modern: string, pages: Record<string, string[]> }} files
 * @throws {Error} when a page is over the budget
 */
export async function checkBudget(outDir, { loader, modern, pages }) {
  for (const [page, parts] of Object.entries(pages)) {
    const sizes = await Promise.all([loader, modern, ...parts].map((name) => compressedSize(join(outDir, name))));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    console.log(`${page}: ${(bytes / 1000).toFixed(1)} KB of JavaScript, compressed`);
    if (bytes > PAGE_BUDGET) throw new Error(`${page} is over its budget of ${PAGE_BUDGET / 1000} KB.`);
  }
}

async function compressedSize(path) {
  return gzipSync(await readFile(path)).length;
}
