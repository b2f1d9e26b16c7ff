/**
 * Checks what Biome can't see of the dependency rule (ARCHITECTURE.md): no file of the repository is in an import
 * cycle, type-only imports included; everything in guard has a layer; and biome.layers.json, by which Biome checks the
 * imports between the layers, is what scripts/lib/guard-layers.mjs says. `--write` writes it. Part of `npm run lint`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { layerOverrides, layers } from './lib/guard-layers.mjs';
import { collectImports, findCircles } from './lib/imports.mjs';
import { root } from './lib/run.mjs';

const generated = join(root, 'biome.layers.json');
const entries = `${JSON.stringify({ overrides: layerOverrides() }, null, 2)}\n`;
if (process.argv.includes('--write')) writeFileSync(generated, entries);

const circles = findCircles(await collectImports(root)).sort((one, other) => one.length - other.length);
const places = readdirSync(join(root, 'packages/guard/src')).filter((name) => !name.endsWith('.test.ts'));
const mistakes = [
  // One wrong import creates many cycles; the shortest ones show it.
  ...circles.slice(0, 3).map((circle) => `A circle of imports:\n  ${circle.join('\n  -> ')}`),
  ...places
    .filter((place) => !layers.some(({ name }) => name === place))
    .map((place) => `packages/guard/src/${place} has no layer in scripts/lib/guard-layers.mjs.`),
  ...(readFileSync(generated, 'utf8') === entries
    ? []
    : ['biome.layers.json is not current: node scripts/check-imports.mjs --write']),
];
for (const mistake of mistakes) console.error(mistake);
if (mistakes.length > 0) process.exitCode = 1;
