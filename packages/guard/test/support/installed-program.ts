import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../../..', import.meta.url));
const GUARD = '@security-optimizer/guard';
/** SQLite for a Node without its own library. */
const ADD_ON = ['@photostructure/sqlite', 'node-gyp-build', 'node-addon-api'];

/** Path of the command line in the checkout. */
export const programInCheckout = join(packages, 'guard/dist/program/security-optimizer.js');

/**
 * Copies guard to a folder that every user can read, as after an installation: a checkout may be in a folder that only
 * root may enter.
 *
 * @returns path of the command line, and a function that removes the copy
 */
export function installProgram(): { readonly program: string; readonly remove: () => void } {
  const root = mkdtempSync(join(tmpdir(), 'guard-program-'));
  chmodSync(root, 0o755);
  const modules = join(root, 'node_modules');
  const copy = (from: string, to: string) =>
    cpSync(from, join(modules, to), { recursive: true, filter: (path) => !path.endsWith('.map') });
  for (const name of ['package.json', 'dist/program']) copy(join(packages, 'guard', name), join(GUARD, name));
  copy(join(packages, 'connector'), '@security-optimizer/connector');
  for (const name of ['package.json', 'dist']) {
    copy(join(packages, 'dashboard', name), join('@security-optimizer/dashboard', name));
  }
  for (const name of ADD_ON) {
    const from = join(packages, '..', 'node_modules', name);
    if (existsSync(from)) copy(from, name);
  }
  return {
    program: join(modules, GUARD, 'dist/program/security-optimizer.js'),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
