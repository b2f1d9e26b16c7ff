import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { DEFAULT_MAX_EMAILS } from '@security-optimizer/contract/activity/limits';
import { z } from 'zod';
import { isAddressHeader } from '../http/headers.js';
import { parseUnixAddress, printSocketAddress, type SocketAddress } from '../lib/socket-address.js';
import { readTypedRanges } from '../lib/typed-ranges.js';
import { DATABASE_HELP, isPostgresUrl, parsePostgresUrl } from './database-url.js';

/**
 * The schema of `guard.json`, for reading and writing; `parse-config.ts` applies it. Each schema's error says what is allowed, so that a mistake can
 * be corrected without the documentation. Every schema works in both directions: a value whose form in memory differs
 * from the file is a codec, and normalization (`overwrite`) is idempotent. `transform` works in one direction only; a
 * file written through it could not be read again.
 */

const LISTEN_HELP = 'use HOST:PORT, for example 127.0.0.1:8080 or [::1]:8080, or unix:/PATH of at most 103 bytes';

/** `192.0.2.1:8080`, `[2001:db8::1]:8080`, `localhost:8080` or `unix:/run/guard.sock`. */
export const listenAddress = z.codec(z.string({ error: LISTEN_HELP }), z.custom<SocketAddress>(), {
  decode(text, context): SocketAddress {
    const socket = parseUnixAddress(text);
    if (socket !== null) return socket;
    const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text);
    const host = parts?.[1] ?? parts?.[2];
    const port = Number(parts?.[3]);
    if (host === undefined || port > 65_535 || (parts?.[1] !== undefined && isIP(host) !== 6)) {
      context.issues.push({ code: 'custom', message: LISTEN_HELP, input: text });
      return z.NEVER;
    }
    return { host, port };
  },
  encode: printSocketAddress,
});

export const databaseUrl = z.string({ error: DATABASE_HELP }).superRefine((text, context) => {
  const address = isPostgresUrl(text) ? parsePostgresUrl(text) : null;
  if (address !== null && 'mistake' in address) context.addIssue({ code: 'custom', message: address.mistake });
  else if (address === null && !/^sqlite:[^\s].*$/.test(text))
    context.addIssue({ code: 'custom', message: DATABASE_HELP });
});

const RANGE_HELP = 'use addresses or CIDR ranges, for example 192.0.2.1 or 192.0.2.0/24';

/** Says what is allowed, and which part of the text is invalid. */
const toRangeMistake = (help: string) => ({
  error: ({ input }: { readonly input: unknown }) => {
    const read = typeof input === 'string' ? readTypedRanges(input) : null;
    return read !== null && 'fault' in read ? `${help}; check “${read.fault.params.name}”` : help;
  },
});

const addressRange = z.string({ error: RANGE_HELP }).refine(isAddressOrRange, toRangeMistake(RANGE_HELP));

const LIST_HELP = `${RANGE_HELP}, or file:PATH for a file with one of them in each line`;
const PROXY_HELP = `${LIST_HELP}, or unix for connections to a Unix socket`;
/** Prefix of the name of a file with addresses and ranges. */
export const LIST_FILE = 'file:';

export const trustedProxy = z
  .string({ error: PROXY_HELP })
  .refine((text) => text === 'unix' || isAddressOrRange(text) || isListFile(text), toRangeMistake(PROXY_HELP));

const siteProxy = z
  .string({ error: LIST_HELP })
  .refine((text) => isAddressOrRange(text) || isListFile(text), toRangeMistake(LIST_HELP));

function isListFile(text: string): boolean {
  return text.startsWith(LIST_FILE) && text.length > LIST_FILE.length;
}

/** Whether an entry consists of one or several addresses or ranges; `toConfiguredRanges` reads them. */
function isAddressOrRange(text: string): boolean {
  return 'texts' in readTypedRanges(text);
}

/** Returns the entries of the configuration, each address and range separately and in the format of `parseRange`. */
export function toConfiguredRanges(entries: readonly string[]): readonly string[] {
  return entries.flatMap((entry) => {
    const read = entry === 'unix' ? { texts: [entry] } : readTypedRanges(entry);
    return 'texts' in read ? read.texts : [];
  });
}

const HEADER_HELP =
  'use names of headers with an address that proxies write, for example CF-Connecting-IP; guard writes X-Forwarded-* and X-Real-IP itself';

