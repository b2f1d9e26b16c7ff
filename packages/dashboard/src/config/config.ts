import type { PageId } from '@security-optimizer/contract/pages';

/** A page that is built: it has an entry in the menu of wp-admin. */
export interface MenuPage {
  readonly slug: string;
  readonly url: string;
}

/** What the connector hands to the dashboard, after unknown and missing values got their safe defaults. */
export interface Config {
  readonly page: PageId | null;
  /** The REST root. May hold a query string (`…/index.php?rest_route=/`). */
  readonly restBase: string;
  readonly homeUrl: string;
  readonly logPageUrl: string;
  /** Folder of the static files, with a slash at the end, or '' when it is not known. */
  readonly assetsPath: string;
  /** Jed locale data, or null for English. */
  readonly localeData: object | null;
  readonly localeSlug: string;
  readonly nonce: string;
  /** Answers a fresh nonce as plain text to a logged-in user. */
  readonly nonceUrl: string;
  readonly loginUrl: string;
  readonly pages: readonly MenuPage[];
  readonly consent: { readonly showDataField: boolean; readonly showEmailField: boolean };
}
