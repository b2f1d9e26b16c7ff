import { isScriptName } from '../http/path-segments.js';
import { FORBIDDEN, type Rule } from './rule.js';

/** Name of the folder of must-use plugins, unless the site has configured another (`WPMU_PLUGIN_DIR`). */
const USUAL = 'mu-plugins';

/** No client may request the connector's PHP files; its secret is among them. Always on. */
export const pluginFiles: Rule = {
  name: 'own-files',
  onError: 'refuse',
  compile({ paths }) {
    const own = paths.muPlugins?.slice(paths.muPlugins.lastIndexOf('/') + 1) ?? USUAL;
    return {
      check({ segments }) {
        const usual = segments.indexOf(USUAL);
        const at = usual === -1 ? segments.indexOf(own) : usual;
        if (at === -1) return null;
        const ours = segments[at + 1] === 'security-optimizer' || segments[at + 1] === 'security-optimizer.php';
        return ours && segments.slice(at + 1).some(isScriptName) ? FORBIDDEN : null;
      },
    };
  },
};
