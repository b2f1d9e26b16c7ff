import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './run.mjs';

/** What the tests need besides Node: the program to look for, and Debian's package for it. */
const tools = [
  {
    what: 'Chromium',
    programs: ['chromium', 'chromium-browser', 'google-chrome'],
    // The second is the headless variant. The end-to-end tests prefer it, because it needs less.
    packages: ['chromium', 'chromium-headless-shell'],
  },
  {
    what: 'PHP',
    programs: ['php'],
    packages: ['php-cli', 'php-sqlite3', 'php-mysql', 'php-curl', 'php-gd', 'php-mbstring', 'php-xml', 'php-zip'],
  },
  {
    what: 'PHP-FPM',
    programs: ['php-fpm8.2', 'php-fpm8.3', 'php-fpm8.4', 'php-fpm8.1', 'php-fpm'],
    packages: ['php-fpm'],
  },
  { what: 'PHP_CodeSniffer', programs: ['phpcs'], packages: ['php-codesniffer'] },
  { what: 'PHP-Parser', programs: ['php-parse'], packages: ['php-parser'] },
  { what: 'nginx', programs: ['nginx'], packages: ['nginx-light'] },
  { what: 'xz, for archives of WordPress', programs: ['xz'], packages: ['xz-utils'] },
  { what: 'a clock of its own for a process', programs: ['faketime'], packages: ['faketime'] },
  {
    what: 'Apache, to run PHP and as a proxy',
    programs: ['apache2'],
    packages: ['apache2', 'libapache2-mod-php'],
  },
  { what: 'HAProxy', programs: ['haproxy'], packages: ['haproxy'] },
  { what: 'Caddy', programs: ['caddy'], packages: ['caddy'] },
  { what: 'Varnish', programs: ['varnishd'], packages: ['varnish'] },
  { what: 'MariaDB', programs: ['mariadbd', 'mysqld'], packages: ['mariadb-server'] },
  // Debian has a folder for each release, none of which is on the path.
  {
    what: 'PostgreSQL',
    programs: ['postgres'],
    folders: () => list('/usr/lib/postgresql').map((release) => `/usr/lib/postgresql/${release}/bin`),
    packages: ['postgresql'],
  },
];

/**
 * Installs missing packages where that needs no confirmation (Debian, as root).
 * @returns names of what is still missing
 */
export async function installSystemPackages() {
  const missing = tools.filter((tool) => !present(tool));
  if (missing.length === 0 && phpModulesPresent()) return [];
  const packages = [...new Set((missing.length === 0 ? [tools[1]] : missing).flatMap((tool) => tool.packages))];
  if (process.getuid?.() === 0 && found('apt-get')) {
    process.stderr.write(`Installing ${packages.join(' ')}.\n`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update', '-qq'], env);
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], env);
  } else {
    process.stderr.write(`For the whole test run, install: ${packages.join(' ')} (names of Debian's packages).\n`);
  }
  return tools.filter((tool) => !present(tool)).map((tool) => tool.what);
}

function present({ programs, folders = () => [] }) {
  return programs.some((program) => found(program, folders()));
}

function found(program, others = []) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin', ...others];
  return folders.some((folder) => existsSync(join(folder, program)));
}

function list(folder) {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function phpModulesPresent() {
  const modules = spawnSync('php', ['-m'], { encoding: 'utf8' }).stdout ?? '';
  return ['pdo_sqlite', 'mysqli', 'mbstring', 'gd', 'zip'].every((name) => modules.includes(name));
}
