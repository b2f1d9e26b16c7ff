import { FILE_NOT_FOUND, inWordPressFolder, NOT_FOUND, type Rule } from './rule.js';
import { compileTextPaths } from './text-paths.js';

/** WordPress's own readme in the folder of the site. The connector deletes the file; until then guard refuses it. */
export const readme: Rule = {
  name: 'readme',
  onError: 'refuse',
  compile({ options, paths, multisite = false }) {
    if (options.delete_readme === 0) return null;
    const inside = inWordPressFolder(paths);
    const isText = compileTextPaths(paths, multisite);
    return {
      check(facts) {
        if (facts.routeSegments.at(-1) !== 'readme.html' || !inside(facts)) return null;
        return isText(facts) ? FILE_NOT_FOUND : NOT_FOUND;
      },
    };
  },
};
