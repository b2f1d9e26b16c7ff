import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

const source = join(root, 'packages/guard/src');
const target = join(root, 'packages/guard/dist/program');

/**
 * What guard runs as: few files instead of some 670, since loading each of them costs a start a third of a millisecond
 * or more (docs/decisions/0013). Threads get a file each that shares nothing with the others: they load no more than
 * they use.
 */
const programs = [
  {
    input: { 'security-optimizer': 'cli/security-optimizer.ts', embedded: 'embedded.ts' },
    // What is loaded before the database's thread is started, then what serves. All else is loaded when it is called.
    groups: [
      { name: 'start', test: /\/src\/(?:cli\/serve|lib\/version)\.ts$/, priority: 2 },
      { name: 'guard', test: /\/guard\/src\/main\.ts$/, priority: 1 },
    ],
  },
  { input: { 'sqlite-thread': 'storage/sqlite-worker/worker.ts' } },
  { input: { 'activity-writer': 'storage/activity/write/worker.ts' } },
];

/** Bundles the service and its command line. Names and contents depend on the sources alone. Throws what is wrong. */
export async function bundleGuard() {
  const outputs = await Promise.all(programs.map(bundle));
  const files = new Map(outputs.flat().map((file) => [file.fileName, file.type === 'chunk' ? file.code : file.source]));
  mkdirSync(target, { recursive: true });
  for (const [name, content] of files) writeFileSync(join(target, name), content);
  for (const name of readdirSync(target)) if (!files.has(name)) rmSync(join(target, name));
}

/** Whether there is a bundle, current or not. */
export function isGuardBundled() {
  return existsSync(join(target, 'security-optimizer.js'));
}

async function bundle({ input, groups = [] }) {
  // On a fresh clone the packages are installed after this file was loaded.
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input: Object.fromEntries(Object.entries(input).map(([name, file]) => [name, join(source, file)])),
    cwd: root,
    platform: 'node',
    // It brings a native module for each platform, which it finds beside itself.
    external: ['@photostructure/sqlite'],
    resolve: { extensionAlias: { '.js': ['.ts', '.tsx', '.js'] } },
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
