import { build } from './lib/build.mjs';
import { requireNode } from './lib/require-node.mjs';

requireNode();
try {
  await build();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
