import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const scripts = new URL('../', import.meta.url);

/** The packages that a script imports at once, directly or through other scripts, each with the script's path. */
function listPackages(script, seen = new Set()) {
  if (seen.has(script.href)) return [];
  seen.add(script.href);
  const text = readFileSync(fileURLToPath(script), 'utf8');
  return [...text.matchAll(/^import [^;]*?from '([^']+)';$/gm)].flatMap(([, name = '']) => {
    if (name.startsWith('node:')) return [];
    return name.startsWith('.') ? listPackages(new URL(name, script), seen) : [`${name} in ${script.pathname}`];
  });
}

it.each(['run.mjs', 'test.mjs', 'dev.mjs'])('%s starts in a fresh clone, before any package is installed', (name) => {
  expect(listPackages(new URL(name, scripts))).toEqual([]);
});
