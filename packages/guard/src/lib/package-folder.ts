import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/** The folder of a package that guard depends on, however it is installed. Throws the system's error without it. */
export function packageFolder(name: string): string {
  return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
}
