/**
 * Conclusions about the upstream web server: which address it sees for a visitor, and which pages for the machine alone
 * it serves. Pure rules. `upstream-server-visits` sends the requests.
 */
import { guideFile } from '../lib/guides.js';
import { toUpstreamAddress } from '../lib/socket-address.js';

/**
 * Source of guard's connections in the syntax of a web server's configuration. @param upstream `SiteConfig.upstream`
 */
function toGuardSource(upstream: string): { readonly nginx: string; readonly apache: string } {
  const address = toUpstreamAddress(upstream);
  // Apache does not listen on Unix sockets.
  if ('path' in address) return { nginx: 'unix:', apache: '127.0.0.1' };
  const { host } = address;
  if (host === '::1') return { nginx: '::1', apache: '::1' };
  if (host === 'localhost' || host.startsWith('127.')) return { nginx: '127.0.0.1', apache: '127.0.0.1' };
  return { nginx: 'ADDRESS_OF_GUARD', apache: 'ADDRESS_OF_GUARD' };
}

/** How to configure the upstream web server so that it sees each visitor's address, in two sentences. */
export function toRealAddressAdvice(upstream: string): string {
  const { nginx, apache } = toGuardSource(upstream);
  return `Let it take the address from guard: nginx \`set_real_ip_from ${nginx}; real_ip_header X-Forwarded-For;\`, Apache (mod_remoteip) \`RemoteIPHeader X-Forwarded-For\` and \`RemoteIPInternalProxy ${apache}\`. See ${guideFile('operations.md')}, “Each visitor’s address”.`;
}

/** A page that servers offer to their own machine. */
interface MachinePage {
  readonly name: string;
  readonly paths: readonly string[];
  /** Content that only that page has: a page of WordPress at the same path must not match. */
  readonly content: RegExp;
  /** The page requires a password, so it may be public on purpose when the server can tell visitors apart. */
  readonly hasLogin?: true;
}

/**
 * The usual pages: from the manuals of nginx, PHP-FPM and Apache, Debian's packages (munin, phpMyAdmin), and cPanel.
 * PHP-FPM's `/ping` is not included: it only says `pong`, and external monitors request it.
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

/** All paths without duplicates. */
export const MACHINE_PATHS: readonly string[] = [...new Set(MACHINE_PAGES.flatMap(({ paths }) => paths))];

/** Host names of the machine, for which the web server may have a separate `server`. */
export const MACHINE_HOSTS = ['localhost', '127.0.0.1'] as const;

/**
 * Identifies a page of the machine by its response.
 *
 * @param isAddressSeen whether the web server distinguishes visitors from the machine; null when it is not known
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

/** A page of the machine that every visitor can read. */
export interface OpenPage {
  /** For example `the state of nginx`. */
  readonly name: string;
  readonly path: string;
  /** The requested host. */
  readonly host: string;
}

/** State of the upstream web server as seen by a visitor. */
export interface UpstreamServer {
  /** Whether it sees each visitor's address; null when it is not known, as with a connector of an older version. */
  readonly isAddressSeen: boolean | null;
  readonly openPages: readonly OpenPage[];
  /**
   * Host and port where a page cache answers direct requests of other machines, although WordPress refuses them; null
   * when it answers none, or it is not known.
   */
  readonly cachePastGuard: string | null;
}

/** The problem with such a cache, and the remedy. @param address `UpstreamServer.cachePastGuard` */
export function describeCachePastGuard(address: string): { readonly message: string; readonly advice: string } {
  return {
    message: `A page cache behind guard answers before the connector can refuse: who asks ${address} gets pages without guard, also who is blocked.`,
    advice: `Let the web server behind listen where guard alone reaches it: 127.0.0.1 or a socket file, and on another machine behind a firewall that lets in guard’s address alone. See ${guideFile('operations.md')}, “A page cache behind guard”.`,
  };
}

/** The problems and their remedies, one sentence each. @param upstream `SiteConfig.upstream` */
export function toUpstreamServerWarnings(
  { isAddressSeen, openPages, cachePastGuard }: UpstreamServer,
  upstream: string,
): string[] {
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
  if (cachePastGuard !== null) {
    const { message, advice } = describeCachePastGuard(cachePastGuard);
    warnings.push(`${message} ${advice}`);
  }
  return warnings;
}
