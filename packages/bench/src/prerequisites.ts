import { spawnSync } from 'node:child_process';
import { findProductionStackProblem } from '@security-optimizer/sandbox/stacks/production';

const PACKAGES = 'wrk nginx-light php-fpm php-cli php-mysql php-xml php-mbstring mariadb-server'.split(' ');

/** What keeps the bench from running here, in one sentence; null when nothing does. */
export function missingTools(): string | null {
  if (process.platform !== 'linux') return 'the bench reads processor time and memory from /proc, so it needs Linux';
  // wrk has no option that succeeds without load; called wrongly it still tells whether it is there.
  if (spawnSync('wrk', ['--version']).error !== undefined) return 'missing: wrk';
  return findProductionStackProblem();
}

/**
 * Makes sure that everything is there, installing it where this user may (Debian, superuser).
 * @throws Error that says what to install
 */
export function requireTools(say: (text: string) => void): void {
  const problem = missingTools();
  if (problem === null) return;
  const mayInstall = process.platform === 'linux' && process.getuid?.() === 0 && aptGet(['--version']);
  if (mayInstall) {
    say(`${problem}; installing ${PACKAGES.join(' ')}`);
    if (aptGet(['update', '-qq'])) aptGet(['install', '-y', '-qq', '--no-install-recommends', ...PACKAGES]);
  }
  const left = missingTools();
  if (left !== null) {
    throw new Error(`The bench cannot run: ${left}.\nOn Debian: apt-get install ${PACKAGES.join(' ')}`);
  }
}

function aptGet(args: readonly string[]): boolean {
  // With this run level Debian's packages do not start their services: the bench starts its own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  return spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}
