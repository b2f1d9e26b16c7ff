import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'acorn';
import { minify } from 'vite';
import { contentHash } from './hash.mjs';

/**
 * Writes the script that picks the build and sends the first calls, with the names of both in it.
 *
 * @param {string} source path of the script
 * @param {string} outDir
 * @param {{ modern: string, legacy: string, pages: Record<string, string[]>, calls: Record<string, [string, object][]> }} files
 * @returns {Promise<string>} file name
 * @throws {SyntaxError} when it holds syntax newer than ES5
 */
export async function buildLoader(source, outDir, files) {
  const text = (await readFile(source, 'utf8')).replace('= FILES;', `= ${JSON.stringify(files)};`);
  const { code: short } = await minify('loader.js', text, { compress: false });
  // The printer chooses template literals for strings, which ES5 does not have.
  const code = short.replace(/`([^`$"\\\n]*)`/g, '"$1"');
  parse(code, { ecmaVersion: 5, sourceType: 'script' });
  const name = `loader-${contentHash(code)}.js`;
  await writeFile(join(outDir, name), code);
  return name;
}
