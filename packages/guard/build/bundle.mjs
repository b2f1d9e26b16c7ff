import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { leaveOut } from './left-out.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const source = join(root, 'packages/guard/src');
const target = join(root, 'packages/guard/dist/program');

/**
 * Guard is bundled into a few files instead of some 670, because each file costs a third of a millisecond or more at
 * start (docs/decisions/0013). Each thread has a file of its own without shared chunks, so that it loads only the code
 * that it uses.
 */
const programs = [
  {
    input: {
      'security-optimizer': 'cli/security-optimizer.ts',
      embedded: 'embedded.ts',
      worker: 'processes/worker-process.ts',
    },
    // `start` is loaded before the database's thread starts, then `guard`. Everything else is loaded on demand.
    groups: [
      { name: 'start', test: /\/src\/(?:cli\/serve|lib\/version)\.ts$/, priority: 2 },
      { name: 'guard', test: /\/guard\/src\/main\.ts$/, priority: 1 },
    ],
  },
  { input: { 'sqlite-thread': 'storage/sqlite-worker.ts' } },
  { input: { 'load-config': 'config/load-config-thread.ts' } },
  { input: { 'site-files': 'cli/site-files-program.ts' } },
  { input: { unfinished: 'cli/unfinished-program.ts' } },
  { input: { 'activity-writer': 'activity/store/writer-thread.ts' } },
];

/** Bundles the service and its command line. Names and contents depend on the sources only. */
export async function bundleGuard() {
  const { plugin, findUnknown } = leaveOut();
  const outputs = await Promise.all(programs.map((program) => bundle(program, plugin)));
  const unknown = findUnknown();
  if (unknown.length > 0) throw new Error(`Files that the bundle leaves out were not found: ${unknown.join(', ')}`);
  const files = new Map(outputs.flat().map((file) => [file.fileName, file.type === 'chunk' ? file.code : file.source]));
  mkdirSync(target, { recursive: true });
  for (const [name, content] of files) writeFileSync(join(target, name), content);
  for (const name of readdirSync(target)) if (!files.has(name)) rmSync(join(target, name));
}

/** Whether a bundle exists, current or not. */
export function isGuardBundled() {
  return existsSync(join(target, 'security-optimizer.js'));
}

async function bundle({ input, groups = [] }, plugin) {
  // Loaded on demand: on a fresh clone the packages are installed after this file is loaded.
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input: Object.fromEntries(Object.entries(input).map(([name, file]) => [name, join(source, file)])),
    cwd: root,
    plugins: [plugin],
    platform: 'node',
    // The first package loads its native module from its own folder; pg uses the other one only at Cloudflare.
    external: ['@photostructure/sqlite', 'pg-cloudflare'],
    resolve: {
      // The first condition resolves packages of the workspace to their sources. `import` and `require` are added for
      // each kind of import: what pg requires must not be an ES module.
      conditionNames: ['security-optimizer-source', 'node', 'default'],
      extensionAlias: { '.js': ['.ts', '.tsx', '.js'] },
    },
    transform: {
      target: 'node20.19',
      jsx: { runtime: 'automatic' },
      define: { 'process.env.NODE_ENV': '"production"' },
    },
  });
  try {
    const { output } = await build.generate({
      dir: target,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
      sourcemap: true,
      sourcemapExcludeSources: true,
      comments: { legal: true, annotation: false, jsdoc: false },
      codeSplitting: { groups },
    });
    return output;
  } finally {
    await build.close();
  }
}
