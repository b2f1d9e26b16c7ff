import { describe, expect, it } from 'vitest';
import { findFormerWords } from './words.mjs';

const words = [
  { gone: /\broads?\b/, use: 'route' },
  { gone: /\bdoors?\b/, use: 'login page', except: /\w[ -]door/ },
];
const find = (file, source) => findFormerWords(file, source, words).map(({ line, text }) => `${line} ${text.trim()}`);

describe('words that are gone', () => {
  it('are found in names, in each way to write one', () => {
    const source =
      'const loginRoad = 1;\nclass X { #roads; LOGIN_ROAD = 2; }\nexport interface RoadFacts { road: string }';
    expect(find('a.ts', source)).toEqual(['1 loginRoad', '2 roads', '2 LOGIN_ROAD', '3 RoadFacts', '3 road']);
  });

  it('are found in comments and in titles of tests', () => {
    expect(find('a.ts', '// The road of a login.\n/** Two\n * roads. */')).toEqual([
      '1 The road of a login.',
      '3 * roads.',
    ]);
    expect(
      find('a.test.ts', "describe('a road', () => {\n  it.each([['keeps a road']])('%s on the road', () => {});\n});"),
    ).toEqual(["1 'a road'", "2 '%s on the road'"]);
  });

  it('are not looked for in other strings, which are texts for people and samples', () => {
    expect(find('a.ts', "const text = 'a road';\nconst route = `/road/x`;")).toEqual([]);
  });

  it('are found in PHP', () => {
    const source = "<?php\n// The road.\nclass Login_Road { public $road; }\n$text = 'a road';\n";
    expect(find('a.php', source)).toEqual(['2 // The road.', '3 Login_Road', '3 $road']);
  });

  it('are found in every line of a document', () => {
    expect(find('a.md', '# Roads\n\nA route.\n')).toEqual(['1 # Roads']);
  });

  it('may mean something else', () => {
    expect(find('a.md', '`/my-door` and a door')).toEqual([]);
    expect(find('a.md', 'a broad abroad')).toEqual([]);
  });

  it('include names of functions that are no verb', () => {
    expect(find('a.ts', 'const keyOf = 1, indexOf = 2, supportedValuesOf = 3, of = 4;')).toEqual(['1 keyOf']);
  });
});
