import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { setBounded } from '../lib/collections.js';

/** A file of the dashboard. */
export interface SharedAsset {
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  /** Weak validator (RFC 9110 section 8.8.3), since the compressed form has the same one. */
  readonly etag: string;
}

/** Reads the dashboard's files of connectors that sites share. */
export interface SharedAssets {
  /**
   * Finds a file in any release.
   * @param shared folder with the releases
   * @param name below the folder of assets
   * @returns null when no release has it
   */
  find(shared: string, name: string): Promise<SharedAsset | null>;
}

/** Limit of cached files. It exceeds the number of files of several releases. */
const CACHED_MAX = 1000;
const RELEASE = /^[0-9a-f]{12}$/;

/** Caches all files that were read: a release never changes. */
export function createSharedAssets(): SharedAssets {
  const cache = new Map<string, SharedAsset>();
  return {
    async find(shared, name) {
      const releases = (await readdir(shared).catch(() => [])).filter((folder) => RELEASE.test(folder));
      for (const release of releases) {
        const path = join(shared, release, 'assets', name);
        const known = cache.get(path);
        if (known !== undefined) return known;
        const asset = await read(path);
        if (asset === null) continue;
        setBounded(cache, path, asset, CACHED_MAX);
        return asset;
      }
      return null;
    },
  };
}

async function read(path: string): Promise<SharedAsset | null> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes === null) return null;
  const etag = `W/"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"`;
  return { bytes, gzipped: await promisify(gzip)(bytes), etag };
}
