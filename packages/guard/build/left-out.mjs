// Files of packages that guard never runs, but that a bundler keeps, since it can't know. What needs them fails with a
// message that names the package, in tests that run the bundle and not only on a site.

/** Throws when it is loaded, as a package that isn't installed does. */
const notBundled = (name) =>
  `throw Object.assign(new Error("${name} is not part of guard's bundle"), { code: 'MODULE_NOT_FOUND' });`;

/** What takes the place of each file, by its path in `node_modules`. */
const LEFT_OUT = new Map([
  // The contract's own schemas check requests; api-app gives Fastify compilers that refuse JSON schemas.
  ['@fastify/ajv-compiler/index.js', notBundled('@fastify/ajv-compiler')],
  ['@fastify/fast-json-stringify-compiler/index.js', notBundled('@fastify/fast-json-stringify-compiler')],
  // For `inject`, with which tests call a server.
  ['light-my-request/index.js', notBundled('light-my-request')],
  // For exemplars, which are switched off. It is loaded with the metrics of the process.
  ['@opentelemetry/api/dist/index.cjs', 'module.exports = {};'],
  // The renderers for streams. The build fails when another export is used.
  [
    'react-dom/server.node.js',
    "export { renderToStaticMarkup } from './cjs/react-dom-server-legacy.node.production.js';",
  ],
  // The client on top of the native library pg-native, which guard does not install.
  ['pg/lib/native/index.js', notBundled('pg-native')],
]);

/**
 * Replaces these files in all builds that use the plugin.
 *
 * @returns `{ plugin, findUnknown }`; `findUnknown()` lists the files that no build has loaded, such as those that an
 *   update of their package renamed.
 */
export function leaveOut() {
  const replaced = new Set();
  const plugin = {
    name: 'left-out',
    load: {
      filter: { id: /\/node_modules\// },
      handler(id) {
        const path = id.slice(id.lastIndexOf('/node_modules/') + '/node_modules/'.length);
        const code = LEFT_OUT.get(path);
        if (code === undefined) return null;
        replaced.add(path);
        return { code, moduleSideEffects: false };
      },
    },
  };
  return { plugin, findUnknown: () => [...LEFT_OUT.keys()].filter((path) => !replaced.has(path)) };
}
