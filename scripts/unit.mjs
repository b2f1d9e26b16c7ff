import { relative, resolve } from 'node:path';
import { requireNode } from './lib/require-node.mjs';
import { root, run } from './lib/run.mjs';

requireNode();

/** Runs tests by their files or folders: `npm run unit -- packages/guard/src/http/canonical-path.test.ts`. */
const [path, ...others] = process.argv.slice(2);
const name = path === undefined ? undefined : /^packages\/([^/]+)/.exec(relative(root, resolve(path)))?.[1];
if (name === undefined) {
  process.stderr.write('npm run unit -- packages/NAME/PATH... [options of vitest]\n');
  process.exit(2);
}
const folder = resolve(root, 'packages', name);
const args = [path, ...others].map((arg) => (arg.startsWith('-') ? arg : relative(folder, resolve(arg))));
process.exit(
  await run(process.execPath, [resolve(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, ...args]),
);
