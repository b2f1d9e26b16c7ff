/**
 * Where a visitor may be sent after logging in: a page of the same host, else `fallback`. Read as a browser reads it
 * (URL Standard), since browsers skip tabs and take a backslash for a slash.
 *
 * @param target a path or an address, as WordPress gave it
 * @param at scheme and host, with port, of the page that redirects
 */
export function safeRedirect(
  target: string,
  at: { readonly scheme: 'http' | 'https'; readonly host: string },
  fallback: string,
): string {
  const here = `${at.scheme}://${at.host}`;
  let url: URL;
  try {
    url = new URL(target, `${here}/`);
  } catch {
    return fallback;
  }
  const web = url.protocol === 'http:' || url.protocol === 'https:';
  if (target === '' || !web || url.username !== '' || url.password !== '' || !sameHost(url, at)) return fallback;
  // WordPress knows its scheme better than guard does behind a proxy, so a whole address keeps its own.
  return /^https?:\/\//i.test(target) ? url.href : `${here}${url.pathname}${url.search}${url.hash}`;
}

function sameHost(url: URL, at: { readonly host: string }): boolean {
  return URL.canParse(`${url.protocol}//${at.host}`) && url.host === new URL(`${url.protocol}//${at.host}`).host;
}
