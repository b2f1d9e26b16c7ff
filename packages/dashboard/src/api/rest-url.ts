/** Values of a query string; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/**
 * Address of a route below the REST root. The root has one of two forms: a path (`https://x/wp-json/`) or, with
 * plain permalinks, a query (`https://x/index.php?rest_route=/`). Slashes of the route stay as they are.
 *
 * @param root REST root, absolute or relative to `base`
 * @param route namespace and suffix, for example `security-optimizer/v1/fetch-options`
 * @param base address of the page that is open
 */
export function restUrl(root: string, route: string, query: Query, base: string): string {
  const url = new URL(root, base);
  const path = route.replace(/^\/+/, '');
  const inQuery = /([?&]rest_route=)([^&]*)/;
  if (inQuery.test(url.search)) {
    url.search = url.search.replace(inQuery, (_all, name: string, value: string) => {
      return `${name}${value.replace(/(?:\/|%2F)+$/i, '')}/${path}`;
    });
  } else {
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  }
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    const pair = `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`;
    url.search = url.search === '' ? `?${pair}` : `${url.search}&${pair}`;
  }
  return url.href;
}
