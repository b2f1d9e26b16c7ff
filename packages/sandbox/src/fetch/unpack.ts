import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { unzipSync } from 'fflate';
import { extract } from 'tar';

/** Takes the files of an npm tarball whose path (below `package/`) the filter wants, into `target`. */
export async function unpackTarball(file: string, target: string, wanted: (path: string) => boolean): Promise<void> {
  mkdirSync(target, { recursive: true });
  await extract({ file, cwd: target, strip: 1, filter: (path) => wanted(path.replace(/^package\//, '')) });
}

/**
 * Unpacks a zip file into `target`, without the `strip` outermost folders.
 * Throws for an entry that would land outside of it.
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
