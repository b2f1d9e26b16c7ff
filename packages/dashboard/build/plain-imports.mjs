/**
 * Vite plugin for builds without style sheets and preload hints of their own: dynamic imports stay plain. Vite would
 * send each through a helper that waits for both.
 */
export function plainImports() {
  const HELPER = '\0vite/preload-helper.js';
  return {
    name: 'security-optimizer-plain-imports',
    enforce: 'pre',
    load: (id) => (id === HELPER ? 'export const __vitePreload = (load) => load();' : null),
  };
}
