/** Address for a browser on this machine: an address that stands for "all of them" is reached as localhost. */
export function siteUrlOf(host: string, port: number): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const name = everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  // Without the port where it is the usual one, as browsers send it and as WordPress compares it.
  return new URL(`http://${name}:${port}`).origin;
}
