import { describe, expect, it } from 'vitest';
import { layers } from './dashboard-layers.mjs';
import { collectImports } from './imports.mjs';
import { writeSources } from './layer-tests.mjs';
import { findLongFiles, findTypeImports, findWithoutLayer } from './structure.mjs';

const src = 'packages/dashboard/src';

describe('the check of the structure', () => {
  it('finds code without a layer, also beside the pages', () => {
    const root = writeSources(src, {
      'main.ts': '',
      'ui/icons/star.tsx': '',
      'features/consent/dialog.tsx': '',
      'styles/page.css': '',
      'other.ts': '',
      'uis/field.tsx': '',
      'features/common.ts': '',
      'features/protection/score.ts': '',
      'features/protection/score.test.ts': '',
    });
    expect(findWithoutLayer(root, src, layers)).toEqual(
      ['features/common.ts', 'features/protection/score.ts', 'other.ts', 'uis/field.tsx'].map(
        (name) => `${src}/${name}`,
      ),
    );
  });

  it.each([
    ['a type that is imported in place', "export type A = import('./a.js').A;", ['b.ts:1']],
    ['that of a module', "let a;\nexport const b: typeof import('./a.js') = a;", ['b.ts:2']],
    ['no statement', "import type { A } from './a.js';", []],
    ['no import while running', "export const load = () => import('./a.js');", []],
  ])('finds %s', async (_title, text, found) => {
    const root = writeSources(src, { 'a.ts': '', 'b.ts': text, 'b.test.ts': "type A = import('./a.js').A;" });
    expect(findTypeImports(await collectImports(root), src)).toEqual(found.map((place) => `${src}/${place}`));
  });

  it('finds files that are too long, with their comments and their texts in JSX, except tests', () => {
    const lines = (count) => Array.from({ length: count }, () => 'text').join('\n');
    const root = writeSources(src, {
      'ui/long.tsx': `export const a = <p>\n${lines(399)}\n</p>;`,
      'ui/comment.ts': `/**\n${lines(399)}\n*/`,
      'ui/full.ts': lines(400),
      'ui/long.test.ts': lines(401),
      'styles/page.css': lines(401),
    });
    expect(findLongFiles(root, src, 400)).toEqual([
      { file: `${src}/ui/comment.ts`, lines: 401 },
      { file: `${src}/ui/long.tsx`, lines: 401 },
    ]);
  });
});
