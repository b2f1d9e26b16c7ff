import { locales } from 'virtual:locales';
import { pages } from '@security-optimizer/contract/pages';
import type { Look } from '../example.js';
import { SITE } from './fake-fetch.js';

/** Dates in English for the language of the layout tests, which no browser knows. */
const SLUGS = { en: 'en-GB', de: 'de-DE', pseudo: 'en-GB' } as const;

export const menuPages = pages.map(({ slug }) => ({ slug, url: `${SITE}/wp-admin/admin.php?page=${slug}` }));

/** What the connector prints on an ordinary site. */
export function sampleConfig({ language }: Pick<Look, 'language'>): Record<string, unknown> {
  return {
    rest_base: `${SITE}/wp-json/`,
    wp_nonce: 'aaaaaaaaaa',
    nonce_url: `${SITE}/wp-admin/admin-ajax.php?action=rest-nonce`,
    home_url: `${SITE}/`,
    log_page_url: `${SITE}/wp-admin/admin.php?page=activity-log`,
    assets_path: `${SITE}/assets/`,
    pages: menuPages,
    localeSlug: SLUGS[language],
    ...(language === 'en' ? {} : { locale: locales[language] }),
  };
}
