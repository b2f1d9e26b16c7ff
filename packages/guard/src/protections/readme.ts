import { NOT_FOUND, type Protection } from './protection.js';

/** WordPress's own readme in the folder of the site. The connector deletes the file; meanwhile nobody reads it. */
export const readme: Protection = {
  name: 'readme',
  onError: 'refuse',
  prepare({ options }) {
    if (options.delete_readme === 0) return null;
    return { check: ({ routeSegments }) => (isRootFile(routeSegments, 'readme.html') ? NOT_FOUND : null) };
  },
};

/** Whether a route is a file right in the folder of the site or of WordPress (which may have a folder of its own). */
export function isRootFile(routeSegments: readonly string[], name: string): boolean {
  return routeSegments.length <= 2 && routeSegments[routeSegments.length - 1] === name;
}