/** All other headers are either forwarded anyway or written by guard only. */
const addressHeader = z
  .string({ error: HEADER_HELP })
  .toLowerCase()
  .refine((name) => /^[a-z0-9-]{1,100}$/.test(name) && isAddressHeader(name) && !isWrittenByGuard(name), {
    error: HEADER_HELP,
  });

function isWrittenByGuard(name: string): boolean {
  return /^(?:x-forwarded|x-security-optimizer)/.test(name) || name === 'x-real-ip';
}

const DNS_HELP = 'use addresses of DNS servers, for example 192.0.2.53 or 192.0.2.53:5353';

/** The form of `Resolver.setServers` in Node.js: an address, or address and port with brackets around IPv6. */
const dnsServer = z.string({ error: DNS_HELP }).refine(isDnsServer, { error: DNS_HELP });

function isDnsServer(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+)):(\d{1,5})$/.exec(text) ?? [];
  const fits = bracketed === undefined ? isIP(plain ?? '') === 4 : isIP(bracketed) === 6;
  return fits && Number(port) >= 1 && Number(port) <= 65_535;
}

export const logLevel = z.enum(['debug', 'info', 'warn', 'error', 'silent'], {
  error: 'use debug, info, warn, error or silent',
});

const HOST_HELP =
  'use host names without port, for example example.com, *.example.com for its subdomains, or * for every other host';
/** A name in letters of any script counts as the one that browsers send, and a name with a final dot as without it. */
export const hostName = z
  .string({ error: HOST_HELP })
  .overwrite(toSentHost)
  .regex(/^(?:\*|(?:\*\.)?[a-zA-Z0-9_](?:[a-zA-Z0-9_.-]*[a-zA-Z0-9_])?|\[[0-9a-fA-F:.]+\])$/, { error: HOST_HELP })
  .toLowerCase();

