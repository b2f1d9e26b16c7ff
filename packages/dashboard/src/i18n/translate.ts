import { __, _n, sprintf } from '@wordpress/i18n';

/** Text domain of every string of the product. */
export const TEXT_DOMAIN = 'security-optimizer';

/** Translates a text that comes from the contract, where it cannot be written as a literal. */
export function translate(text: string): string {
  return __(text, TEXT_DOMAIN);
}

/** Translates a text that names something as `{name}`. */
export function translateNamed(text: string, name: string): string {
  return translate(text).replace('{name}', () => name);
}

export { __, _n, sprintf };
