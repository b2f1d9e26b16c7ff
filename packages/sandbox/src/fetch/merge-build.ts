import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unpackZip } from './unpack.js';

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
