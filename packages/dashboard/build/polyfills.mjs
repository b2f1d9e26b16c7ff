import compat from 'core-js-compat';
import { LEGACY_BROWSERS } from './browsers.mjs';

const ID = 'virtual:polyfills';

/** Parts of the language that the dashboard and its libraries use. */
const LANGUAGE =
  /^es\.(?:aggregate-error|array(?!-)|error|function|global-this|map|number|object|promise|reflect|regexp|set$|string|symbol|weak-)/;
/** Features of core-js that are not part of the language. */
const WEB = /^web\.(?:dom-collections|queue-microtask|structured-clone|url|url-search-params|immediate)/;

/**
 * Vite plugin for `import 'virtual:polyfills'`: the modules of core-js that at least one of the oldest browsers
 * lacks, by core-js's own table.
 */
export function polyfills() {
  return {
    name: 'security-optimizer-polyfills',
    resolveId: (id) => (id === ID ? `\0${ID}` : null),
    load(id) {
      if (id !== `\0${ID}`) return null;
      const { list } = compat({ targets: LEGACY_BROWSERS, modules: [LANGUAGE, WEB] });
      return list.map((name) => `import 'core-js/modules/${name}.js';`).join('\n');
    },
  };
}
