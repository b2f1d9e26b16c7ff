import { build } from './lib/build.mjs';
import { installPackages } from './lib/install.mjs';
import { requireNode } from './lib/require-node.mjs';
import { stopWithNpm } from './lib/stop-with-npm.mjs';

requireNode();
stopWithNpm();
try {
  await installPackages();
  await build(['packages/bench']);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
// Runs in this process, so that npm's signals reach what has to be stopped.
const { bench } = await import('../packages/bench/dist/bench.js');
process.exit(await bench(process.argv.slice(2)));
