import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { defaultCacheDir, isKept, keepFolder } from '../lib/cache-dir.js';
import { createProgress, DownloadError, download, releaseChecksum } from '../lib/download.js';
import { withLock } from '../lib/process-record.js';
import { findArchive, mergeBuild, mergeRelease, unpackArchive, unpackTarball } from './unpack.js';
import {
  buildsPackage,
  currentWordPressVersion,
  defaultWordPressVersion,
  packagedVersions,
  type WordPressSource,
  wordpressSource,
} from './versions.js';

export interface FetchWordPressOptions {
  /** A name in the npm package (`6.5`, `beta`) or a release of wordpress.org (`6.7.1`). */
  readonly version?: string;
  readonly cacheDir?: string;
  readonly log?: (line: string) => void;
  /** Where releases come from, without a slash at the end. */
  readonly wordpressOrg?: string;
  /** Longest silence of wordpress.org. */
  readonly timeoutSeconds?: number;
}

export interface FetchedWordPress {
  /** Complete WordPress as unpacked, without wp-config.php. To be copied, not used in place. */
  readonly wordpressDir: string;
  /** The SQLite integration, a WordPress plugin with the drop-in `db.copy`. */
  readonly sqliteDir: string;
  readonly release: string;
}

export interface CurrentWordPress extends FetchedWordPress {
  /** Why this is not the pinned release but the packaged one; null when it is the pinned one. */
  readonly fallbackReason: string | null;
}

/**
 * Fetches the pinned current release of WordPress, or the packaged one where wordpress.org cannot be reached within a
 * few seconds. What is in the cache or among the archives needs no network.
 * Throws `DownloadError` when neither can be had.
 */
export async function fetchCurrentWordPress(
  options: Omit<FetchWordPressOptions, 'version'> = {},
): Promise<CurrentWordPress> {
  try {
    const found = await fetchWordPress({ timeoutSeconds: 5, ...options, version: currentWordPressVersion });
    return { ...found, fallbackReason: null };
  } catch (error) {
    if (!(error instanceof DownloadError)) throw error;
    // The rest of the message tells people what to do about it; here something is done.
    const [reason = ''] = error.message.split(/\. |\.$/);
    return { ...(await fetchWordPress(options)), fallbackReason: reason };
  }
}

/**
 * Makes sure that a WordPress and its SQLite integration are in the cache folder, fetching them on first use: releases
 * from the folder of archives (`WORDPRESS_ARCHIVES`) or from wordpress.org, the rest from the npm registry.
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
    if (!complete(found)) await fill(cache, source, found, log, options);
  });
  return found;
}

function complete(found: FetchedWordPress): boolean {
  return [found.wordpressDir, found.sqliteDir].every(isKept);
}

async function fill(
  cache: string,
  source: WordPressSource,
  found: FetchedWordPress,
  log: (line: string) => void,
  options: FetchWordPressOptions,
): Promise<void> {
  // The release first: where it cannot be had, that shows before anything large is fetched.
  if (source.kind === 'release' && !isKept(found.wordpressDir)) await fillFromRelease(cache, found, log, options);
  if (source.kind === 'package' || !isKept(found.sqliteDir)) {
    await fillFromPackage(cache, source.kind === 'package' ? source.build : null, found, log);
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
  keepFolder(found.sqliteDir, origin, (target) => mergeRelease(sqliteZip(unpacked), target));
  if (build !== null) {
    const release = found.release === 'nightly' ? null : found.release;
    keepFolder(found.wordpressDir, { ...origin, release: found.release }, (target) =>
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

async function fillFromRelease(
  cache: string,
  found: FetchedWordPress,
  log: (line: string) => void,
  options: FetchWordPressOptions,
): Promise<void> {
  const { release, wordpressDir } = found;
  const name = `wordpress-${release}`;
  const archive = findArchive(name);
  if (archive !== null) {
    log(`Unpacking WordPress ${release} from ${archive}.`);
    keepFolder(wordpressDir, { archive, release }, (target) => unpackArchive(archive, target));
    return;
  }
  const zip = join(cache, `${name}.zip`);
  const url = `${options.wordpressOrg ?? 'https://wordpress.org'}/${name}.zip`;
  const { timeoutSeconds } = options;
  const sha1 = await releaseChecksum(url, release, timeoutSeconds);
  log(`Fetching WordPress ${release} from ${new URL(url).host}.`);
  const progress = createProgress('WordPress', process.stderr);
  const checksum = { algorithm: 'sha1', encoding: 'hex', value: sha1 } as const;
  const patience = timeoutSeconds === undefined ? {} : { stallSeconds: timeoutSeconds };
  await download({ url, file: zip, checksum, onProgress: progress.update, ...patience }).finally(progress.end);
  keepFolder(wordpressDir, { url, sha1, release }, (target) => mergeRelease(zip, target));
  rmSync(zip, { force: true });
}
