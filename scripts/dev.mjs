import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './lib/build.mjs';
import { startForDevelopment } from './lib/dev.mjs';
import { installPackages } from './lib/install.mjs';
import { requireNode } from './lib/require-node.mjs';
import { root } from './lib/run.mjs';
import { stopWithNpm } from './lib/stop-with-npm.mjs';

requireNode();
stopWithNpm();
try {
  await installPackages();
  // The dashboard is served from its sources. Its build is installed for the rest, such as the icons.
  await build(['packages/sandbox'], { dashboard: !existsSync(join(root, 'packages/dashboard/dist/entrypoints.json')) });
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
const { start } = await import('../packages/sandbox/dist/start/main.js');
process.exit(await start(process.argv.slice(2), startForDevelopment));
