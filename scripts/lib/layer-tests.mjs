import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import * as dashboard from './dashboard-layers.mjs';
import * as guard from './guard-layers.mjs';
import { root } from './run.mjs';

const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
const { overrides } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'));

/** A tree with these files below the sources of a package, until the test ends. */
export function writeSources(src, files) {
  const folder = mkdtempSync(join(tmpdir(), 'layers-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, src, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${text}\n`);
  }
  return folder;
}

/**
 * Those of the files that the linter refuses, once for each of their imports that it refuses. It has the overrides of
 * biome.json, too, because a later entry can replace the generated ones.
 */
export function lint(src, files) {
  const cwd = writeSources(src, files);
  const config = {
    root: true,
    linter: { rules: { preset: 'none' } },
    overrides: [...guard.layerOverrides(), ...dashboard.layerOverrides(), ...overrides],
  };
  writeFileSync(join(cwd, 'biome.json'), JSON.stringify(config));
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [biome, 'lint', '--reporter=json', '--max-diagnostics=none', 'packages'],
    { cwd, encoding: 'utf8' },
  );
  if (!stdout.startsWith('{')) throw new Error(stderr);
  const { diagnostics, summary } = JSON.parse(stdout);
  expect(summary.unchanged).toBe(Object.keys(files).length);
  expect(diagnostics.filter(({ category }) => category !== 'lint/style/noRestrictedImports')).toEqual([]);
  return diagnostics.map(({ location }) => location.path.replace(`${src}/`, '')).sort();
}
