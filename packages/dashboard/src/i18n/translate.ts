import { sprintf } from '@wordpress/i18n';
import { i18n } from './i18n.js';
import { localMoments } from './moments.js';
import { retell } from './retell.js';

/** Text domain of every string of the product. */
export const TEXT_DOMAIN = 'security-optimizer';

export const { __, _n } = i18n;

/**
 * Translates a text that comes from the contract or the server, where it cannot be written as a literal; also one that
 * came with its values filled in. Days and times in it are written as the owner's language has them.
 */
export function translate(text: string): string {
  // The empty key holds the plural rule.
  if (text === '') return '';
  const said = __(text, TEXT_DOMAIN);
  return localMoments(said === text ? (retell(text, TEXT_DOMAIN) ?? text) : said);
}

/** Translates a text that names something as `{name}`. */
export function translateNamed(text: string, name: string): string {
  return translate(text).replace('{name}', () => name);
}

export { sprintf };
