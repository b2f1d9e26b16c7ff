/**
 * What the web server behind guard takes a visitor for, and which pages it hands out that are meant for the machine alone.
 * Asked by `status`, as a visitor's requests come from guard.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type SocketAddress, toUpstreamAddress } from '../lib/socket-address.js';
import type { SiteConfig } from '../site.js';
import {
  COMMAND_HEADER,
  commandHeader,
  GUARD_HEADER,
  guardHeader,
  readSignal,
  SIGNAL_HEADER,
} from '../wordpress/signature.js';
import { type VisitResponse, visit } from './visit.js';

/** Where guard's connections to a web server come from, as that server names it. @param upstream `SiteConfig.upstream` */
function toGuardSource(upstream: string): { readonly nginx: string; readonly apache: string } {
  const address = toUpstreamAddress(upstream);
  // Apache does not listen at socket files.
  if ('path' in address) return { nginx: 'unix:', apache: '127.0.0.1' };
  const { host } = address;
  if (host === '::1') return { nginx: '::1', apache: '::1' };
  if (host === 'localhost' || host.startsWith('127.')) return { nginx: '127.0.0.1', apache: '127.0.0.1' };
  return { nginx: 'ADDRESS_OF_GUARD', apache: 'ADDRESS_OF_GUARD' };
}

/** How the web server behind guard gets to see each visitor's address, in two sentences. */
export function toRealAddressAdvice(upstream: string): string {
  const { nginx, apache } = toGuardSource(upstream);
  return `Let it take the address from guard: nginx \`set_real_ip_from ${nginx}; real_ip_header X-Forwarded-For;\`, Apache (mod_remoteip) \`RemoteIPHeader X-Forwarded-For\` and \`RemoteIPInternalProxy ${apache}\`. See docs/operations.md, “Each visitor’s address”.`;
}

/** A page that servers hand out to their own machine. */
interface MachinePage {
  readonly name: string;
  readonly paths: readonly string[];
  /** What only that page has: a page of WordPress at the same path must not be taken for it. */
  readonly content: RegExp;
  /** It asks for a password by itself, so it may be open on purpose where the server can tell visitors apart. */
  readonly hasLogin?: true;
}

/**
 * The usual ones: what the manuals of nginx, PHP-FPM and Apache, Debian's packages (munin, phpMyAdmin), and cPanel have.
 * PHP-FPM's `/ping` is none: it says `pong`, and monitors elsewhere ask for it.
 */
const MACHINE_PAGES: readonly MachinePage[] = [
  {
    name: 'the state of nginx',
    paths: ['/nginx_status', '/nginx-status', '/stub_status', '/basic_status', '/status'],
    content: /^Active connections: \d+\s+server accepts handled requests\s/,
  },
  {
    name: 'the state of PHP-FPM',
    paths: ['/fpm-status', '/php-fpm-status', '/fpm_status', '/php_status', '/status'],
    content: /^pool:\s+\S+\s+process manager:\s/,
  },
  {
    name: 'the state of Apache',
    paths: ['/server-status', '/whm-server-status'],
    content: /<h1>Apache Server Status for /i,
  },
  { name: 'the settings of Apache', paths: ['/server-info'], content: /<title>Server Information<\/title>/i },
  {
    name: 'the load balancer of Apache',
    paths: ['/balancer-manager'],
    content: /<h1>Load Balancer Manager for /i,
  },
  { name: 'munin', paths: ['/munin/'], content: /<title>Munin ::/i },
  { name: 'phpMyAdmin', paths: ['/phpmyadmin/'], content: /name="pma_username"/, hasLogin: true },
];

/** All paths, each once. */
export const MACHINE_PATHS: readonly string[] = [...new Set(MACHINE_PAGES.flatMap(({ paths }) => paths))];

/** Hosts that mean the machine: a `server` of their own may stand behind them. */
export const MACHINE_HOSTS = ['localhost', '127.0.0.1'] as const;

/**
 * Which page of the machine a response is.
 *
 * @param isAddressSeen whether the web server tells visitors from the machine; null when that is not known
 * @returns its name, or null
 */
export function recognizeMachinePage(
  response: { readonly status: number; readonly body: string },
  isAddressSeen: boolean | null,
): string | null {
  if (response.status !== 200) return null;
  const found = MACHINE_PAGES.find(({ content }) => content.test(response.body));
  return found === undefined || (found.hasLogin === true && isAddressSeen === true) ? null : found.name;
}

/** A page of the machine that everybody gets. */
export interface OpenPage {
  /** For example `the state of nginx`. */
  readonly name: string;
  readonly path: string;
  /** The host that was asked for. */
  readonly host: string;
}

/** What the web server behind takes a visitor for. */
export interface ServerBehind {
  /** Whether it sees each visitor's address; null when that is not known, as with a connector of an older version. */
  readonly isAddressSeen: boolean | null;
  readonly openPages: readonly OpenPage[];
}

/** What is wrong there, one sentence each with the way out. @param upstream `SiteConfig.upstream` */
export function toServerBehindWarnings({ isAddressSeen, openPages }: ServerBehind, upstream: string): string[] {
  const warnings: string[] = [];
  if (isAddressSeen === false) {
    warnings.push(
      `The web server behind guard has guard’s address for every visitor: limits, logs and fail2ban take all for one, and pages for this machine alone are open. ${toRealAddressAdvice(upstream)}`,
    );
  }
  const way =
    isAddressSeen === false
      ? 'Where it is closed by address, it is so again once the server sees each visitor.'
      : 'Close it: `allow 127.0.0.1; deny all;` in nginx, `Require local` in Apache, or a server of its own on another port of this machine.';
  for (const { name, path, host } of openPages) {
    warnings.push(`Everybody who asks for ${path} with the host ${host} gets ${name}. ${way}`);
  }
  return warnings;
}

