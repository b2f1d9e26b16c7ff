import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'acorn';
import { minify } from 'vite';
import { contentHash } from './hash.mjs';

/**
 * Writes the script that picks the build, with the file names in it.
 *
 * @param {string} source path of the script
 * @param {string} outDir
 * @param {{ modern: string, legacy: string, pages: Record<string, string[]> }} files
 * @returns {Promise<string>} file name
 * @throws {SyntaxError} when it holds syntax newer than ES5
 */
export async function buildLoader(source, outDir, files) {
  const text = (await readFile(source, 'utf8')).replace('= FILES;', `= ${JSON.stringify(files)};`);
  // Without white space the printer would choose template literals for some strings, which ES5 does not have.
  const { code } = await minify('loader.js', text, { compress: false, codegen: { removeWhitespace: false } });
  parse(code, { ecmaVersion: 5, sourceType: 'script' });
  const name = `loader-${contentHash(code)}.js`;
  await writeFile(join(outDir, name), code);
  return name;
}
