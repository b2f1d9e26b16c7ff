import { sprintf } from '@wordpress/i18n';
import { i18n, TEXT_DOMAIN } from './locale.js';

/**
 * Translates a literal. Calls pass the text domain for tools that collect texts; the build removes it from each call
 * (build/scripts.mjs), so it has no effect here.
 */
export const __ = ((text: string) => i18n.__(text, TEXT_DOMAIN)) as typeof i18n.__;

/** Translates a literal that depends on a number. */
export const _n = ((single: string, plural: string, count: number) =>
  i18n._n(single, plural, count, TEXT_DOMAIN)) as typeof i18n._n;

/** Translates a constant text of the contract or the server, where it cannot be written as a literal. */
export function translate(text: string): string {
  // The empty key holds the plural rule.
  return text === '' ? '' : __(text, TEXT_DOMAIN);
}

/** Translates a text and fills in its `{name}`. */
export function translateNamed(text: string, name: string): string {
  return translate(text).replace('{name}', () => name);
}

export { sprintf };
