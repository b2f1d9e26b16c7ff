import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of this checkout. */
export const repositoryDir = fileURLToPath(new URL('../../../', import.meta.url));

/** Folder for what is fetched once: `SECURITY_OPTIMIZER_CACHE`, else `.cache/wordpress` in the checkout. */
export function defaultCacheDir(env: NodeJS.ProcessEnv = process.env): string {
  return env.SECURITY_OPTIMIZER_CACHE
    ? resolve(env.SECURITY_OPTIMIZER_CACHE)
    : join(repositoryDir, '.cache', 'wordpress');
}
