/** Host and port as URLs and the header `Host` write them (RFC 3986 section 3.2): an IPv6 address stands in brackets. */
export function authorityOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The host of an authority, without its port. */
export function withoutPort(authority: string): string {
  return authority.replace(/:\d+$/, '');
}
