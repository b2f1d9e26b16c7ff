import { isIP } from 'node:net';
import { DEFAULT_MAX_EMAILS } from '@security-optimizer/contract/activity-limits';
import { z } from 'zod';
import { isAddressHeader } from './proxy/address-headers.js';

/**
 * What may stand in `guard.json`. Each schema says in its error what is allowed, so that a mistake can be reported
 * without a look into the documentation.
 */

const LISTEN_HELP = 'use HOST:PORT, for example 127.0.0.1:8080 or [::1]:8080';

/** `192.0.2.1:8080`, `[2001:db8::1]:8080` or `localhost:8080`. */
export const listenAddress = z.string({ error: LISTEN_HELP }).transform((text, context) => {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text);
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3]);
  if (host === undefined || port > 65_535 || (parts?.[1] !== undefined && isIP(host) !== 6)) {
    context.addIssue({ code: 'custom', message: LISTEN_HELP });
    return z.NEVER;
  }
  return { host, port };
});

export const databaseUrl = z.string({ error: 'use sqlite:FILE' }).superRefine((text, context) => {
  if (/^postgres(?:ql)?:/.test(text)) {
    context.addIssue({ code: 'custom', message: 'PostgreSQL is not available in this version; use sqlite:FILE' });
  } else if (!/^sqlite:[^\s].*$/.test(text)) {
    context.addIssue({ code: 'custom', message: 'use sqlite:FILE, for example sqlite:guard.sqlite' });
  }
});

const RANGE_HELP = 'use addresses or CIDR ranges, for example 192.0.2.1 or 192.0.2.0/24';

export const trustedProxy = z.string({ error: RANGE_HELP }).refine(isAddressOrRange, { error: RANGE_HELP });

function isAddressOrRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

const HEADER_HELP =
  'use names of headers with an address that proxies write, for example CF-Connecting-IP; guard writes X-Forwarded-* and X-Real-IP itself';

/** Any other header passes anyway, or is nobody's but guard's. */
const addressHeader = z
  .string({ error: HEADER_HELP })
  .transform((name) => name.toLowerCase())
  .refine((name) => /^[a-z0-9-]{1,100}$/.test(name) && isAddressHeader(name) && !isWrittenByGuard(name), {
    error: HEADER_HELP,
  });

function isWrittenByGuard(name: string): boolean {
  return /^(?:x-forwarded|x-security-optimizer)/.test(name) || name === 'x-real-ip';
}

const DNS_HELP = 'use addresses of DNS servers, for example 192.0.2.53 or 192.0.2.53:5353';

/** As `Resolver.setServers` of Node takes it: an address, or address and port with brackets around IPv6. */
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

const HOST_HELP = 'use host names without port, for example example.com, or * for every other host';
export const hostName = z
  .string({ error: HOST_HELP })
  .regex(/^(?:\*|[a-zA-Z0-9_](?:[a-zA-Z0-9_.-]*[a-zA-Z0-9_])?|\[[0-9a-fA-F:.]+\])$/, { error: HOST_HELP })
  .transform((name) => name.toLowerCase());

const UPSTREAM_HELP = 'use the http origin of the web server without a path, for example http://127.0.0.1:8081';
/** Origin of WordPress's web server. Not https: guard speaks plain HTTP to it, on one machine or in a closed network. */
export const upstreamOrigin = z.string({ error: UPSTREAM_HELP }).transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : null;
  const plain = url !== null && url.protocol === 'http:' && url.pathname === '/' && !/[?#@]/.test(text);
  if (url === null || !plain) {
    context.addIssue({ code: 'custom', message: UPSTREAM_HELP });
    return z.NEVER;
  }
  return url.origin;
});

const HOME_HELP = 'use the URL path of a site in a sub-directory, for example /blog';
export const homePath = z.string({ error: HOME_HELP }).regex(/^(?:\/[^\s/?#]+)*$/, { error: HOME_HELP });

const ID_HELP = 'use letters, digits and hyphens';

const siteEntry = z.strictObject({
  id: z.string({ error: ID_HELP }).regex(/^[a-zA-Z0-9-]{1,64}$/, { error: ID_HELP }),
  hosts: z.array(hostName, { error: HOST_HELP }).min(1, { error: HOST_HELP }).default(['*']),
  upstream: upstreamOrigin,
  wordpressDir: z
    .string({ error: 'use a folder, or null' })
    .min(1, { error: 'use a folder, or null' })
    .nullable()
    .default(null),
  // Left out, not null, where it is the usual one: a guard of an older version reads the file as well.
  muPluginsDir: z.string({ error: 'use a folder' }).min(1, { error: 'use a folder' }).optional(),
  onlyThroughGuard: z.boolean({ error: 'use true or false' }).default(true),
  home: homePath.default(''),
});
export type SiteEntry = z.output<typeof siteEntry>;

function limit(fallback: number, lowest: number, highest: number, unit: string) {
  const error = `use a whole number from ${lowest} to ${highest} (${unit})`;
  return z.int({ error }).min(lowest, { error }).max(highest, { error }).default(fallback);
}

const ORIGIN_HELP = 'use an https address without a query, for example https://api.wordpress.org';
/** Where code comes from: encrypted, or on this machine, since nobody else may change it on its way. */
const sourceOfCode = z.string({ error: ORIGIN_HELP }).transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : null;
  const local = url !== null && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  const secure = url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && local));
  if (!secure || /[?#@]/.test(text)) {
    context.addIssue({ code: 'custom', message: ORIGIN_HELP });
    return z.NEVER;
  }
  return text.replace(/\/+$/, '');
});

