import { build } from './lib/build.mjs';
import { installPackages } from './lib/install.mjs';
import { requireNode } from './lib/require-node.mjs';
import { stopWithNpm } from './lib/stop-with-npm.mjs';

requireNode();
stopWithNpm();
try {
  await installPackages();
  await build(['packages/e2e']);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
// Runs in this process, so that npm's signals reach what has to be stopped.
const { chaos } = await import('../packages/e2e/dist/chaos/main.js');
process.exit(await chaos(process.argv.slice(2)));
