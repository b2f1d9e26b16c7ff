import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { unzipSync } from 'fflate';
import { extract } from 'tar';

/** Unpacks the files of an npm tarball whose path (below `package/`) passes the filter into `target`. */
export async function unpackTarball(file: string, target: string, filter: (path: string) => boolean): Promise<void> {
  mkdirSync(target, { recursive: true });
  await extract({ file, cwd: target, strip: 1, filter: (path) => filter(path.replace(/^package\//, '')) });
}

/**
 * Unpacks a zip file into `target`, without the `strip` outermost folders.
 * @throws Error for an entry whose path is outside of `target`
 */
export function unpackZip(file: string, target: string, strip = 0): void {
  const root = resolve(target);
  for (const [name, bytes] of Object.entries(unzipSync(readFileSync(file)))) {
    const path = name.split('/').slice(strip).join('/');
    if (path === '') continue;
    const full = resolve(join(root, path));
    if (full !== root && !full.startsWith(root + sep)) throw new Error(`${file} holds a path outside of it: ${name}`);
    if (name.endsWith('/')) {
      mkdirSync(full, { recursive: true });
      continue;
    }
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, bytes);
  }
}

/**
 * Unpacks a tar archive into `target`, without its outermost folder. It uses the system's `tar`, because Node cannot
 * read xz.
 * @throws Error with the output of `tar` and the packages that may be missing
 */
export function unpackArchive(file: string, target: string): void {
  mkdirSync(target, { recursive: true });
  try {
    const args = ['--extract', '--file', file, '--directory', target, '--strip-components=1', '--no-same-owner'];
    execFileSync('tar', args, { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    const output = (error as { stderr?: string }).stderr?.trim() || (error as Error).message;
    throw new Error(`${file} cannot be unpacked (Debian packages: tar xz-utils): ${output}`);
  }
}
