import { build } from './lib/build.mjs';
import { installPackages } from './lib/install.mjs';
import { requireNode } from './lib/require-node.mjs';
import { stopWithNpm } from './lib/stop-with-npm.mjs';

/**
 * The packages of the commands and their modules. Each module exports a function with the name of its command. `needs`:
 * bundles that the command does without.
 */
const commands = {
  start: { package: 'sandbox', module: 'start/main.js' },
  attack: { package: 'e2e', module: 'attacks/main.js' },
  chaos: { package: 'e2e', module: 'chaos/main.js' },
  restarts: { package: 'e2e', module: 'restarts/main.js' },
  bench: { package: 'bench', module: 'bench.js' },
  texts: { package: 'translations', module: 'main.js', needs: { guard: false, dashboard: false } },
};

const [name, ...args] = process.argv.slice(2);
if (!Object.hasOwn(commands, name ?? '')) {
  process.stderr.write(`Usage: node scripts/run.mjs ${Object.keys(commands).join('|')} [options]\n`);
  process.exit(2);
}
const command = commands[name];
requireNode();
stopWithNpm();
try {
  await installPackages();
  await build([`packages/${command.package}`], command.needs);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
// In this process, so that npm's signals reach it.
const program = await import(`../packages/${command.package}/dist/${command.module}`);
process.exit(await program[name](args));
