import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const src = join(import.meta.dirname, '../src');

/** Folders from the lowest to the highest; a folder imports only lower ones. */
const LAYERS = ['i18n', 'ui', 'api', 'forms', 'features', 'app'];
/** Features in the same order. */
const FEATURES = [
  'consent',
  'protection',
  'site-security',
  'login-settings',
  'activity-log',
  'post-hack-actions',
  'security-dashboard',
];
/** Files outside `ui/` that controls may import, because they do not depend on the product either. */
const ALLOWED_IN_UI = /^(?:ui\/|i18n\/(?:date-texts|calendar)\.ts$)/;
/** Translation; its own imports are not followed. */
const TRANSLATE = 'i18n/translate.ts';
const PACKAGES = new Set(['react', 'react-dom']);

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.tsx?$/.test(name) && !/\.test\.|\.d\.ts$/.test(name),
);

/** Imports of a file, type-only and dynamic ones included: files below `src`, and packages. */
function readImports(file: string): { readonly files: string[]; readonly packages: string[] } {
  const text = readFileSync(join(src, file), 'utf8');
  const names = Array.from(
    text.matchAll(/^(?:import|export)\b[^'"`;]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm),
    ([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '',
  );
  return {
    files: names
      .filter((name) => name.startsWith('.'))
      .map((name) => toSource(relative(src, join(src, dirname(file), name)))),
    packages: names.filter((name) => !name.startsWith('.')),
  };
}

/** The source of an imported `.js` module. */
function toSource(name: string): string {
  const stem = name.replace(/\.js$/, '');
  return files.find((file) => file === `${stem}.ts` || file === `${stem}.tsx`) ?? name;
}

const graph = new Map(files.map((file) => [file, readImports(file).files]));

/** Position of a file in the order of layers, and of features inside theirs. */
function getRank(file: string): readonly [layer: number, feature: number] {
  const [layer = '', feature = ''] = file.split('/');
  return [LAYERS.indexOf(layer), layer === 'features' ? FEATURES.indexOf(feature) : 0];
}

describe('the imports of the dashboard', () => {
  it('are checked for every folder', () => {
    expect(files.filter((file) => getRank(file).includes(-1))).toEqual([]);
  });

  it('point only to lower layers and earlier features', () => {
    const wrong = files.flatMap((file) => {
      const [layer, feature] = getRank(file);
      return (graph.get(file) ?? [])
        .filter((target) => {
          const [targetLayer, targetFeature] = getRank(target);
          return targetLayer > layer || (targetLayer === layer && targetFeature > feature);
        })
        .map((target) => `${file} imports ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  it('have no cycles', () => {
    const done = new Set<string>();
    function findCircle(file: string, path: readonly string[]): readonly string[] | null {
      if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
      if (done.has(file)) return null;
      for (const target of graph.get(file) ?? []) {
        const circle = findCircle(target, [...path, file]);
        if (circle !== null) return circle;
      }
      done.add(file);
      return null;
    }
    for (const file of files) expect(findCircle(file, [])).toBeNull();
  });
});

describe('the controls in ui/', () => {
  it('import nothing of the product, not even indirectly', () => {
    const seen = new Set(files.filter((file) => file.startsWith('ui/')));
    expect(seen.size).toBeGreaterThan(20);
    const wrong: string[] = [];
    for (const file of seen) {
      const { files, packages } = readImports(file);
      for (const name of files) {
        if (ALLOWED_IN_UI.test(name)) seen.add(name);
        else if (name !== TRANSLATE) wrong.push(`${file} imports ${name}`);
      }
      for (const name of packages) if (!PACKAGES.has(name)) wrong.push(`${file} imports ${name}`);
    }
    expect(seen).toContain('i18n/calendar.ts');
    expect(wrong).toEqual([]);
  });
});
