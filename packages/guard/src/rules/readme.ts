import { inWordPressFolder, NOT_FOUND, type Protection } from './protection.js';

/** WordPress's own readme in the folder of the site. The connector deletes the file; meanwhile nobody reads it. */
export const readme: Protection = {
  name: 'readme',
  onError: 'refuse',
  compile({ options, paths }) {
    if (options.delete_readme === 0) return null;
    const inside = inWordPressFolder(paths);
    return { check: (facts) => (facts.routeSegments.at(-1) === 'readme.html' && inside(facts) ? NOT_FOUND : null) };
  },
};
