import { isScriptName } from '../http/path-segments.js';
import { FORBIDDEN, type Rule } from './rule.js';

/** Name of the folder of must-use plugins, unless the site has configured another (`WPMU_PLUGIN_DIR`). */
const DEFAULT_FOLDER = 'mu-plugins';

/** No client may request the connector's PHP files; its secret is among them. Always on. */
export const pluginFiles: Rule = {
  name: 'own-files',
  onError: 'refuse',
  compile({ paths }) {
    const own = paths.muPlugins?.slice(paths.muPlugins.lastIndexOf('/') + 1) ?? DEFAULT_FOLDER;
    return {
      check({ segments }) {
        const defaultIndex = segments.indexOf(DEFAULT_FOLDER);
        const at = defaultIndex === -1 ? segments.indexOf(own) : defaultIndex;
        if (at === -1) return null;
        const isPluginFile = segments[at + 1] === 'security-optimizer' || segments[at + 1] === 'security-optimizer.php';
        return isPluginFile && segments.slice(at + 1).some(isScriptName) ? FORBIDDEN : null;
      },
    };
  },
};
