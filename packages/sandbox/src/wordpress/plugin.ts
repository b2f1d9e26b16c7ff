import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultCacheDir, isKept, keepFolder } from '../lib/cache-dir.js';
import { DownloadError } from '../lib/download.js';
import { withLock } from '../lib/process-record.js';
import { findArchive, mergeRelease, unpackArchive } from './unpack.js';

export interface FetchPluginOptions {
  readonly slug: string;
  readonly version: string;
  readonly cacheDir?: string;
  readonly log?: (line: string) => void;
  /** Where plugins and their checksums come from, without a slash at the end. */
  readonly downloads?: string;
}

/** The shop of the tests, pinned like WordPress itself. */
export const shopPlugin = { slug: 'woocommerce', version: '11.0.1' } as const;

/** Longest time for a whole plugin; where nobody answers at all, that shows after a few seconds. */
const downloadSeconds = 180;
const answerSeconds = 5;

/**
 * Makes sure that a plugin lies unpacked in the cache folder, from the folder of archives (`WORDPRESS_ARCHIVES`) or from
 * downloads.wordpress.org, where every file is compared with its published checksum. To be copied, not used in place.
 *
 * @returns the plugin's folder
 * @throws DownloadError when it can be had from neither
 */
export async function fetchPlugin(options: FetchPluginOptions): Promise<string> {
  const { slug, version } = options;
  const cache = options.cacheDir ?? defaultCacheDir();
  const log = options.log ?? ((line) => process.stderr.write(`${line}\n`));
  const name = `${slug}-${version}`;
  const dir = join(cache, name);
  if (isKept(dir)) return dir;
  mkdirSync(cache, { recursive: true });
  const waiting = () => log(`Another run is fetching ${slug}; waiting for it.`);
  await withLock(join(cache, 'fetch.lock'), waiting, async () => {
    if (isKept(dir)) return;
    const archive = findArchive(name);
    if (archive !== null) {
      log(`Unpacking ${slug} ${version} from ${archive}.`);
      return keepFolder(dir, { archive }, (target) => unpackArchive(archive, target));
    }
    await fillFromDirectory(options, dir, log);
  });
  return dir;
}

async function fillFromDirectory(options: FetchPluginOptions, dir: string, log: (line: string) => void): Promise<void> {
  const { slug, version, downloads = 'https://downloads.wordpress.org' } = options;
  const published = await request(`${downloads}/plugin-checksums/${slug}/${version}.json`, answerSeconds);
  const { files } = JSON.parse(published.toString()) as { files: Record<string, { sha256: string | string[] }> };
  const url = `${downloads}/plugin/${slug}.${version}.zip`;
  log(`Fetching ${slug} ${version} from ${new URL(url).host}.`);
  const zip = `${dir}.zip`;
  writeFileSync(zip, await request(url, downloadSeconds));
  keepFolder(dir, { url }, (target) => {
    mergeRelease(zip, target);
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
