import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of this checkout. */
export const repositoryDir = fileURLToPath(new URL('../../../..', import.meta.url));

/** Folder for downloads: `SECURITY_OPTIMIZER_CACHE`, else `.cache/wordpress` in the checkout. */
export function getDefaultCacheDir(env: NodeJS.ProcessEnv = process.env): string {
  return env.SECURITY_OPTIMIZER_CACHE
    ? resolve(env.SECURITY_OPTIMIZER_CACHE)
    : join(repositoryDir, '.cache', 'wordpress');
}

/** Whether a folder of the cache is complete. Its marker is written last, so an interrupted run leaves none. */
export function isCached(dir: string): boolean {
  return existsSync(toMarkerFile(dir));
}

/** Builds a folder of the cache under a temporary name, renames it, then writes its origin into the marker. */
export function createCachedDir(dir: string, origin: Record<string, string>, build: (target: string) => void): void {
  const marker = `${JSON.stringify(origin, null, 2)}\n`;
  if (isCached(dir) && readFileSync(toMarkerFile(dir), 'utf8') === marker) return;
  const target = `${dir}.new`;
  rmSync(target, { recursive: true, force: true });
  build(target);
  rmSync(dir, { recursive: true, force: true });
  renameSync(target, dir);
  writeFileSync(toMarkerFile(dir), marker);
}

function toMarkerFile(dir: string): string {
  return `${dir}.json`;
}
