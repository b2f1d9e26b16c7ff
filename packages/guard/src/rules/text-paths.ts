import type { RequestFacts } from '../http/request-facts.js';
import type { SitePaths } from '../site.js';

/** WordPress's bases of searches, terms and authors (`WP_Rewrite`), which no folder of a site is called like. */
const TEXT_BASES = ['search', 'tag', 'category', 'author'];
/** A folder that plugins for several languages put in front: `/en/`, `/pt-br/`, `/zh_hant/`. */
const LANGUAGE = /^[a-z]{2,3}(?:[-_][a-z]{2,4})?$/;

/** The parts of the facts that the answer depends on. */
export type TextPathFacts = Pick<RequestFacts, 'routeSegments'>;

/**
 * Prepares the question whether the names of a path are text that WordPress reads and not files: words of a search,
 * terms, authors and arguments of the REST API. Never in a network: the rules for its web servers drop the first folder in front of a
 * script, so that `/search/xmlrpc.php` is XML-RPC of the site `search`.
 */
export function compileTextPaths(paths: SitePaths, multisite: boolean): (facts: TextPathFacts) => boolean {
  if (multisite) return () => false;
  const rest = paths.rest.split('/').slice(1);
  const { admin, content, includes, uploads } = paths;
  // Without those that are folders of WordPress all the same.
  const bases = TEXT_BASES.filter(
    (base) => ![admin, content, includes, uploads].some((path) => path.startsWith(`${paths.home}/${base}/`)),
  );
  return ({ routeSegments }) => {
    if (routeSegments.length > rest.length && rest.every((name, i) => routeSegments[i] === name)) return true;
    const [first = '', second = ''] = routeSegments;
    if (routeSegments.length > 1 && bases.includes(first)) return true;
    return routeSegments.length > 2 && bases.includes(second) && LANGUAGE.test(first);
  };
}
