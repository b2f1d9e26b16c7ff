import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm, root, run } from './run.mjs';
import { buildTexts } from './texts/build-texts.mjs';

/**
 * Builds what changed: TypeScript projects (the compiler itself skips unchanged ones), then the dashboard's bundle,
 * then the translations.
 * Without projects, all of them. Throws when something does not build.
 */
export async function build(projects = []) {
  const code = await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--build', ...projects]);
  if (code !== 0) throw new Error('TypeScript found mistakes; they are listed above.');
  await buildDashboard();
  await buildTexts(root);
}

async function buildDashboard() {
  const scripts = JSON.parse(readFileSync(join(root, 'packages/dashboard/package.json'), 'utf8')).scripts ?? {};
  if (scripts.build === undefined) return;
  const inputs = hashOf(['packages/dashboard', 'packages/contract/src', 'package-lock.json']);
  const stamp = join(root, '.cache/dashboard-inputs');
  const output = join(root, 'packages/dashboard/dist');
  if (existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === inputs) return;
  const code = await npm(['run', 'build', '--workspace', 'packages/dashboard', '--loglevel=error']);
  if (code !== 0) throw new Error('The dashboard could not be built; the message is above.');
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