/** @returns the text itself where it can't be a name */
function toSentHost(text: string): string {
  const name = text.replace(/(?<=[^.])\.$/, '');
  return /[^ -~]/.test(name) && !/[\s:/?#@[\]]/.test(name) ? domainToASCII(name) || text : name;
}

/** Whether a configured host means all subdomains of a name, at any depth. */
export function isWildcardHost(host: string): boolean {
  return host.startsWith('*.');
}

const UPSTREAM_HELP =
  'use the http origin of the web server without a path, for example http://127.0.0.1:8081, or unix:/PATH of its socket';
/**
 * Origin or Unix socket of WordPress's web server. Not https: guard sends plain HTTP to it, on the same machine or in a
 * closed network.
 */
export const upstreamOrigin = z
  .string({ error: UPSTREAM_HELP })
  .refine((text) => parseUnixAddress(text) !== null || isPlainOrigin(text), { error: UPSTREAM_HELP })
  .overwrite((text) => (isPlainOrigin(text) ? new URL(text).origin : text));

function isPlainOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && url.protocol === 'http:' && url.pathname === '/' && !/[?#@]/.test(text);
}

const HOME_HELP = 'use the URL path of a site in a sub-directory, for example /blog';
export const homePath = z.string({ error: HOME_HELP }).regex(/^(?:\/[^\s/?#]+)*$/, { error: HOME_HELP });

const SHARED_HELP = 'use an absolute path of letters, digits, dots, hyphens and underscores';
/** A folder whose path can be written into PHP unchanged. */
export const sharedFolder = z
  .string({ error: SHARED_HELP })
  .regex(/^(?:\/[A-Za-z0-9_][A-Za-z0-9._-]*)+$/, { error: SHARED_HELP });

/** An integer within bounds; `unit` is named in the error. */
function limit(lowest: number, highest: number, unit: string) {
  const error = `use a whole number from ${lowest} to ${highest} (${unit})`;
  return z.int({ error }).min(lowest, { error }).max(highest, { error });
}

const ORIGIN_HELP = 'use an https address without a query, for example https://api.wordpress.org';
/** Source of code: https, or this machine, so that the code can't be modified in transit. */
const codeSource = z.string({ error: ORIGIN_HELP }).refine(isCodeSource, { error: ORIGIN_HELP });
/** A source of code as a prefix, to which a path is appended. */
const codeFolder = codeSource.overwrite((text) => text.replace(/\/+$/, ''));

function isCodeSource(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  const local = url !== null && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  const secure = url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && local));
  return secure && !/[?#@]/.test(text);
}

const LINK_HELP = 'use an https address, for example https://example.com/guide';
/** A link for owners. A page over https displays images over https only. */
const webLink = z.string({ error: LINK_HELP }).refine(isHttps, { error: LINK_HELP });

const PICTURE_HELP = 'use an https address, a path of the site such as /wp-content/uploads/guide.png, or "" for none';
const picture = z
  .string({ error: PICTURE_HELP })
  .refine((text) => text === '' || isHttps(text) || /^\/(?!\/)[^\s\\]*$/.test(text), { error: PICTURE_HELP })
  .default('');

const RECEIVER_HELP = 'use an https address, for example https://example.com/technical-data, or null';
/** A URL that gets data that owners agreed to send: https, or this machine. */
const receiver = z
  .string({ error: RECEIVER_HELP })
  .refine(isCodeSource, { error: RECEIVER_HELP })
  .nullable()
  .default(null);

const NO_LINK_HELP = 'use an https address, or "" for none';
const optionalLink = z
  .string({ error: NO_LINK_HELP })
  .refine((text) => text === '' || isHttps(text), { error: NO_LINK_HELP });

function isHttps(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'https:';
}

const TEXT_HELP = 'use a text of 1 to 300 characters';
const shownText = z.string({ error: TEXT_HELP }).trim().min(1, { error: TEXT_HELP }).max(300, { error: TEXT_HELP });
const OPTIONAL_TEXT_HELP = 'use a text of at most 300 characters, or "" for none';
const optionalText = z.string({ error: OPTIONAL_TEXT_HELP }).trim().max(300, { error: OPTIONAL_TEXT_HELP }).default('');

/** Content of the provider on the Security Dashboard. */
const brandingEntries = {
  ebook: z
    .strictObject({
      title: shownText,
      link: webLink,
      text: optionalText,
      image: picture,
    })
    .nullable(),
  rateLink: optionalLink,
  rateAfterDays: limit(0, 365, 'days'),
};

/** Limits of one site. Default: those of the machine. */
const siteLimits = z.strictObject({
  upstreamConnections: z.exactOptional(limit(1, 10_000, 'connections')),
  upstreamSeconds: z.exactOptional(limit(1, 3600, 'seconds')),
  maxRows: z.exactOptional(limit(1000, 1_000_000_000, 'rows')),
});

const ID_HELP = 'use letters, digits and hyphens';
export const siteId = z.string({ error: ID_HELP }).regex(/^[a-zA-Z0-9-]{1,64}$/, { error: ID_HELP });

export const siteEntry = z.strictObject({
  id: siteId,
  hosts: z.array(hostName, { error: HOST_HELP }).min(1, { error: HOST_HELP }).default(['*']),
  upstream: upstreamOrigin,
  wordpressDir: z
    .string({ error: 'use a folder, or null' })
    .min(1, { error: 'use a folder, or null' })
    .nullable()
    .default(null),
  // Absent by default instead of null, because a guard of an older version may read the file.
  muPluginsDir: z.string({ error: 'use a folder' }).min(1, { error: 'use a folder' }).optional(),
  sharedConnector: sharedFolder.optional(),
  externalKey: z.exactOptional(z.boolean({ error: 'use true or false' })),
  requireGuard: z.boolean({ error: 'use true or false' }).default(true),
  home: homePath.default(''),
  // Absent by default, for the same reason.
  trustedProxies: z.exactOptional(z.array(siteProxy, { error: LIST_HELP })),
  limits: z.exactOptional(siteLimits),
  branding: z.exactOptional(
    z.strictObject({
      ebook: z.exactOptional(brandingEntries.ebook),
      rateLink: z.exactOptional(brandingEntries.rateLink),
      rateAfterDays: z.exactOptional(brandingEntries.rateAfterDays),
    }),
  ),
});
export type SiteEntry = z.output<typeof siteEntry>;

const MAIL_HOST_HELP = 'use the name or address of a mail server, for example smtp.example.com';
const FROM_HELP = 'use an e-mail address, for example reports@example.com or Reports <reports@example.com>';
const USER_HELP = 'use the name with which the mail server lets guard in, or null';
const CA_FILE_HELP = 'use a file of certificate authorities in PEM format, or null';
const PASSWORD_FILE_HELP = 'use a file that holds the password alone, or null';

/** A sender, with or without a name, and without characters that could begin another header. */
const SENDER = /^(?:[^\r\n<>@",;:]{1,100}<[^\s<>@",;:]+@[^\s<>@",;:]+>|[^\s<>@",;:]+@[^\s<>@",;:]+)$/;

const smtpServer = z.strictObject({
  host: z.string({ error: MAIL_HOST_HELP }).regex(/^[a-zA-Z0-9_.:-]{1,253}$/, { error: MAIL_HOST_HELP }),
  port: limit(1, 65_535, 'port').default(587),
  // The default depends on the port: see `readSmtp`.
  secure: z.boolean({ error: 'use true (encrypted from the start) or false (STARTTLS)' }).optional(),
  user: z.string({ error: USER_HELP }).min(1, { error: USER_HELP }).nullable().default(null),
  passwordFile: z.string({ error: PASSWORD_FILE_HELP }).min(1, { error: PASSWORD_FILE_HELP }).nullable().default(null),
  from: z.string({ error: FROM_HELP }).regex(SENDER, { error: FROM_HELP }),
});

const PROCESSES_HELP = 'use a whole number from 1 to 64, or auto for one process on each core';
export const processes = z.union([z.literal('auto'), z.int().min(1).max(64)], { error: PROCESSES_HELP });

const SITES_HELP = 'use a list of sites';

export const configFile = z.strictObject({
  listen: listenAddress.default({ host: '127.0.0.1', port: 8080 }),
  processes: processes.default(1),
  database: databaseUrl.default('sqlite:guard.sqlite'),
  trustedProxies: z.array(trustedProxy, { error: PROXY_HELP }).default([]),
  proxyProtocol: z.boolean({ error: 'use true or false' }).default(false),
  trustedProxyHeaders: z.array(addressHeader, { error: HEADER_HELP }).default([]),
  logLevel: logLevel.default('info'),
  metrics: z.strictObject({ listen: listenAddress.nullable().default(null) }).prefault({}),
  limits: z
    .strictObject({
      targetBytes: limit(1024, 65_536, 'bytes').default(8192),
      headerBytes: limit(4096, 262_144, 'bytes').default(32_768),
      headerSeconds: limit(1, 300, 'seconds').default(15),
      idleSeconds: limit(1, 3600, 'seconds').default(60),
      upstreamSeconds: limit(1, 3600, 'seconds').default(300),
      shutdownSeconds: limit(1, 600, 'seconds').default(30),
      drainSeconds: limit(0, 60, 'seconds').default(1),
      upstreamConnections: limit(1, 10_000, 'connections').default(128),
      connections: limit(10, 1_000_000, 'connections').default(10_000),
      connectionsPerAddress: limit(10, 1_000_000, 'connections').default(500),
      databaseConnections: limit(1, 1000, 'connections').default(10),
    })
    .prefault({}),
  activity: z
    .strictObject({
      maxRows: limit(1000, 1_000_000_000, 'rows').default(1_000_000),
      dns: z.array(dnsServer, { error: DNS_HELP }).default([]),
      monitors: z.array(addressRange, { error: RANGE_HELP }).default([]),
      securityLog: z
        .string({ error: 'use a file, or null' })
        .min(1, { error: 'use a file, or null' })
        .nullable()
        .default(null),
    })
    .prefault({}),
  postHack: z
    .strictObject({
      directory: z
        .strictObject({
          api: codeFolder.default('https://api.wordpress.org'),
          downloads: codeFolder.default('https://downloads.wordpress.org'),
          checksums: codeFolder.default('https://downloads.wordpress.org'),
        })
        .prefault({}),
      coreChecksums: codeSource.default('https://api.wordpress.org/core/checksums/1.0/'),
    })
    .prefault({}),
  mail: z.strictObject({ smtp: smtpServer.nullable().default(null) }).prefault({}),
  alerts: z
    .strictObject({
      privateTargets: z.array(addressRange, { error: RANGE_HELP }).default([]),
      plainHttp: z.boolean({ error: 'use true or false' }).default(false),
      caFile: z.string({ error: CA_FILE_HELP }).min(1, { error: CA_FILE_HELP }).nullable().default(null),
    })
    .prefault({}),
  weeklyReport: z.strictObject({ maxEmails: limit(1, 100, 'addresses').default(DEFAULT_MAX_EMAILS) }).prefault({}),
  branding: z
    .strictObject({
      ebook: brandingEntries.ebook.default(null),
      rateLink: brandingEntries.rateLink.default(''),
      rateAfterDays: brandingEntries.rateAfterDays.default(7),
    })
    .prefault({}),
  consent: z.strictObject({ technicalDataUrl: receiver, emailUrl: receiver }).prefault({}),
  sites: z.array(siteEntry, { error: SITES_HELP }).default([]),
});
