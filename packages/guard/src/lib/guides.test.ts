import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { scratchFolder } from '../../test/support/scratch.js';
import { guideFile } from './guides.js';

async function withFiles(...names: string[]): Promise<string> {
  const root = await scratchFolder();
  for (const name of names) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), '');
  }
  return root;
}

it.each([
  ['the npm package', 'modules/security-optimizer/docs/operator', 'modules/security-optimizer/modules/guard/dist/x.js'],
  ['the Debian package', 'usr/share/doc/security-optimizer', 'usr/lib/security-optimizer/releases/1/guard/dist/x.js'],
])('a guide is named by its path in %s', async (_, folder, program) => {
  const root = await withFiles(`${folder}/operations.md`, program);
  expect(guideFile('operations.md', join(root, program))).toBe(join(root, folder, 'operations.md'));
});

it('a guide is named as in the project in a checkout, and where it is not installed', async () => {
  const program = 'packages/guard/dist/x.js';
  const root = await withFiles('docs/operator/operations.md', program);
  expect(guideFile('operations.md', join(root, program))).toBe('docs/operator/operations.md');
  expect(guideFile('missing.md', join(root, program))).toBe('docs/operator/missing.md');
});
