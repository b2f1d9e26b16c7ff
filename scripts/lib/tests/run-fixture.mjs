import { join } from 'node:path';
import { root } from '../run.mjs';
import { sideBySide } from './side-by-side.mjs';
import { conclude } from './try-again.mjs';
import { vitest } from './vitest.mjs';

/** Runs the tests of one folder as `npm test` runs those of a package. For the tests of the runner. */
const folder = process.argv[2];
const dir = join(root, folder, 'results');
const fixture = {
  name: 'fixture',
  work: (output) => vitest({ folder, results: join(dir, 'fixture.json'), output }),
  workAlone: (file, output) => vitest({ folder, file, results: join(dir, 'alone.json'), output }),
};
const other = { name: 'another job', work: async () => ({ passed: 0, failed: 0 }) };
const { lines, code } = await conclude(await sideBySide([fixture, other], 2, dir), dir);
process.stdout.write(`${lines.join('\n')}\n`);
process.exit(code);
