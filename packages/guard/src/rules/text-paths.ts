import type { RequestFacts } from '../http/request-facts.js';
import type { SitePaths } from '../site.js';

/** WordPress's base of searches by path (`WP_Rewrite::$search_base`). */
const SEARCH_BASE = 'search';
/** A folder that plugins for several languages put in front: `/en/`, `/pt-br/`, `/zh_hant/`. */
const LANGUAGE = /^[a-z]{2,3}(?:[-_][a-z]{2,4})?$/;

/** The parts of the facts that the answer depends on. */
export type TextPathFacts = Pick<RequestFacts, 'routeSegments'>;

/**
 * Prepares the question whether the names of a path are text that WordPress reads and not files: words of a search, and
 * arguments of the REST API. Never in a network: the rules for its web servers drop the first folder in front of a
 * script, so that `/search/xmlrpc.php` is XML-RPC of the site `search`.
 */
export function compileTextPaths(paths: SitePaths, multisite: boolean): (facts: TextPathFacts) => boolean {
  if (multisite) return () => false;
  const rest = paths.rest.split('/').slice(1);
  const { admin, content, includes, uploads } = paths;
  const search = `${paths.home}/${SEARCH_BASE}`;
  // A folder of that name that holds files.
  const isFolder = [admin, content, includes, uploads].some((path) => path.startsWith(`${search}/`));
  return ({ routeSegments }) => {
    if (routeSegments.length > rest.length && rest.every((name, i) => routeSegments[i] === name)) return true;
    const first = routeSegments[0];
    if (routeSegments.length < 2 || first === undefined || isFolder) return false;
    if (first === SEARCH_BASE) return true;
    return routeSegments.length > 2 && routeSegments[1] === SEARCH_BASE && LANGUAGE.test(first);
  };
}
