import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../../', import.meta.url);
const document = readFileSync(new URL('docs/threat-model.md', root), 'utf8');
/** `path/of/a.test.ts`: “title” */
const named = [...document.matchAll(/`((?:packages|scripts)\/[^`]+\.test\.tsx?)`: “([^”]+)”/g)].map(
  ([, file = '', title = '']) => ({ file, title }),
);

describe('the threat model', () => {
  it('names tests that exist, by file and title', () => {
    expect(named.length).toBeGreaterThan(40);
    const missing = named.filter(({ file, title }) => {
      const path = new URL(file, root);
      return !existsSync(path) || !includesTitle(readFileSync(path, 'utf8'), title);
    });
    expect(missing).toEqual([]);
  });

  it('names no test without its title', () => {
    expect(document.match(/\.test\.tsx?/g)).toHaveLength(named.length);
  });

  it('names a test for every attack', () => {
    const rows = document
      .split('\n## ')
      .filter((section) => section.includes('| shown by |'))
      .flatMap((section) => section.split('\n').filter((line) => line.startsWith('| ')))
      .filter((line) => !/^\| (?:attack|---) \|/.test(line));
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.filter((row) => !/`[^`]+\.test\.tsx?`: “/.test(row.split('|')[3] ?? ''))).toEqual([]);
  });
});

/** Whether a test or a group of tests has that title, in any kind of quotes. */
function includesTitle(source: string, title: string): boolean {
  return [`'${title}'`, `"${title}"`, `\`${title}\``].some((quoted) => source.includes(quoted));
}
