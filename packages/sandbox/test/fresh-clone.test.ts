import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const scripts = new URL('../../../scripts/', import.meta.url);

/** What a script and the scripts that it loads at once import by name, each with who does. */
function packagesLoadedBy(script: URL, seen = new Set<string>()): string[] {
  if (seen.has(script.href)) return [];
  seen.add(script.href);
  const text = readFileSync(fileURLToPath(script), 'utf8');
  return [...text.matchAll(/^import [^;]*?from '([^']+)';$/gm)].flatMap(([, name = '']) => {
    if (name.startsWith('node:')) return [];
    return name.startsWith('.') ? packagesLoadedBy(new URL(name, script), seen) : [`${name} in ${script.pathname}`];
  });
}

it.each(['start.mjs', 'test.mjs', 'bench.mjs'])('%s begins on a fresh clone, before any package is there', (name) => {
  expect(packagesLoadedBy(new URL(name, scripts))).toEqual([]);
});
