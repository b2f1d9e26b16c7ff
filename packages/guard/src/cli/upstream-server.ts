/**
 * What is concluded from what the web server behind guard takes a visitor for, and from the pages for the machine alone that
 * it hands out: pure rules. `server-behind-visits` asks.
 */
import { toUpstreamAddress } from '../lib/socket-address.js';

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
  return `Let it take the address from guard: nginx \`set_real_ip_from ${nginx}; real_ip_header X-Forwarded-For;\`, Apache (mod_remoteip) \`RemoteIPHeader X-Forwarded-For\` and \`RemoteIPInternalProxy ${apache}\`. See docs/operator/operations.md, “Each visitor’s address”.`;
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
export interface UpstreamServer {
  /** Whether it sees each visitor's address; null when that is not known, as with a connector of an older version. */
  readonly isAddressSeen: boolean | null;
  readonly openPages: readonly OpenPage[];
  /**
   * Host and port where a page cache gives pages to others than this machine who come past guard, though WordPress refuses
   * them; null when nobody gets any, and where it can't be known.
   */
  readonly cachePastGuard: string | null;
}

/** What is wrong with such a cache, and what ends it. @param address `ServerBehind.cachePastGuard` */
export function describeCachePastGuard(address: string): { readonly message: string; readonly advice: string } {
  return {
    message: `A page cache behind guard answers before the connector can refuse: who asks ${address} gets pages without guard, also who is blocked.`,
    advice:
      'Let the web server behind listen where guard alone reaches it: 127.0.0.1 or a socket file, and on another machine behind a firewall that lets in guard’s address alone. See docs/operator/operations.md, “A page cache behind guard”.',
  };
}

/** What is wrong there, one sentence each with the way out. @param upstream `SiteConfig.upstream` */
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
