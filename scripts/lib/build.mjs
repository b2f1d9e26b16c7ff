import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleGuard, isGuardBundled } from '../../packages/guard/build/bundle.mjs';
import { npm, root, run } from './run.mjs';

/**
 * Builds what has changed: TypeScript projects (the compiler skips unchanged ones), then the bundles of guard and the
 * dashboard, then the translations. Without projects it builds all of them. The bundles of guard and of the dashboard
 * may be skipped. Throws when a build fails.
 */
export async function build(projects = [], { guard = true, dashboard = true } = {}) {
  const some = projects.length === 0 ? [] : [...projects, 'packages/translations'];
  const code = await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--build', ...some]);
  if (code !== 0) throw new Error('TypeScript found mistakes; they are listed above.');
  if (guard) await buildGuard();
  if (dashboard) await buildDashboard();
  // Compiled just now.
  const { compileLanguages } = await import('../../packages/translations/dist/compile.js');
  await compileLanguages(root);
}

function buildGuard() {
  const inputs = ['packages/guard/src', 'packages/guard/build', 'packages/contract/src', 'package-lock.json'];
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

/** Does the work unless the inputs are unchanged and the output still exists. */
async function whenChanged(name, paths, isPresent, work) {
  const inputs = hashSources(paths);
  const stamp = join(root, `.cache/${name}-inputs`);
  if (isPresent && existsSync(stamp) && readFileSync(stamp, 'utf8') === inputs) return;
  await work();
  mkdirSync(join(root, '.cache'), { recursive: true });
  writeFileSync(stamp, inputs);
}

/** Hash over names, sizes and times of all source files, so that a start without changes builds nothing. */
function hashSources(paths) {
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
