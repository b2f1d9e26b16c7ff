import type { RequestFacts } from '../http/request-facts.js';
import { DEFAULT_BASES, listFolderAddresses } from '../site.js';
import { FEED_NOT_FOUND, NOT_FOUND, type Refusal, type Rule } from './rule.js';

/** Feed types of WordPress's rewrite rules (`WP_Rewrite::$feeds`). Posts and terms can't have these names. */
const FEED_TYPES = new Set(['feed', 'rdf', 'rss', 'rss2', 'atom']);

/** Scripts that precede permalinks. WordPress maps them to feeds (`WP_Rewrite`, `wp-.*\.php` rules). */
const OLD_FEED_SCRIPT = /^wp-(?:atom|rdf|rss|rss2|feed|commentsrss2)\.php$/;

/**
 * All feeds: `/feed`, `/comments/feed`, `/category/news/feed/atom`, `?feed=…`, `wp-rss2.php`. Only WordPress's rewrite
 * rules determine whether `/topics/rss/` is the feed of a page or a term of that name: the connector decides, and guard
 * does not forward a feed without the connector's signature, for example from a cache. Feeds that a plugin registers
 * under its own name, or that a POST body requests, are visible to the connector only.
 */
export const feeds: Rule = {
  name: 'feeds',
  onError: 'refuse',
  compile({ options, paths }) {
    if (options.disable_feed === 0) return null;
    const screens = new Set(
      listFolderAddresses(paths, 'admin').flatMap((admin) => ADMIN_SCREENS.map((name) => `${admin}/${name}`)),
    );
    const bases = new Set((paths.bases ?? DEFAULT_BASES).feed);
    const rest = `${paths.rest}/`;
    return {
      check(facts) {
        // WordPress matches REST routes before feeds; the RSS block has a route that ends in `rss`.
        const byPath = facts.route.startsWith(rest) ? null : readFeedPath(facts, bases);
        if (byPath === NOT_FOUND) return NOT_FOUND;
        const requested = facts.query.all('feed').some((value) => value !== '');
        return requested && !screens.has(facts.path) ? NOT_FOUND : byPath;
      },
    };
  },
};

/** Screens of wp-admin that plugins use: a parameter named `feed` belongs to the plugin there. */
const ADMIN_SCREENS = ['', 'admin.php', 'admin-ajax.php', 'admin-post.php', 'edit.php', 'post.php', 'tools.php'];

const YEAR = /^\d{4}$/;

/**
 * Reads the feed in a path.
 * @param bases first folders below which WordPress's own rules make a feed of every path with a feed type after two
 *   names. `search` and one name are a search for it, `tag` and one name a term
 */
function readFeedPath({ segments, routeSegments }: RequestFacts, bases: ReadonlySet<string>): Refusal | null {
  const last = routeSegments[routeSegments.length - 1];
  if (last !== undefined) {
    const first = routeSegments[0] as string;
    const before = routeSegments[routeSegments.length - 2];
    if (FEED_TYPES.has(last)) return isCertainFeed(first, routeSegments, bases) ? NOT_FOUND : FEED_NOT_FOUND;
    // A feed of a plugin's own type, or a term `feed` with a child term.
    if (before === 'feed') return FEED_NOT_FOUND;
  }
  return segments.some((segment) => OLD_FEED_SCRIPT.test(segment)) ? NOT_FOUND : null;
}

/**
 * Whether the path is certainly a feed.
 * @param route segments of the route, of which the last is a feed type
 */
function isCertainFeed(first: string, route: readonly string[], bases: ReadonlySet<string>): boolean {
  if (route.length === 1) return true;
  if (first === 'feed') return route.length === 2;
  if (first === 'comments') return route.length === 2 || (route.length === 3 && route[1] === 'feed');
  if (bases.has(first)) return route.length > 2;
  return YEAR.test(first);
}