const LINK_HELP = 'use an https address, for example https://example.com/guide';
/** Owners are led there, and a page over https shows no picture from elsewhere. */
const webLink = z.string({ error: LINK_HELP }).refine(isHttps, { error: LINK_HELP });

const NO_LINK_HELP = 'use an https address, or "" for none';
const optionalLink = z
  .string({ error: NO_LINK_HELP })
  .refine((text) => text === '' || isHttps(text), { error: NO_LINK_HELP })
  .default('');

function isHttps(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'https:';
}

const WORDS_HELP = 'use a text of 1 to 300 characters';
const shownText = z.string({ error: WORDS_HELP }).trim().min(1, { error: WORDS_HELP }).max(300, { error: WORDS_HELP });

const MAIL_HOST_HELP = 'use the name or address of a mail server, for example smtp.example.com';
const FROM_HELP = 'use an e-mail address, for example reports@example.com or Reports <reports@example.com>';
const USER_HELP = 'use the name with which the mail server lets guard in, or null';
const PASSWORD_FILE_HELP = 'use a file that holds the password alone, or null';

/** A sender, with or without a name; nothing that could begin another header. */
const SENDER = /^(?:[^\r\n<>@",;:]{1,100}<[^\s<>@",;:]+@[^\s<>@",;:]+>|[^\s<>@",;:]+@[^\s<>@",;:]+)$/;

const smtpServer = z
  .strictObject({
    host: z.string({ error: MAIL_HOST_HELP }).regex(/^[a-zA-Z0-9_.:-]{1,253}$/, { error: MAIL_HOST_HELP }),
    port: limit(587, 1, 65_535, 'port'),
    secure: z.boolean({ error: 'use true (encrypted from the start) or false (STARTTLS)' }).optional(),
    user: z.string({ error: USER_HELP }).min(1, { error: USER_HELP }).nullable().default(null),
    passwordFile: z
      .string({ error: PASSWORD_FILE_HELP })
      .min(1, { error: PASSWORD_FILE_HELP })
      .nullable()
      .default(null),
    from: z.string({ error: FROM_HELP }).regex(SENDER, { error: FROM_HELP }),
  })
  // Port 465 speaks TLS at once (RFC 8314).
  .transform((server) => ({ ...server, secure: server.secure ?? server.port === 465 }));

export const configFile = z.strictObject({
  listen: listenAddress.default({ host: '127.0.0.1', port: 8080 }),
  database: databaseUrl.default('sqlite:guard.sqlite'),
  trustedProxies: z.array(trustedProxy, { error: RANGE_HELP }).default([]),
  trustedProxyHeaders: z.array(addressHeader, { error: HEADER_HELP }).default([]),
  logLevel: logLevel.default('info'),
  metrics: z.strictObject({ listen: listenAddress.nullable().default(null) }).prefault({}),
  limits: z
    .strictObject({
      targetBytes: limit(8192, 1024, 65_536, 'bytes'),
      headerBytes: limit(32_768, 4096, 262_144, 'bytes'),
      headerSeconds: limit(15, 1, 300, 'seconds'),
      idleSeconds: limit(60, 1, 3600, 'seconds'),
      upstreamSeconds: limit(300, 1, 3600, 'seconds'),
      shutdownSeconds: limit(30, 1, 600, 'seconds'),
      upstreamConnections: limit(128, 1, 10_000, 'connections'),
      connections: limit(10_000, 10, 1_000_000, 'connections'),
      connectionsPerAddress: limit(500, 10, 1_000_000, 'connections'),
    })
    .prefault({}),
  activity: z
    .strictObject({
      maxRows: limit(1_000_000, 1000, 1_000_000_000, 'rows'),
      dns: z.array(dnsServer, { error: DNS_HELP }).default([]),
      monitors: z.array(trustedProxy, { error: RANGE_HELP }).default([]),
    })
    .prefault({}),
  postHack: z
    .strictObject({
      directory: z
        .strictObject({
          api: sourceOfCode.default('https://api.wordpress.org'),
          downloads: sourceOfCode.default('https://downloads.wordpress.org'),
          checksums: sourceOfCode.default('https://downloads.wordpress.org'),
        })
        .prefault({}),
      coreChecksums: sourceOfCode.default('https://api.wordpress.org/core/checksums/1.0/'),
    })
    .prefault({}),
  mail: z.strictObject({ smtp: smtpServer.nullable().default(null) }).prefault({}),
  weeklyReport: z.strictObject({ maxEmails: limit(DEFAULT_MAX_EMAILS, 1, 100, 'addresses') }).prefault({}),
  branding: z
    .strictObject({
      ebook: z
        .strictObject({
          title: shownText,
          link: webLink,
          text: shownText.default(''),
          image: optionalLink,
        })
        .nullable()
        .default(null),
      rateLink: optionalLink,
    })
    .prefault({}),
  sites: z.array(siteEntry, { error: 'use a list of sites' }).default([]),
});
/** The file with its defaults filled in. */
export type ConfigFile = z.output<typeof configFile>;
