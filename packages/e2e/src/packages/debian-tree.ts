import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectDir } from '../suites/installs/helpers.js';

const run = promisify(execFile);

/** A small Debian 12 with what the package depends on, from the mirror, once. */
export const BASE = join(projectDir, '.cache/debian-12.tar');
const INCLUDED = 'adduser,init-system-helpers,libstdc++6,util-linux';

/** Fetches the small Debian. @returns why there is none, or null */
export function fetchDebian(): string | null {
  if (process.getuid?.() !== 0) return 'it needs root';
  const missing = ['dpkg-deb', 'mmdebstrap', 'unshare'].find((name) => spawnSync(name, ['--version']).error);
  if (missing !== undefined) return `${missing} is not installed`;
  if (existsSync(BASE)) return null;
  mkdirSync(join(projectDir, '.cache'), { recursive: true });
  const args = ['--quiet', '--variant=minbase', `--include=${INCLUDED}`, '--format=tar', 'bookworm', `${BASE}.new`];
  const { status, stderr } = spawnSync('mmdebstrap', args, { encoding: 'utf8' });
  if (status !== 0) return `Debian can’t be fetched: ${stderr.trim().split('\n').at(-1)}`;
  renameSync(`${BASE}.new`, BASE);
  return null;
}

/** A Debian in a folder, whose programs are run by `chroot`. */
export interface DebianTree {
  readonly dir: string;
  /** Command and arguments that run a program in it, in its own process namespace. */
  command(...program: readonly string[]): readonly [string, readonly string[]];
  /** Runs a program in it. @returns exit code and all that it printed */
  call(...program: readonly string[]): Promise<{ readonly code: number; readonly output: string }>;
}

/** Unpacks the small Debian into a new folder. */
export function layOutDebian(dir: string): DebianTree {
  mkdirSync(dir);
  execFileSync('tar', ['-xf', BASE, '-C', dir]);
  const command = (...program: readonly string[]): readonly [string, readonly string[]] => [
    'unshare',
    [
      ...['--mount', '--propagation', 'private', 'sh', '-e', '-c'],
      'mount -t proc proc "$0/proc"; exec chroot "$0" "$@"',
      ...[dir, ...program],
    ],
  ];
  // Independent of this machine's PATH and language.
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  return {
    dir,
    command,
    async call(...program) {
      const [file, args] = command(...program);
      try {
        const { stdout, stderr } = await run(file, args, { env, maxBuffer: 1e7 });
        return { code: 0, output: stdout + stderr };
      } catch (error) {
        const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string };
        if (typeof code !== 'number') throw error;
        return { code, output: stdout + stderr };
      }
    },
  };
}
