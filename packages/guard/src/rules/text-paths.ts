import type { RequestFacts } from '../http/request-facts.js';
import { DEFAULT_BASES, isLanguageFolder, listFolderAddresses, type SitePaths } from '../site.js';

/** The facts that determine the result. */
export type TextPathFacts = Pick<RequestFacts, 'routeSegments'>;

/**
 * Compiles the check whether the names of a path are text that WordPress reads, and not files: words of a search,
 * terms, authors, posts and arguments of the REST API. No folder of the site has the name of a base. Always false in a
 * network: the rules for its web servers drop the first folder in front of a script, so that `/search/xmlrpc.php` is
 * XML-RPC of the site `search`.
 */
export function compileTextPaths(paths: SitePaths, multisite: boolean): (facts: TextPathFacts) => boolean {
  if (multisite) return () => false;
  const rest = paths.rest.split('/').slice(1);
  const folders = (['admin', 'content', 'includes', 'uploads'] as const).flatMap((name) =>
    listFolderAddresses(paths, name),
  );
  // Excludes bases that are also folders of WordPress.
  const bases = (paths.bases ?? DEFAULT_BASES).text
    .filter((base) => !folders.some((path) => `${path}/`.startsWith(`${paths.home}/${base}/`)))
    .map((base) => base.split('/'));
  // A shop has dozens of them, and several rules evaluate each request.
  const byFirst = new Map<string, string[][]>();
  for (const base of bases) byFirst.set(base[0] as string, [...(byFirst.get(base[0] as string) ?? []), base]);
  const isAfterBase = (route: readonly string[], from: number): boolean =>
    byFirst
      .get(route[from] as string)
      ?.some((base) => route.length > from + base.length && base.every((name, i) => route[from + i] === name)) ?? false;
  return ({ routeSegments }) => {
    if (routeSegments.length > rest.length && rest.every((name, i) => routeSegments[i] === name)) return true;
    if (routeSegments.length < 2) return false;
    if (isAfterBase(routeSegments, 0)) return true;
    return isAfterBase(routeSegments, 1) && isLanguageFolder(routeSegments[0] as string, paths.languages);
  };
}
