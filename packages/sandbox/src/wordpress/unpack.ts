import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/**
 * Finds a release in the folder that `WORDPRESS_ARCHIVES` names: `wordpress-7.1.tar.xz`, or `.tar.gz`, with one outer
 * folder as published. Null where the variable is not set or the folder does not hold it.
 */
export function findArchive(name: string, env: NodeJS.ProcessEnv = process.env): string | null {
  if (!env.WORDPRESS_ARCHIVES) return null;
  const dir = resolve(env.WORDPRESS_ARCHIVES);
  return ['.tar.xz', '.tar.gz'].map((end) => join(dir, name + end)).find((file) => existsSync(file)) ?? null;
}

/**
 * Unpacks an archive into `target`, without its outer folder.
 * Uses the system's `tar`, since Node cannot read xz. Throws with what `tar` said, and the package that may be missing.
 */
export function unpackArchive(file: string, target: string): void {
  mkdirSync(target, { recursive: true });
  try {
    const args = ['--extract', '--file', file, '--directory', target, '--strip-components=1', '--no-same-owner'];
    execFileSync('tar', args, { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim() || (error as Error).message;
    throw new Error(`${file} cannot be unpacked (Debian packages: tar xz-utils): ${said}`);
  }
}

/**
 * Puts one build of the npm package together: the zip holds what PHP reads, the folder what browsers fetch.
 * Also takes away what the package adds for its own purposes and adds what it strips from a real WordPress.
 */
export function mergeBuild(zip: string, staticDir: string, target: string, release: string | null): void {
  unpackZip(zip, target);
  const themes = join(target, 'wp-content/themes');
  const wholeThemes = new Set(readdirSync(themes));
  cpSync(staticDir, target, { recursive: true });
  // Ready-made configuration and database of the package: here each WordPress is installed anew.
  for (const extra of ['.default_theme', 'wordpress-remote-asset-paths', 'wp-config.php', 'wp-content/database']) {
    rmSync(join(target, extra), { recursive: true, force: true });
  }
  // Of older themes the package ships styles and pictures only; WordPress would list them as broken.
  for (const theme of readdirSync(themes)) {
    if (!wholeThemes.has(theme)) rmSync(join(themes, theme), { recursive: true });
  }
  addIfMissing(join(target, 'readme.html'), readmeText(release));
  addIfMissing(join(target, 'license.txt'), licenseText);
}

/** Unpacks an archive as published: one outer folder, then the files. */
export function mergeRelease(zip: string, target: string): void {
  unpackZip(zip, target, 1);
}

function addIfMissing(file: string, text: string): void {
  if (!existsSync(file)) writeFileSync(file, text);
}

function readmeText(release: string | null): string {
  const version = release === null ? '' : `\n\t<br /> Version ${release}`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<title>WordPress &rsaquo; ReadMe</title>
</head>
<body>
<h1 id="logo">
\t<a href="https://wordpress.org/">WordPress</a>${version}
</h1>
<p style="text-align: center">Semantic Personal Publishing Platform</p>
</body>
</html>
`;
}

const licenseText = `WordPress - Web publishing software

This program is free software; you can redistribute it and/or modify
it under the terms of the GNU General Public License as published by
the Free Software Foundation; either version 2 of the License, or
(at your option) any later version.

This program is distributed in the hope that it will be useful,
but WITHOUT ANY WARRANTY; without even the implied warranty of
MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the
GNU General Public License for more details:
https://www.gnu.org/licenses/gpl-2.0.html
`;
