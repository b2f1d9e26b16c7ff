import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { parseSync } from 'vite';

/**
 * @typedef {{ from: string, to: string, line: number, inType: boolean }} Import paths of files below the root; `inType`:
 *   it is an `import('…')` inside a type
 */

/**
 * All imports between source files of this repository: static, dynamic, re-exported and type-only.
 *
 * @param {string} root folder of the repository
 * @returns {Promise<Import[]>}
 */
export async function collectImports(root) {
  const imports = [];
  for (const file of await sourceFiles(root)) {
    const source = await readFile(join(root, file), 'utf8');
    const { program, errors } = parseSync(file, source);
    if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
    for (const { specifier, start, inType } of findSpecifiers(program)) {
      const to = resolve(root, file, specifier);
      if (to !== null) imports.push({ from: file, to, line: source.slice(0, start).split('\n').length, inType });
    }
  }
  return imports;
}

async function sourceFiles(root) {
  const packages = await readdir(join(root, 'packages'));
  const files = await Promise.all(
    packages.map(async (name) => {
      const folder = join(root, 'packages', name, 'src');
      if (!existsSync(folder)) return [];
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => relative(root, join(entry.parentPath, entry.name)));
    }),
  );
  return files.flat().filter((file) => /\.(?:ts|tsx|mts|mjs)$/.test(file) && !file.endsWith('.d.ts'));
}

const IMPORTING = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
]);

function findSpecifiers(program) {
  const found = [];
  const visit = (node) => {
    if (Array.isArray(node)) node.forEach(visit);
    else if (node !== null && typeof node === 'object') {
      const specifier = IMPORTING.has(node.type) ? (node.source?.value ?? node.argument?.literal?.value) : undefined;
      if (typeof specifier === 'string')
        found.push({ specifier, start: node.start, inType: node.type === 'TSImportType' });
      Object.values(node).forEach(visit);
    }
  };
  visit(program);
  return found;
}

/** @returns the file's path below the root, or null if it is not a source file of ours */
function resolve(root, file, specifier) {
  const [, name, path] = /^@security-optimizer\/([\w-]+)\/(.+)$/.exec(specifier) ?? [];
  if (name === undefined && !specifier.startsWith('.')) return null;
  const target = name === undefined ? join(dirname(file), specifier) : join('packages', name, 'src', path);
  const bare = target.replace(/\.jsx?$/, '');
  const candidates = [target, ...['.ts', '.tsx', '.mts', '.mjs'].map((ending) => bare + ending)];
  const found = candidates.find((candidate) => /\.[a-z]+$/.test(candidate) && existsSync(join(root, candidate)));
  return found === undefined || !/\.(?:ts|tsx|mts|mjs)$/.test(found) ? null : found;
}

/**
 * Import cycles.
 *
 * @param {readonly Import[]} imports
 * @returns {string[][]} the files of each cycle, with the first one repeated at the end
 */
export function findCircles(imports) {
  const targets = new Map();
  for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to]);
  const done = new Set();
  const circles = [];
  const visit = (file, path) => {
    const at = path.indexOf(file);
    if (at !== -1) {
      circles.push([...path.slice(at), file]);
      return;
    }
    if (done.has(file)) return;
    for (const to of targets.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return circles;
}
