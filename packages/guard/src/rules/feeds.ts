import type { RequestFacts } from '../http/request-facts.js';
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
  compile({ options, paths }) {
    if (options.disable_feed === 0) return null;
    const screens = new Set(ADMIN_SCREENS.map((name) => `${paths.admin}/${name}`));
    const rest = `${paths.rest}/`;
    return {
      check(facts) {
        // Routes of the REST API come before feeds in WordPress's rules; the RSS block has one that ends in `rss`.
        if (!facts.route.startsWith(rest) && isFeedPath(facts)) return NOT_FOUND;
        const asked = facts.query.all('feed').some((value) => value !== '');
        return asked && !screens.has(facts.path) ? NOT_FOUND : null;
      },
    };
  },
};

/** Screens of wp-admin that plugins live on: a parameter named `feed` is the plugin's own there. */
const ADMIN_SCREENS = ['', 'admin.php', 'admin-ajax.php', 'admin-post.php', 'edit.php', 'post.php', 'tools.php'];

/** WordPress's standard bases of terms: `/tag/rss` is a term of that name, `/tag/rss/feed` its feed. */
const TERM_BASES = new Set(['category', 'tag']);

function isFeedPath({ segments, routeSegments }: RequestFacts): boolean {
  const last = routeSegments[routeSegments.length - 1];
  if (last !== undefined) {
    const before = routeSegments[routeSegments.length - 2];
    if (before === 'feed') return true;
    if (FEED_TYPES.has(last)) return !(routeSegments.length === 2 && TERM_BASES.has(before as string));
  }
  return segments.some((segment) => OLD_FEED_SCRIPT.test(segment));
}
