import { type PageId, pages } from '@security-optimizer/contract/pages';
import { toggleValue } from '@security-optimizer/contract/shapes';
import * as z from 'zod/mini';
import { isRecord, type UnknownRecord } from '../i18n/locale.js';

/** A page with an entry in the menu of wp-admin. */
export interface MenuPage {
  readonly slug: string;
  readonly url: string;
}

/** The configuration from the connector, with defaults for missing and invalid values. */
export interface Config {
  readonly page: PageId | null;
  /** The REST root. May contain a query string (`…/index.php?rest_route=/`). */
  readonly restBase: string;
  readonly homeUrl: string;
  readonly logPageUrl: string;
  /** URL of the static files with a trailing slash, or '' if unknown. */
  readonly assetsPath: string;
  /** Jed locale data, or null for English. */
  readonly localeData: object | null;
  readonly localeSlug: string;
  readonly nonce: string;
  /** URL that returns a new nonce as plain text for a logged-in user. */
  readonly nonceUrl: string;
  readonly loginUrl: string;
  /** The owner's e-mail address, '' without one; null on pages that do not show it. */
  readonly userEmail: string | null;
  readonly pages: readonly MenuPage[];
  readonly consent: { readonly showDataField: boolean; readonly showEmailField: boolean };
}

/**
 * Reads the configuration that the connector printed into the container (specification section 3). Missing and invalid
 * values get defaults that fit an ordinary WordPress.
 *
 * @param container element with `data-page` and `data-config`
 * @param address URL of the wp-admin page
 */
export function readConfig(container: HTMLElement, address: string): Config {
  const raw = parseObject(container.dataset.config) ?? {};
  const site = siteAddress(address);
  const popup = isRecord(raw.data_consent_popup) ? raw.data_consent_popup : {};
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
    userEmail: typeof raw.user_email === 'string' ? raw.user_email : null,
    pages: menuPages(raw.pages),
    consent: {
      showDataField: isOn(popup.show_data_field),
      showEmailField: isOn(popup.show_email_field),
    },
  };
}

/** The URL up to `/wp-admin/`; WordPress may be in a subdirectory. */
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
    return isRecord(item) && typeof item.slug === 'string' && typeof item.url === 'string';
  });
}

/** An object or the JSON text of one; null for anything else. */
function parseObject(value: unknown): UnknownRecord | null {
  if (isRecord(value)) return value;
  if (typeof value !== 'string') return null;
  try {
    const parsed: unknown = JSON.parse(value);
    return isRecord(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function text(value: unknown, fallback: string): string {
  return typeof value === 'string' && value !== '' ? value : fallback;
}

function isOn(value: unknown): boolean {
  return z.safeParse(toggleValue, value).data === 1;
}

function withSlash(path: string): string {
  return path === '' || path.endsWith('/') ? path : `${path}/`;
}
