import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of this checkout. */
export const repositoryDir = fileURLToPath(new URL('../../../..', import.meta.url));

/** Folder for what is fetched once: `SECURITY_OPTIMIZER_CACHE`, else `.cache/wordpress` in the checkout. */
export function defaultCacheDir(env: NodeJS.ProcessEnv = process.env): string {
  return env.SECURITY_OPTIMIZER_CACHE
    ? resolve(env.SECURITY_OPTIMIZER_CACHE)
    : join(repositoryDir, '.cache', 'wordpress');
}

/** Whether a folder of the cache is complete: its marker is written last, so a killed run leaves no half one behind. */
export function isKept(dir: string): boolean {
  return existsSync(markerFile(dir));
}

/** Builds a folder beside its place, moves it there, then writes the marker with where it came from. */
export function keepFolder(dir: string, origin: Record<string, string>, build: (target: string) => void): void {
  const marker = `${JSON.stringify(origin, null, 2)}\n`;
  if (isKept(dir) && readFileSync(markerFile(dir), 'utf8') === marker) return;
  const target = `${dir}.new`;
  rmSync(target, { recursive: true, force: true });
  build(target);
  rmSync(dir, { recursive: true, force: true });
  renameSync(target, dir);
  writeFileSync(markerFile(dir), marker);
}

function markerFile(dir: string): string {
  return `${dir}.json`;
}
