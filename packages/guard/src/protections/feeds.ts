import type { RequestFacts } from '../proxy/request-facts.js';
import { NOT_FOUND, type Protection } from './protection.js';

/** Feed types of WordPress's rewrite rules (`WP_Rewrite::$feeds`); posts and terms cannot take these names. */
const FEED_TYPES = new Set(['feed', 'rdf', 'rss', 'rss2', 'atom']);

/** Scripts from before permalinks; WordPress maps them to feeds (`WP_Rewrite`, `wp-.*\.php` rules). */
const OLD_FEED_SCRIPT = /^wp-(?:atom|rdf|rss|rss2|feed|commentsrss2)\.php$/;

/**
 * All feeds: `/feed`, `/x/feed/atom`, `/comments/feed`, `?feed=…`, `wp-rss2.php`. Feeds that a plugin registers under
 * a name of its own, or that are asked for in a POST body, only WordPress can tell: the connector refuses those.
 */
export const feeds: Protection = {
  name: 'feeds',
  onError: 'refuse',
  prepare({ options, paths }) {
    if (options.disable_feed === 0) return null;
    const admin = `${paths.admin}/`;
    return {
      check(facts) {
        if (`${facts.path}/`.startsWith(admin)) return null;
        return asksForFeed(facts) ? NOT_FOUND : null;
      },
    };
  },
};

function asksForFeed({ segments, routeSegments, query }: RequestFacts): boolean {
  const last = routeSegments[routeSegments.length - 1];
  if (last !== undefined) {
    if (FEED_TYPES.has(last)) return true;
    if (routeSegments[routeSegments.length - 2] === 'feed') return true;
  }
  const asked = query.get('feed');
  if (asked !== undefined && asked !== '') return true;
  return segments.some((segment) => OLD_FEED_SCRIPT.test(segment));
}
