/**
 * What guard knows about one WordPress site beside its settings.
 * `SiteConfig` comes from the configuration file, `SiteFacts` from the connector (with safe defaults until it answers).
 */

/** Identifier of a site in configuration, storage and log: letters, digits and hyphens. */
export type SiteId = string;

export interface SiteConfig {
  readonly id: SiteId;
  /** Host names served, lower-case, without port; `*` takes every other one. */
  readonly hosts: readonly string[];
  /** Origin of WordPress's web server, for example `http://127.0.0.1:8081`. */
  readonly upstream: string;
  /** Folder of the WordPress installation when guard runs on the same machine, else null. */
  readonly wordpressDir: string | null;
  /** Folder of must-use plugins where the site has moved it, else absent. */
  readonly muPluginsDir?: string;
  /** 64 hexadecimal digits shared with the connector. Never logged. */
  readonly secret: string;
  /** Whether the connector refuses web requests that did not come through guard. */
  readonly onlyThroughGuard: boolean;
  /** URL path of a site in a sub-directory, used until the connector has told it; '' or absent at the root. */
  readonly home?: string;
}

/** URL paths of the site, lower-case, starting with a slash, no slash at the end; home at the root of the host is ''. */
export interface SitePaths {
  readonly home: string;
  readonly admin: string;
  readonly includes: string;
  readonly content: string;
  readonly uploads: string;
  /** Path of the REST root below home, for example `/wp-json`. */
  readonly rest: string;
}

export const defaultSitePaths: SitePaths = {
  home: '',
  admin: '/wp-admin',
  includes: '/wp-includes',
  content: '/wp-content',
  uploads: '/wp-content/uploads',
  rest: '/wp-json',
};

/** What the connector says about its WordPress; remembered over restarts. */
export interface SiteFacts {
  /** Address of the site as WordPress knows it, for example `https://example.com/blog`. */
  readonly homeUrl: string;
  readonly paths: SitePaths;
  /** As WordPress stores it: an IANA name, or an offset such as `+05:30`. */
  readonly timeZone: string;
  /** Locale of the site as WordPress names it, for example `de_DE`. */
  readonly locale: string;
  /** Whether it is a network of sites: its sign-up is another script, with an activation after it. */
  readonly multisite: boolean;
}

/** How things stand between guard and the connector of a site. */
export type ConnectorState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'ok'; readonly version: string; readonly policy: string | null }
  | { readonly kind: 'missing' }
  | { readonly kind: 'other_secret'; readonly keyId: string }
  | { readonly kind: 'unreachable'; readonly cause: string };

/** A page of wp-admin, for example `admin.php?page=activity-log`: a URL, or a path until the site's address is known. */
export function adminUrl(facts: SiteFacts | null, page: string): string {
  const origin = facts === null ? '' : new URL(facts.homeUrl).origin;
  return `${origin}${(facts?.paths ?? defaultSitePaths).admin}/${page}`;
}
