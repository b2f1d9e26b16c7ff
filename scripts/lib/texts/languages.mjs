import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readPo } from './po.mjs';

export const DOMAIN = 'security-optimizer';

/** Folder of the catalogue and its translations. */
export function languagesFolder(root) {
  return join(root, 'packages/connector/languages');
}

/**
 * Reads the translations, by WordPress locale.
 *
 * @param {string} root folder of the repository
 * @returns {Promise<Map<string, { file: string, header: Record<string, string>, entries: import('./po.mjs').Entry[]
 *   }>>}
 */
export async function readLanguages(root) {
  const folder = languagesFolder(root);
  const languages = new Map();
  for (const name of (await readdir(folder)).sort()) {
    const [, locale] = /^security-optimizer-(\w+)\.po$/.exec(name) ?? [];
    if (locale === undefined) continue;
    const file = join(folder, name);
    languages.set(locale, { file, ...readPo(await readFile(file, 'utf8')) });
  }
  return languages;
}