/** Whom the questions are from: an address of documentation (RFC 5737), which is neither this machine's nor a proxy's. */
const VISITOR = '192.0.2.1';

/** Where this machine reaches a server that listens on all addresses. */
export function toLocalServer(listen: SocketAddress): SocketAddress {
  if ('path' in listen) return listen;
  return { host: { '0.0.0.0': '127.0.0.1', '::': '::1' }[listen.host] ?? listen.host, port: listen.port };
}

/**
 * Asks the web server behind as a visitor.
 *
 * @param home address of the site as WordPress names it
 * @param options `guard`: where a guard that serves the site is reached, else null; `withPages`: whether to look for pages
 *   of the machine. What guard refuses is not told, so pages by other hosts are looked for only where it can be asked.
 */
export async function examineServerBehind(
  site: SiteConfig,
  home: URL,
  { guard, withPages, now }: { readonly guard: SocketAddress | null; readonly withPages: boolean; now(): number },
): Promise<ServerBehind> {
  const isAddressSeen = await askWhoIsSeen(site, home, now);
  if (!withPages) return { isAddressSeen, openPages: [] };
  const openPages: OpenPage[] = [];
  for (const host of guard === null ? [home.host] : [home.host, ...MACHINE_HOSTS]) {
    for (const path of MACHINE_PATHS) {
      const direct = await visitBehind(site, home, { host, path, now });
      // A server that does not answer is asked nothing more.
      if (direct === null) return { isAddressSeen, openPages };
      const name = recognizeMachinePage(direct, isAddressSeen);
      if (name === null) continue;
      const through = guard === null ? direct : await visitGuard(guard, home, { host, path });
      if (through !== null && recognizeMachinePage(through, isAddressSeen) !== null)
        openPages.push({ name, path, host });
    }
  }
  return { isAddressSeen, openPages };
}

const helloAddress = z.object({ address_seen: z.boolean().nullable().catch(null) });

/** @returns whether the web server named the visitor; null for any answer that does not say so with the site's key */
async function askWhoIsSeen(site: SiteConfig, home: URL, now: () => number): Promise<boolean | null> {
  const body = '{}';
  const { headers, requestId, time } = toVisitorHeaders(site, home, home.host, now());
  const nonce = randomBytes(16).toString('hex');
  const path = `${home.pathname.replace(/\/+$/, '')}/index.php?rest_route=/security-optimizer-connector/v1/hello`;
  const answer = await visit(new URL(`http://localhost${path}`), {
    method: 'POST',
    body,
    connect: toUpstreamAddress(site.upstream),
    headers: {
      ...headers,
      'content-type': 'application/json',
      'content-length': String(body.length),
      [COMMAND_HEADER]: commandHeader(site.secret, { command: 'hello', time, nonce, body }),
    },
  });
  if ('fault' in answer || answer.status !== 200) return null;
  const signal = answer.headers[SIGNAL_HEADER.toLowerCase()];
  if (readSignal(site.secret, String(signal), requestId).kind !== 'ok') return null;
  try {
    return helloAddress.parse(JSON.parse(answer.body)).address_seen;
  } catch {
    return null;
  }
}

/** @returns the web server's response; null when there is none */
async function visitBehind(
  site: SiteConfig,
  home: URL,
  { host, path, now }: { readonly host: string; readonly path: string; now(): number },
): Promise<VisitResponse | null> {
  const { headers } = toVisitorHeaders(site, home, host, now(), 'probe');
  const connect = toUpstreamAddress(site.upstream);
  const found = await visit(toUrl(path), { headers, connect });
  return 'fault' in found ? null : found;
}

/** @returns the response to a visitor of guard; null when there is none */
async function visitGuard(
  connect: SocketAddress,
  home: URL,
  { host, path }: { readonly host: string; readonly path: string },
): Promise<VisitResponse | null> {
  // Where this machine is no proxy guard believes neither header, and the page is as open.
  const headers = { host, 'x-forwarded-for': VISITOR, 'x-forwarded-proto': toScheme(home) };
  const found = await visit(toUrl(path), { headers, connect });
  return 'fault' in found ? null : found;
}

/** No cache has it, and none keeps it for a visitor. */
const toUrl = (path: string): URL => new URL(`http://localhost${path}?${randomBytes(4).toString('hex')}`);

const toScheme = (home: URL): 'http' | 'https' => (home.protocol === 'https:' ? 'https' : 'http');

/**
 * The headers of a visitor's request as guard sends it on, see `toUpstreamRequestHead`.
 * @param note `probe`: WordPress answers at once and does nothing
 */
function toVisitorHeaders(site: SiteConfig, home: URL, host: string, now: number, note: '' | 'probe' = '') {
  const scheme = toScheme(home);
  const time = Math.floor(now / 1000);
  const requestId = randomBytes(8).toString('hex');
  const signed = guardHeader(site.secret, { time, requestId, scheme, address: VISITOR }, note);
  const headers: Record<string, string> = {
    host,
    'x-forwarded-for': VISITOR,
    'x-real-ip': VISITOR,
    'x-forwarded-proto': scheme,
    'x-forwarded-host': host,
    [GUARD_HEADER]: signed,
  };
  return { headers, requestId, time };
}
