import { spawnSync } from 'node:child_process';
import { findProductionStackProblem } from '@security-optimizer/sandbox/stacks/production';

const PACKAGES = 'wrk nginx-light php-fpm php-cli php-mysql php-xml php-mbstring mariadb-server'.split(' ');

/** The reason why the bench cannot run on this machine, in one sentence; null if it can. */
function findProblem(): string | null {
  if (process.platform !== 'linux') return 'the bench reads processor time and memory from /proc, so it needs Linux';
  // wrk has no option that succeeds without load. A failed start still shows whether it is installed.
  if (spawnSync('wrk', ['--version']).error !== undefined) return 'missing: wrk';
  return findProductionStackProblem();
}

/**
 * Makes sure that all programs are installed. Installs them itself on Debian if it runs as root.
 * @throws Error that names what to install
 */
export function requirePrograms(log: (text: string) => void): void {
  const problem = findProblem();
  if (problem === null) return;
  const mayInstall = process.platform === 'linux' && process.getuid?.() === 0 && aptGet(['--version']);
  if (mayInstall) {
    log(`${problem}; installing ${PACKAGES.join(' ')}`);
    if (aptGet(['update', '-qq'])) aptGet(['install', '-y', '-qq', '--no-install-recommends', ...PACKAGES]);
  }
  const left = findProblem();
  if (left !== null) {
    throw new Error(`The bench cannot run: ${left}.\nOn Debian: apt-get install ${PACKAGES.join(' ')}`);
  }
}

function aptGet(args: readonly string[]): boolean {
  // With this run level the packages of Debian do not start their services. The bench starts its own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  return spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}
