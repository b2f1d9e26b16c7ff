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
const { attack } = await import('../packages/e2e/dist/attacks/main.js');
process.exit(await attack(process.argv.slice(2)));
