import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultCacheDir } from './cache-dir.js';
import { download } from './fetch/download.js';
import { mergeBuild, mergeRelease } from './fetch/merge-build.js';
import { createProgress } from './fetch/progress.js';
import { releaseChecksum } from './fetch/release-checksum.js';
import { unpackTarball } from './fetch/unpack.js';
import {
  buildsPackage,
  defaultWordPressVersion,
  packagedVersions,
  type WordPressSource,
  wordpressSource,
} from './fetch/wordpress-versions.js';
import { withLock } from './process/lock.js';

export interface FetchWordPressOptions {
  /** A name in the npm package (`6.5`, `beta`) or a release of wordpress.org (`6.7.1`). */
  readonly version?: string;
  readonly cacheDir?: string;
  readonly log?: (line: string) => void;
}

export interface FetchedWordPress {
  /** Complete WordPress as unpacked, without wp-config.php. To be copied, not used in place. */
  readonly wordpressDir: string;
  /** The SQLite integration, a WordPress plugin with the drop-in `db.copy`. */
  readonly sqliteDir: string;
  readonly release: string;
}

/**
 * Makes sure that a WordPress and its SQLite integration are in the cache folder, fetching them on first use.
 * Throws `RangeError` for a version that is none, `DownloadError` when the network or the server fails.
 */
export async function fetchWordPress(options: FetchWordPressOptions = {}): Promise<FetchedWordPress> {
  const version = options.version ?? defaultWordPressVersion;
  const source = wordpressSource(version);
  if (source === null) {
    throw new RangeError(`'${version}' is no WordPress version: use ${packagedVersions.join(', ')} or one like 6.7.1`);
  }
  const cache = options.cacheDir ?? defaultCacheDir();
  const log = options.log ?? ((line) => process.stderr.write(`${line}\n`));
  const found = {
    wordpressDir: join(cache, `wordpress-${source.release}`),
    sqliteDir: join(cache, 'sqlite-database-integration'),
    release: source.release,
  };
  if (complete(found)) return found;
  mkdirSync(cache, { recursive: true });
  const waiting = () => log('Another start is fetching WordPress; waiting for it.');
  await withLock(join(cache, 'fetch.lock'), waiting, async () => {
    if (!complete(found)) await fill(cache, source, found, log);
  });
  return found;
}

/** A folder counts only with its marker, which is written last: a killed run leaves no half WordPress behind. */
function complete(found: FetchedWordPress): boolean {
  return [found.wordpressDir, found.sqliteDir].every((dir) => existsSync(markerOf(dir)));
}

function markerOf(dir: string): string {
  return `${dir}.json`;
}

async function fill(
  cache: string,
  source: WordPressSource,
  found: FetchedWordPress,
  log: (line: string) => void,
): Promise<void> {
  if (source.kind === 'package' || !existsSync(markerOf(found.sqliteDir))) {
    await fillFromPackage(cache, source.kind === 'package' ? source.build : null, found, log);
  }
  if (source.kind === 'release' && !existsSync(markerOf(found.wordpressDir))) {
    await fillFromRelease(cache, found, log);
  }
}

async function fillFromPackage(
  cache: string,
  build: string | null,
  found: FetchedWordPress,
  log: (line: string) => void,
): Promise<void> {
  const tarball = join(cache, buildsPackage.file);
  const registry = (process.env.npm_config_registry ?? 'https://registry.npmjs.org').replace(/\/+$/, '');
  log(`Fetching WordPress from ${new URL(registry).host} (158 MB, once).`);
  const progress = createProgress('WordPress', process.stderr);
  await download({
    url: `${registry}/${buildsPackage.name}/-/${buildsPackage.file}`,
    file: tarball,
    checksum: { algorithm: 'sha512', encoding: 'base64', value: buildsPackage.sha512 },
    onProgress: progress.update,
  }).finally(progress.end);
  const unpacked = join(cache, 'unpacked');
  rmSync(unpacked, { recursive: true, force: true });
  await unpackTarball(tarball, unpacked, (path) => isWanted(path, build));
  const origin = { package: `${buildsPackage.name}@${buildsPackage.version}`, sha512: buildsPackage.sha512 };
  replaceDir(found.sqliteDir, origin, (target) => mergeRelease(sqliteZip(unpacked), target));
  if (build !== null) {
    const release = found.release === 'nightly' ? null : found.release;
    replaceDir(found.wordpressDir, { ...origin, release: found.release }, (target) =>
      mergeBuild(
        join(unpacked, 'src/wordpress', `wp-${build}.zip`),
        join(unpacked, 'public', `wp-${build}`),
        target,
        release,
      ),
    );
  }
  // All versions unpacked take 360 MB, the tarball 158 MB: the markers above keep its checksum instead.
  rmSync(unpacked, { recursive: true, force: true });
  rmSync(tarball, { force: true });
}

function isWanted(path: string, build: string | null): boolean {
  if (path.startsWith('src/sqlite-database-integration/')) return true;
  return build !== null && (path === `src/wordpress/wp-${build}.zip` || path.startsWith(`public/wp-${build}/`));
}

function sqliteZip(unpacked: string): string {
  return join(unpacked, 'src/sqlite-database-integration/sqlite-database-integration.zip');
}

async function fillFromRelease(cache: string, found: FetchedWordPress, log: (line: string) => void): Promise<void> {
  const zip = join(cache, `wordpress-${found.release}.zip`);
  const url = `https://wordpress.org/wordpress-${found.release}.zip`;
  log(`Fetching WordPress ${found.release} from wordpress.org.`);
  const sha1 = await releaseChecksum(url, found.release);
  const progress = createProgress('WordPress', process.stderr);
  const checksum = { algorithm: 'sha1', encoding: 'hex', value: sha1 } as const;
  await download({ url, file: zip, checksum, onProgress: progress.update }).finally(progress.end);
  replaceDir(found.wordpressDir, { url, sha1, release: found.release }, (target) => mergeRelease(zip, target));
  rmSync(zip, { force: true });
}

/** Builds a folder beside its place, moves it there, then writes the marker with where it came from. */
function replaceDir(dir: string, origin: Record<string, string>, build: (target: string) => void): void {
  if (existsSync(markerOf(dir)) && readFileSync(markerOf(dir), 'utf8') === markerText(origin)) return;
  const target = `${dir}.new`;
  rmSync(target, { recursive: true, force: true });
  build(target);
  rmSync(dir, { recursive: true, force: true });
  renameSync(target, dir);
  writeFileSync(markerOf(dir), markerText(origin));
}

function markerText(origin: Record<string, string>): string {
  return `${JSON.stringify(origin, null, 2)}\n`;
}
