import type { RequestFacts } from '../proxy/request-facts.js';
import type { SitePaths } from '../site.js';

/**
 * Whether the last name of a path is right in the folder of the site or of WordPress, which may have a folder of its
 * own. Until the connector has told where, any first folder counts.
 */
export function insideWordPress({ admin }: SitePaths): (facts: RequestFacts) => boolean {
  const root = admin.slice(0, admin.lastIndexOf('/'));
  return ({ segments, routeSegments }) =>
    routeSegments.length <= 2 || (root !== '' && segments.slice(0, -1).join('/') === root.slice(1));
}
