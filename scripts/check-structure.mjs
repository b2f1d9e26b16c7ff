/**
 * Checks what Biome can't see of the dependency rule (ARCHITECTURE.md): no file of the repository is in an import
 * cycle, type-only imports included; all code of guard and of the dashboard has a layer; biome.layers.json, by which
 * Biome checks the imports between the layers, is current; and the folders of the end-to-end tests import only
 * downwards. No file of guard or of the dashboard is too long. `--write` writes biome.layers.json. Part of
 * `npm run lint`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as dashboard from './lib/dashboard-layers.mjs';
import * as guard from './lib/guard-layers.mjs';
import { collectImports, findCircles } from './lib/imports.mjs';
import { root } from './lib/run.mjs';
import { findLongFiles, findTypeImports, findWithoutLayer } from './lib/structure.mjs';

const generated = join(root, 'biome.layers.json');
const overrides = [...guard.layerOverrides(), ...dashboard.layerOverrides()];
const entries = `${JSON.stringify({ overrides }, null, 2)}\n`;
if (process.argv.includes('--write')) writeFileSync(generated, entries);

/** `maxLines`: of a file that is not a test */
const layered = [
  { src: 'packages/guard/src', table: 'scripts/lib/guard-layers.mjs', layers: guard.layers, maxLines: 500 },
  { src: 'packages/dashboard/src', table: 'scripts/lib/dashboard-layers.mjs', layers: dashboard.layers, maxLines: 400 },
];

/** What is in packages/e2e/src, from the bottom up. Each level imports only itself and the levels before it. */
const e2eLevels = [
  ['stacks'],
  ['http'],
  ['browser'],
  ['attacks', 'chaos', 'restarts'],
  ['suites'],
  ['packages', 'global-setup.ts'],
];

const imports = await collectImports(root);
const circles = findCircles(imports).sort((one, other) => one.length - other.length);
const mistakes = [
  // One wrong import creates many cycles; the shortest ones show it.
  ...circles.slice(0, 3).map((circle) => `A circle of imports:\n  ${circle.join('\n  -> ')}`),
  ...layered.flatMap(({ src, table, layers, maxLines }) => [
    ...findWithoutLayer(root, src, layers).map((file) => `${file} has no layer in ${table}.`),
    ...findTypeImports(imports, src).map(
      (place) => `${place} must import the type by a statement, which Biome checks.`,
    ),
    ...findLongFiles(root, src, maxLines).map(
      ({ file, lines }) => `${file} has ${lines} of at most ${maxLines} lines.`,
    ),
  ]),
  ...imports.flatMap(({ from, to, line }) => {
    const [importer, imported] = [e2eFolder(from), e2eFolder(to)];
    if (importer === null || imported === null || importer === imported) return [];
    const [level, other] = [e2eLevel(importer), e2eLevel(imported)];
    return other !== -1 && other < level ? [] : [`${from}:${line} must not import ${to}: see e2eLevels.`];
  }),
  ...(readFileSync(generated, 'utf8') === entries
    ? []
    : ['biome.layers.json is not current: node scripts/check-structure.mjs --write']),
];
for (const mistake of mistakes) console.error(mistake);
if (mistakes.length > 0) process.exitCode = 1;

/** Folder, or file at the top, of a file of the end-to-end tests; null for any other file. */
function e2eFolder(file) {
  return /^packages\/e2e\/src\/([^/]+)/.exec(file)?.[1] ?? null;
}

function e2eLevel(folder) {
  return e2eLevels.findIndex((level) => level.includes(folder));
}
