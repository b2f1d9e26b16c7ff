import { toUpstreamAddress } from '../lib/socket-address.js';

/** Where guard's connections to a web server come from, as that server names it. @param upstream `SiteConfig.upstream` */
export function toGuardSource(upstream: string): { readonly nginx: string; readonly apache: string } {
  const address = toUpstreamAddress(upstream);
  // Apache does not listen at socket files.
  if ('path' in address) return { nginx: 'unix:', apache: '127.0.0.1' };
  const { host } = address;
  if (host === '::1') return { nginx: '::1', apache: '::1' };
  if (host === 'localhost' || host.startsWith('127.')) return { nginx: '127.0.0.1', apache: '127.0.0.1' };
  return { nginx: 'ADDRESS_OF_GUARD', apache: 'ADDRESS_OF_GUARD' };
}

/** How the web server behind guard gets to see each visitor's address, in one sentence. */
export function toRealAddressAdvice(upstream: string): string {
  const { nginx, apache } = toGuardSource(upstream);
  return `Let it take the address from guard: nginx \`set_real_ip_from ${nginx}; real_ip_header X-Forwarded-For;\`, Apache (mod_remoteip) \`RemoteIPHeader X-Forwarded-For\` and \`RemoteIPInternalProxy ${apache}\`. See docs/operations.md, “Each visitor’s address”.`;
}
