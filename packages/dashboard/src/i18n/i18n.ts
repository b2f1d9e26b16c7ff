import { createI18n } from '@wordpress/i18n';

/**
 * The product's own instance: that of the package itself would bring WordPress's hooks, by which others could change
 * its words, into the bundle.
 */
export const i18n = createI18n();
