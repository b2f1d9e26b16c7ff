import { execFileSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Full paths of the programs of the production stack. */
export interface Programs {
  readonly nginx: string;
  readonly phpFpm: string;
  readonly php: string;
  readonly mariadbd: string;
  readonly mariadbInstallDb: string;
  readonly mariadb: string;
}

const debianPackages = 'nginx-light php-fpm php-cli php-mysql php-xml php-mbstring mariadb-server';

/** Finds the programs, or returns a sentence that names what is missing and the Debian packages for it. */
export function findPrograms(env: NodeJS.ProcessEnv = process.env): Programs | string {
  // Servers are in sbin, which is not on every user's PATH.
  const dirs = [...(env.PATH ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'].filter(
    (dir) => dir !== '',
  );
  const found = {
    nginx: find(dirs, /^nginx$/),
    phpFpm: find(dirs, /^php-fpm(\d\.\d+)?$/),
    php: find(dirs, /^php$/),
    mariadbd: find(dirs, /^mariadbd$/),
    mariadbInstallDb: find(dirs, /^mariadb-install-db$/),
    mariadb: find(dirs, /^mariadb$/),
  };
  const missing = Object.entries(found).flatMap(([name, path]) => (path === null ? [name] : []));
  if (missing.length > 0) return `missing: ${missing.join(', ')} (Debian packages: ${debianPackages})`;
  const programs = found as Programs;
  if (!hasMysqli(programs.php)) return `PHP has no mysqli (Debian packages: ${debianPackages})`;
  return programs;
}

function hasMysqli(php: string): boolean {
  try {
    return execFileSync(php, ['-r', 'echo (int) extension_loaded("mysqli");'], { encoding: 'utf8' }) === '1';
  } catch {
    return false;
  }
}

/** The first executable that matches; of several versions in a folder, the newest. */
function find(dirs: readonly string[], name: RegExp): string | null {
  for (const dir of dirs) {
    const names = listEntries(dir).filter((entry) => name.test(entry));
    names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
    for (const entry of names) {
      try {
        accessSync(join(dir, entry), constants.X_OK);
        return join(dir, entry);
      } catch {
        // Not executable for this user.
      }
    }
  }
  return null;
}

function listEntries(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
