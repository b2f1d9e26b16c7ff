import { removeHeader } from '../http/headers.js';
import { FILE_NOT_FOUND, inWordPressFolder, NOT_FOUND, type Rule } from './rule.js';
import { compileTextPaths } from './text-paths.js';

/**
 * Files in WordPress's folder that name its version: the readme, the licence and their translations in localised
 * packages. Headers that name software and version are removed; the connector handles pages, feeds and `?ver=`.
 */
const VERSION_FILE =
  /^(?:readme|license|licence|liesmich|lisezmoi|leggimi|leame|leiame|licens|licencia|licenza|lizenz)(?:[-_][a-z_]{2,6})?\.(?:html?|txt|md)$/;

export const wordpressVersion: Rule = {
  name: 'wordpress-version',
  onError: 'allow',
  compile({ options, paths, multisite = false }) {
    if (options.wp_remove_version === 0) return null;
    const inside = inWordPressFolder(paths);
    const isText = compileTextPaths(paths, multisite);
    return {
      check(facts) {
        const last = facts.routeSegments[facts.routeSegments.length - 1];
        if (last === undefined || !VERSION_FILE.test(last) || !inside(facts)) return null;
        return isText(facts) ? FILE_NOT_FOUND : NOT_FOUND;
      },
      stripRequestHeaders: ({ segments }) => (isBundle(segments) ? CONDITION : null),
      editResponseHeaders({ segments }, headers) {
        if (isBundle(segments)) removeHeader(headers, 'etag');
        removeHeader(headers, 'x-powered-by');
        removeHeader(headers, 'x-generator');
        removeHeader(headers, 'server');
      },
    };
  },
};

/**
 * The responses of these two scripts have the version as `ETag`, and a client may test whether it matches
 * (`If-None-Match`).
 */
const BUNDLES = new Set(['load-styles.php', 'load-scripts.php']);
const CONDITION: ReadonlySet<string> = new Set(['if-none-match']);

function isBundle(segments: readonly string[]): boolean {
  return segments.some((segment) => BUNDLES.has(segment));
}
