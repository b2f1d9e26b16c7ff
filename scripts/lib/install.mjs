import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm, root } from './run.mjs';

/**
 * Installs the npm packages when one is missing or has another version than in package-lock.json. Throws when npm
 * fails.
 */
export async function installPackages() {
  if (installed()) return;
  process.stderr.write('Installing npm packages.\n');
  const code = await npm(['ci', '--loglevel=error']);
  if (code !== 0) throw new Error('npm could not install the packages; its message is above.');
}

/** Compares the installed packages with package-lock.json. Packages for other platforms may be missing. */
function installed() {
  const locked = readPackages('package-lock.json');
  const present = readPackages('node_modules/.package-lock.json');
  if (locked === null || present === null) return false;
  return Object.entries(locked).every(([path, entry]) => {
    if (!path.startsWith('node_modules/') || entry.link || entry.optional) return true;
    return present[path]?.version === entry.version;
  });
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages ?? null;
  } catch {
    return null;
  }
}
