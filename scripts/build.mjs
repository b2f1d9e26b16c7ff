import { build } from './lib/build.mjs';
import { requireNode } from './lib/require-node.mjs';

requireNode();
try {
  await build(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
