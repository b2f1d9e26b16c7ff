import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files of a package that are in no folder of the table, and not in the table themselves. */
export function findWithoutLayer(root, src, layers) {
  return codeFiles(root, src)
    .filter((file) => !layers.some(({ name }) => file === name || file.startsWith(`${name}/`)))
    .map((file) => `${src}/${file}`);
}

/** Where a type of another file is imported in place, as in `import('./a.js').A`: Biome checks only statements. */
export function findTypeImports(imports, src) {
  return imports
    .filter(({ from, inType }) => inType && from.startsWith(`${src}/`) && isCode(from))
    .map(({ from, line }) => `${from}:${line}`);
}

/**
 * Files with more lines. Biome has a rule for this, `noExcessiveLinesPerFile`, but 2.5 does not count the lines inside
 * texts in JSX, template literals and block comments.
 */
export function findLongFiles(root, src, maxLines) {
  return codeFiles(root, src)
    .map((file) => ({ file: `${src}/${file}`, lines: countLines(readFileSync(join(root, src, file), 'utf8')) }))
    .filter(({ lines }) => lines > maxLines);
}

function codeFiles(root, src) {
  return readdirSync(join(root, src), { recursive: true }).filter(isCode).sort();
}

function isCode(file) {
  return /\.(?:js|ts|tsx)$/.test(file) && !/\.(?:test\.tsx?|d\.ts)$/.test(file);
}

function countLines(text) {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}
