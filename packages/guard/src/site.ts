/**
 * The data about one WordPress site, except its settings. `SiteConfig` comes from the configuration file, `SiteFacts`
 * from the connector (with safe defaults until it responds).
 */

/** Identifier of a site in the configuration, storage and log: letters, digits and hyphens. */
export type SiteId = string;

export interface SiteConfig {
  readonly id: SiteId;
  /** Served host names, lower-case, without port; `*` matches every other host. */
  readonly hosts: readonly string[];
  /**
   * Origin of WordPress's web server, for example `http://127.0.0.1:8081`, or its Unix socket: `unix:/run/web.sock`.
   */
  readonly upstream: string;
  /** Folder of the WordPress installation when guard runs on the same machine, else null. */
  readonly wordpressDir: string | null;
  /** Folder of must-use plugins, if the site has moved it. */
  readonly muPluginsDir?: string;
  /** Folder with the connector's releases that sites of the machine share; absent when the site has its own copy. */
  readonly sharedConnector?: string;
  /** Whether the operator provides the key to the site's PHP; else guard writes it. */
  readonly externalKey?: boolean;
  /** 64 hexadecimal digits shared with the connector. Never logged. */
  readonly secret: string;
  /** Whether the connector refuses web requests that did not come through guard. */
  readonly requireGuard: boolean;
  /** URL path of a site in a sub-directory, used until the connector has reported it; '' or absent at the root. */
  readonly home?: string;
  /** Addresses and CIDR ranges of proxies in front of this site only, in addition to those of the machine. */
  readonly trustedProxies?: readonly string[];
  /** Limits that differ from the machine's. */
  readonly limits?: {
    /** Concurrent connections to WordPress; further requests are queued. */
    readonly upstreamConnections?: number;
    /** Longest time without data from WordPress before and during a response, seconds; then 504. */
    readonly upstreamSeconds?: number;
    /** Maximum number of visits that the Activity Log keeps. */
    readonly maxRows?: number;
  };
  /** Content of the provider for this site, where it differs from the machine's. */
  readonly branding?: Partial<Branding>;
}

/** Content of the provider on the Security Dashboard. */
export interface Branding {
  readonly ebook: {
    readonly title: string;
    readonly link: string;
    readonly text: string;
    readonly image: string;
  } | null;
  /** URL for reviews; when empty, owners are not asked for one. */
  readonly rateLink: string;
  /** Days of use after which owners are asked for a review. */
  readonly rateAfterDays: number;
}

/**
 * What of a quarantined site can't be used: its entry in the configuration, the file with its key, or its settings in
 * the database.
 */
export type QuarantineCause = 'entry' | 'key' | 'settings';

/**
 * A site that guard can't serve. It has no secret and no upstream, so nothing can be signed or forwarded for it. Its
 * visitors get an error page; its settings can still be read and changed.
 */
export interface QuarantinedSite {
  readonly id: SiteId;
  readonly hosts: readonly string[];
  readonly cause: QuarantineCause;
  /** The file or key with its fault, and the remedy. */
  readonly reason: string;
}

/** URL paths of the site, lower-case, with a leading slash, without a trailing one. A home at the host's root is ''. */
export interface SitePaths {
  readonly home: string;
  readonly admin: string;
  readonly includes: string;
  readonly content: string;
  readonly uploads: string;
  /** Path of the REST root below home, for example `/wp-json`. */
  readonly rest: string;
  /** Folder of must-use plugins; absent means below `content`. */
  readonly muPlugins?: string | undefined;
  /** Other folders that contain only files: translations, fonts, uploads of old networks. */
  readonly files?: readonly string[] | undefined;
  /** Other URL paths that lead to the folders, according to plugins' filters. */
  readonly also?: { readonly [Folder in NamedFolder]?: readonly string[] | undefined } | undefined;
  /** Folders of languages at the start of paths, lower-case, without slashes. */
  readonly languages?: readonly string[] | undefined;
  /** Bases of permalinks, without slashes at the ends; absent means WordPress's usual ones. */
  readonly bases?: SiteBases | undefined;
}

/** Names of session cookies that the site has chosen and that do not begin with `wordpress_`, in PHP's form. */
export interface SessionCookieNames {
  /**
   * Name of the cookie that contains the session on every page, whatever its prefix; null when it is WordPress's own.
   */
  readonly session: string | null;
  /** All of these names, including the session's. */
  readonly all: readonly string[];
}

/** Folders of WordPress that may have several URL paths. */
export type NamedFolder = 'admin' | 'includes' | 'content' | 'uploads';

/** First segments of paths below home, lower-case. */
export interface SiteBases {
  /** Bases that are followed by text that WordPress reads: searches, terms, authors, posts. */
  readonly text: readonly string[];
  /** Those of them for which WordPress has feeds by its own rewrite rules. */
  readonly feed: readonly string[];
}

