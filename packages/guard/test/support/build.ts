import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { installProgram, programInCheckout } from './installed-program.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Path of the command line; the path of a copy that every user can read, where the tests run as root. */
    readonly program: string;
  }
}

/**
 * Builds the package before its tests run, so that child processes and threads never run outdated code. Nothing is
 * built for tests that use neither: they run from the sources alone.
 */
export default async function build(project: TestProject): Promise<(() => void) | undefined> {
  project.provide('program', programInCheckout);
  const { filenamePattern } = project.vitest as { filenamePattern?: string[] };
  const { testFiles } = await project.globTestFiles(filenamePattern);
  if (!reachesProgram(testFiles)) return undefined;
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  execFileSync(process.execPath, ['scripts/build.mjs', 'packages/guard'], { cwd: root, stdio: 'inherit' });
  if (process.getuid?.() !== 0) return undefined;
  const { program, remove } = installProgram();
  project.provide('program', program);
  return remove;
}

/** Whether a file, or one that it imports, names a part of the built program. */
function reachesProgram(files: readonly string[]): boolean {
  const reached = new Set(files);
  for (const file of reached) {
    const text = readFileSync(file, 'utf8');
    if (/dist\/program|guard\/program\//.test(text)) return true;
    for (const [, from, dynamic] of text.matchAll(
      /^(?:import|export)\s(?!type\b)[^'"]*?'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm,
    )) {
      const imported = findSource(resolve(dirname(file), (from ?? dynamic) as string));
      if (imported !== undefined) reached.add(imported);
    }
  }
  return false;
}

function findSource(path: string): string | undefined {
  return ['.ts', '.tsx'].map((end) => path.replace(/\.js$/, end)).find((source) => existsSync(source));
}
