import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { groups } from '../gallery/groups/index.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Folders and files with components for all pages. */
const SOURCES = ['ui', 'forms', 'features/settings', 'app/loading-bar.tsx'];

const examples = folder('gallery/groups')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

function folder(path: string): string[] {
  return readdirSync(join(root, path))
    .filter((name) => /\.tsx$/.test(name) && !name.includes('.test.'))
    .map((name) => join(root, path, name));
}

/** Returns the names of a file's exported components, which start with a capital letter. */
function listComponents(file: string): string[] {
  const found = readFileSync(file, 'utf8').matchAll(/^export (?:default )?(?:function|class) ([A-Z]\w*)/gm);
  return [...found].map(([, name = '']) => name);
}

describe('the gallery', () => {
  it.each(SOURCES)('has an example of each component in %s', (name) => {
    const files = name.endsWith('.tsx') ? [join(root, 'src', name)] : folder(`src/${name}`);
    const components = files.flatMap(listComponents);
    expect(components.length).toBeGreaterThan(0);
    expect(components.filter((component) => !new RegExp(`<${component}[\\s/>]`).test(examples))).toEqual([]);
  });

  it('has a unique URL for each group and example', () => {
    const ids = groups.flatMap((group) => [group.id, ...group.examples.map(({ id }) => id)]);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z0-9-]+$/.test(id))).toEqual([]);
  });
});
