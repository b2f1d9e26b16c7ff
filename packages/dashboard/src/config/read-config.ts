import { type PageId, pages } from '@security-optimizer/contract/pages';
import { type Fields, isFields } from '../data/fields.js';
import { readFlag } from '../options/read-flag.js';
import type { Config, MenuPage } from './config.js';

/**
 * Reads the configuration that the connector printed into the container (specification section 3).
 * Every value that is missing or has the wrong form gets a default that works on an ordinary WordPress.
 *
 * @param container element with `data-page` and `data-config`
 * @param address address of the wp-admin page that is open
 */
export function readConfig(container: HTMLElement, address: string): Config {
  const raw = parseObject(container.dataset.config) ?? {};
  const site = siteAddress(address);
  const popup = isFields(raw.data_consent_popup) ? raw.data_consent_popup : {};
  return {
    page: pageId(container.dataset.page),
    restBase: text(raw.rest_base, `${site}/index.php?rest_route=/`),
    homeUrl: text(raw.home_url, `${site}/`),
    logPageUrl: text(raw.log_page_url, ''),
    assetsPath: withSlash(text(raw.assets_path, '')),
    localeData: parseObject(raw.locale),
    localeSlug: text(raw.localeSlug, 'en'),
    nonce: text(raw.wp_nonce, ''),
    nonceUrl: text(raw.nonce_url, `${site}/wp-admin/admin-ajax.php?action=rest-nonce`),
    loginUrl: text(raw.login_url, `${site}/wp-login.php?redirect_to=${encodeURIComponent(address)}`),
    pages: menuPages(raw.pages),
    consent: {
      showDataField: readFlag(popup.show_data_field) === 1,
      showEmailField: readFlag(popup.show_email_field) === 1,
    },
  };
}

/** The part of the address in front of `/wp-admin/`; WordPress may live in a sub-directory. */
function siteAddress(address: string): string {
  const url = new URL(address);
  const end = url.pathname.indexOf('/wp-admin/');
  return url.origin + (end > 0 ? url.pathname.slice(0, end) : '');
}

function pageId(value: string | undefined): PageId | null {
  return pages.find((page) => page.id === value)?.id ?? null;
}

function menuPages(value: unknown): MenuPage[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item): item is MenuPage => {
    return isFields(item) && typeof item.slug === 'string' && typeof item.url === 'string';
  });
}

/** An object, or the JSON text of one; null for anything else. */
function parseObject(value: unknown): Fields | null {
  if (isFields(value)) return value;
  if (typeof value !== 'string') return null;
  try {
    const parsed: unknown = JSON.parse(value);
    return isFields(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function text(value: unknown, fallback: string): string {
  return typeof value === 'string' && value !== '' ? value : fallback;
}

function withSlash(path: string): string {
  return path === '' || path.endsWith('/') ? path : `${path}/`;
}
