import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleGuard, isGuardBundled } from './bundle-guard.mjs';
import { npm, root, run } from './run.mjs';
import { buildTexts } from './texts/build-texts.mjs';

/**
 * Builds what changed: TypeScript projects (the compiler itself skips unchanged ones), then guard's and the
 * dashboard's bundles, then the translations.
 * Without projects, all of them. Throws when something does not build.
 */
export async function build(projects = []) {
  const code = await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--build', ...projects]);
  if (code !== 0) throw new Error('TypeScript found mistakes; they are listed above.');
  await buildGuard();
  await buildDashboard();
  await buildTexts(root);
}

function buildGuard() {
  const inputs = ['packages/guard/src', 'packages/contract/src', 'package-lock.json', 'scripts/lib/bundle-guard.mjs'];
  return whenChanged('guard', inputs, isGuardBundled(), bundleGuard);
}

function buildDashboard() {
  const output = join(root, 'packages/dashboard/dist');
  const inputs = ['packages/dashboard', 'packages/contract/src', 'package-lock.json'];
  return whenChanged('dashboard', inputs, existsSync(output), async () => {
    const code = await npm(['run', 'build', '--workspace', 'packages/dashboard', '--loglevel=error']);
    if (code !== 0) throw new Error('The dashboard could not be built; the message is above.');
  });
}

/** Does the work unless the inputs are those of the last time and what it made is still there. */
async function whenChanged(name, paths, isThere, work) {
  const inputs = hashOf(paths);
  const stamp = join(root, `.cache/${name}-inputs`);
  if (isThere && existsSync(stamp) && readFileSync(stamp, 'utf8') === inputs) return;
  await work();
  mkdirSync(join(root, '.cache'), { recursive: true });
  writeFileSync(stamp, inputs);
}

/** Hash over names, sizes and times of all source files, so that a start without changes builds nothing. */
function hashOf(paths) {
  const hash = createHash('sha256');
  const visit = (path) => {
    const stat = statSync(join(root, path));
    if (!stat.isDirectory()) {
      hash.update(`${path} ${stat.size} ${stat.mtimeMs}\n`);
      return;
    }
    for (const name of readdirSync(join(root, path)).sort()) {
      if (name !== 'dist' && name !== 'node_modules' && !name.endsWith('.tsbuildinfo')) visit(`${path}/${name}`);
    }
  };
  paths.forEach(visit);
  return hash.digest('hex');
}