/** The bases of a site whose owner has chosen none (`WP_Rewrite`). */
export const DEFAULT_BASES: SiteBases = Object.freeze({
  text: ['search', 'tag', 'category', 'author'],
  feed: ['search', 'tag', 'category', 'author'],
});

/** All URL paths of a folder, the usual one first. */
export function listFolderAddresses(paths: SitePaths, folder: NamedFolder): readonly string[] {
  return [paths[folder], ...(paths.also?.[folder] ?? [])];
}

/** A language folder as multilingual plugins usually add it: `/en/`, `/pt-br/`, `/zh_hant/`. */
const DEFAULT_LANGUAGE = /^[a-z]{2,3}(?:[-_][a-z]{2,4})?$/;

/** Whether the first folder of a path may be that of a language. @param folders `SitePaths.languages` */
export function isLanguageFolder(name: string, folders: readonly string[] = []): boolean {
  return DEFAULT_LANGUAGE.test(name) || folders.includes(name);
}

export const defaultSitePaths: SitePaths = {
  home: '',
  admin: '/wp-admin',
  includes: '/wp-includes',
  content: '/wp-content',
  uploads: '/wp-content/uploads',
  rest: '/wp-json',
};

/** Permitted forms of a value in a signed request. */
export const SIGNED_VALUES = {
  digits: /^[0-9]{1,20}$/,
  hex: /^[0-9A-Fa-f]{16,256}$/,
  base64: /^[A-Za-z0-9+/_-]{16,256}={0,2}$/,
  text: /^[\x21-\x7e]{1,256}$/,
} as const;

/** Requests to `xmlrpc.php` that a plugin of the site handles itself, after checking their signature. */
export interface SignedXmlRpc {
  /** Short name in lower case, for example `jetpack`. */
  readonly id: string;
  readonly name: string;
  /** Query parameters with a fixed value, for example `for=jetpack`. */
  readonly query: Readonly<Record<string, string>>;
  /** Query parameters with a variable value, and the form of the value. */
  readonly parameters: Readonly<Record<string, keyof typeof SIGNED_VALUES>>;
  /** Prefixes of the plugin's method names, for example `jetpack.`. */
  readonly methods: readonly string[];
}

/** What the connector reports about its WordPress; stored across restarts. */
export interface SiteFacts {
  /** Address of the site as WordPress knows it, for example `https://example.com/blog`. */
  readonly homeUrl: string;
  readonly paths: SitePaths;
  /** Address of wp-admin, for links in mails; absent means below the host of `homeUrl`. */
  readonly adminUrl?: string | undefined;
  /** Cookies of sessions whose names are the site's own; absent means that WordPress's names are used. */
  readonly sessionCookies?: SessionCookieNames | undefined;
  /** Changes with every name and address that the connector reports; absent when the connector reports none. */
  readonly names?: string | undefined;
  /** As WordPress stores it: an IANA name, or an offset such as `+05:30`. */
  readonly timeZone: string;
  /** Locale of the site as WordPress names it, for example `de_DE`. */
  readonly locale: string;
  /** Whether WordPress is a multisite network: it signs users up with another script, followed by an activation. */
  readonly multisite: boolean;
  /** Active plugins that receive signed XML-RPC requests. */
  readonly signedXmlRpc: readonly SignedXmlRpc[];
}

/** A redirect that was received instead of the connector's response to a command. */
export interface CommandRedirect {
  /** The requested host. */
  readonly from: string;
  /** Scheme, host and path of its target, as one line of bounded length. */
  readonly target: string;
  /**
   * `scheme`: to the same address, perhaps with another scheme; `host`: to another host; `elsewhere`: to another path.
   */
  readonly to: 'scheme' | 'host' | 'elsewhere';
}

/** State of the connection between guard and the connector of a site. */
export type ConnectorState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'ok'; readonly version: string; readonly policy: string | null }
  /** `host`: the requested host, when WordPress has never reported its own. */
  | { readonly kind: 'missing'; readonly host?: string }
  | { readonly kind: 'other_secret'; readonly keyId: string }
  | { readonly kind: 'unreachable'; readonly cause: string; readonly redirect?: CommandRedirect };

/**
 * Returns the URL of a page of wp-admin, for example of `admin.php?page=activity-log`; only its path until the site's
 * address is known.
 */
export function adminUrl(facts: SiteFacts | null, page: string): string {
  if (facts?.adminUrl !== undefined) return `${facts.adminUrl.replace(/\/$/, '')}/${page}`;
  const origin = facts === null ? '' : new URL(facts.homeUrl).origin;
  return `${origin}${(facts?.paths ?? defaultSitePaths).admin}/${page}`;
}
