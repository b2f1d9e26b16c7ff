import type { LogLevel } from './lib/logger.js';
import type { SmtpServer } from './mail/smtp-mailer.js';
import type { SiteConfig } from './site.js';

/** Everything guard is told from outside. Read once at start; see docs/configuration.md. */
export interface Config {
  readonly dataDir: string;
  readonly listen: { readonly host: string; readonly port: number };
  /** `sqlite:<file>`, the file relative to the data folder. */
  readonly database: string;
  /** Addresses and CIDR ranges of proxies in front of guard whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Lower-case names of headers with the visitor's address that WordPress gets as a trusted proxy sent them. */
  readonly trustedProxyHeaders: readonly string[];
  readonly sites: readonly SiteConfig[];
  readonly limits: {
    /** Longest request line target in bytes; more is 414. */
    readonly targetBytes: number;
    /** All request headers together in bytes; more is 431. */
    readonly headerBytes: number;
    /** Time for a client to send its headers, seconds; then 408. */
    readonly headerSeconds: number;
    /** Longest silence of a visitor while a request body arrives or an answer waits to be taken, seconds. */
    readonly idleSeconds: number;
    /** Longest silence of WordPress before and during an answer, seconds; then 504. */
    readonly upstreamSeconds: number;
    /** Time that running requests get at shutdown, seconds. */
    readonly shutdownSeconds: number;
    /** Connections to one WordPress at the same time; further requests wait. */
    readonly upstreamConnections: number;
    /** Connections of all clients at the same time; beyond them idle ones are closed. */
    readonly connections: number;
    /** Connections of one address at the same time, IPv6 by /64; trusted proxies have no limit of their own. */
    readonly connectionsPerAddress: number;
  };
  /** Where metrics and the health of guard are told; nowhere when it is null. */
  readonly metrics: { readonly listen: { readonly host: string; readonly port: number } | null };
  readonly activity: {
    /** Most visits of a site that the Activity Log keeps; the oldest go first. */
    readonly maxRows: number;
    /** Servers that are asked for host names; the system's when empty. */
    readonly dns: readonly string[];
    /** Addresses and ranges that watch over sites and must not be blocked. */
    readonly monitors: readonly string[];
  };
  /** Where clean copies come from; addresses without a slash at the end. */
  readonly postHack: {
    readonly directory: { readonly api: string; readonly downloads: string; readonly checksums: string };
    /** Checksums of WordPress itself. */
    readonly coreChecksums: string;
  };
  /** How mails leave: by this server, or as WordPress sends its own when it is null. */
  readonly mail: { readonly smtp: SmtpServer | null };
  readonly weeklyReport: {
    /** Most recipients of a site. */
    readonly maxEmails: number;
  };
  /** What the provider puts on the Security Dashboard. */
  readonly branding: {
    readonly ebook: {
      readonly title: string;
      readonly link: string;
      readonly text: string;
      readonly image: string;
    } | null;
    /** Where reviews are written; empty when nobody is asked for one. */
    readonly rateLink: string;
  };
  readonly logLevel: LogLevel;
}
