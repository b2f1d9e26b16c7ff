import { isScriptName } from '../http/script-names.js';
import { FORBIDDEN, type Protection } from './protection.js';

/** Nobody runs the connector's PHP files by address; its secret lies among them. Always on. */
export const pluginFiles: Protection = {
  name: 'own-files',
  onError: 'refuse',
  compile() {
    return {
      check({ segments }) {
        const at = segments.indexOf('mu-plugins');
        if (at === -1) return null;
        const ours = segments[at + 1] === 'security-optimizer' || segments[at + 1] === 'security-optimizer.php';
        return ours && segments.slice(at + 1).some(isScriptName) ? FORBIDDEN : null;
      },
    };
  },
};
