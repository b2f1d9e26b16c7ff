import type { LogLevel } from '../lib/logger.js';
import type { SocketAddress } from '../lib/socket-address.js';
import type { Branding, QuarantinedSite, SiteConfig, SiteId } from '../site.js';

/** The configuration of guard, read once at the start; see docs/operator/configuration.md. */
export interface Config {
  readonly dataDir: string;
  readonly listen: SocketAddress;
  /** Processes that accept connections of clients, 1 or more. With several, one more holds the state. */
  readonly processes: number;
  /** `sqlite:<file>`, the file relative to the data folder, or `postgres://…`, which may contain a password. */
  readonly database: string;
  /**
   * Addresses and CIDR ranges of proxies in front of guard whose X-Forwarded-For is trusted, including those from
   * files; `unix` for connections to guard's Unix socket.
   */
  readonly trustedProxies: readonly string[];
  /** Whether each connection begins with a header of the PROXY protocol, from a trusted proxy. */
  readonly proxyProtocol: boolean;
  /** Lower-case names of headers with the client address that are forwarded unchanged from a trusted proxy. */
  readonly trustedProxyHeaders: readonly string[];
  readonly sites: readonly SiteConfig[];
  /** Configured sites that can't be served. */
  readonly quarantined: readonly QuarantinedSite[];
  readonly limits: {
    /** Longest request target, bytes; a longer one gets 414. */
    readonly targetBytes: number;
    /** All request headers together, bytes; more get 431. */
    readonly headerBytes: number;
    /** Maximum time for a client to send its headers, seconds; then 408. */
    readonly headerSeconds: number;
    /** Longest pause of a client while it sends a request body or reads a response, seconds. */
    readonly idleSeconds: number;
    /** Longest pause of WordPress before and during a response, seconds; then 504. */
    readonly upstreamSeconds: number;
    /** Time for running requests to complete at shutdown, seconds. */
    readonly shutdownSeconds: number;
    /** Time in which open connections may send one more request at shutdown, with a supervisor's socket, seconds. */
    readonly drainSeconds: number;
    /** Maximum number of concurrent connections to one WordPress; further requests wait. */
    readonly upstreamConnections: number;
    /** Maximum number of concurrent connections of all clients; above that, idle ones are closed. */
    readonly connections: number;
    /** Maximum number of concurrent connections of one address, IPv6 by /64; trusted proxies are exempt. */
    readonly connectionsPerAddress: number;
    /** Connections of this process to PostgreSQL. */
    readonly databaseConnections: number;
  };
  /** Address of metrics and health checks; null disables them. */
  readonly metrics: { readonly listen: SocketAddress | null };
  readonly activity: {
    /** Maximum number of visits of a site in the Activity Log; the oldest are deleted first. */
    readonly maxRows: number;
    /** DNS servers for host names; the system's when empty. */
    readonly dns: readonly string[];
    /** Addresses and ranges of monitoring services, which must not be blocked. */
    readonly monitors: readonly string[];
    /** File with one line for each refused request and failed login, an absolute path; null disables it. */
    readonly securityLog: string | null;
  };
  /** Sources of clean copies; URLs without a trailing slash. */
  readonly postHack: {
    readonly directory: { readonly api: string; readonly downloads: string; readonly checksums: string };
    /** Checksums of WordPress itself. */
    readonly coreChecksums: string;
  };
  /** The mail server for guard's mails; when it is null, WordPress sends them. */
  readonly mail: { readonly smtp: SmtpServer | null };
  /** Where alerts may be sent to. */
  readonly alerts: {
    /** Addresses and ranges that are allowed although they are not public. */
    readonly privateTargets: readonly string[];
    /** Whether webhooks may use http. */
    readonly plainHttp: boolean;
    /** Certificate authorities that are trusted beside the built-in ones, PEM, one in each entry. */
    readonly authorities: readonly string[];
  };
  readonly weeklyReport: {
    /** Maximum number of recipients of a site. */
    readonly maxEmails: number;
  };
  /** Content of the provider on the Security Dashboard. */
  readonly branding: Branding;
  /** URLs of the provider for what owners agree to; a question without a URL is not asked. */
  readonly consent: {
    readonly technicalDataUrl: string | null;
    readonly emailUrl: string | null;
  };
  readonly logLevel: LogLevel;
}

/** The sites of a configuration. */
export type ConfiguredSites = Pick<Config, 'sites' | 'quarantined'>;

/**
 * The part of a changed configuration that applies while guard is running: the sites, and the proxies in front of all
 * of them.
 */
export type LiveConfig = ConfiguredSites & Pick<Config, 'trustedProxies'>;

/** A site of the configuration, which is served or quarantined. */
export type ConfiguredSite = SiteConfig | QuarantinedSite;

/** What differs between the sites in force and a changed configuration. */
export interface LiveChange {
  /** Sites to be served that are new or have changed, or were quarantined. */
  readonly served: readonly SiteConfig[];
  /** Sites to be quarantined that are new, or for another reason, or were served. */
  readonly quarantined: readonly QuarantinedSite[];
  /** Sites that are no longer configured. */
  readonly removed: readonly SiteId[];
  readonly trustedProxies: readonly string[];
}

/** A mail server that accepts guard's mails. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** Implicit TLS (RFC 8314); otherwise STARTTLS if the server offers it. */
  readonly secure: boolean;
  /** Null when the server requires no authentication. */
  readonly login: { readonly user: string; readonly password: string } | null;
  /** Sender address, with or without a name: `Reports <reports@example.com>`. */
  readonly from: string;
}
