import { FORBIDDEN, type Rule } from './rule.js';
import { compileTextPaths } from './text-paths.js';

const SAVE_ACTION = 'edit-theme-plugin-file';
const EDITOR_SCREENS = new Set(['theme-editor.php', 'plugin-editor.php']);

/**
 * The theme and plugin file editors of wp-admin (site and network), and the AJAX action that saves their files. The
 * connector enforces actions in a POST body, and the capabilities.
 */
export const fileEditors: Rule = {
  name: 'file-editors',
  onError: 'refuse',
  compile({ options, paths, multisite = false }) {
    if (options.disable_file_edit === 0) return null;
    const isText = compileTextPaths(paths, multisite);
    return {
      check(facts) {
        const { segments, query } = facts;
        for (const segment of segments) {
          if (EDITOR_SCREENS.has(segment)) return isText(facts) ? null : FORBIDDEN;
          if (segment === 'admin-ajax.php' && query.all('action').includes(SAVE_ACTION)) return FORBIDDEN;
        }
        return null;
      },
    };
  },
};
