import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import rtlcss from 'rtlcss';
import { createServer } from 'vite';
import { SHEETS } from './styles.mjs';
import { workspaceSource } from './workspace-source.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
/** Path of the sources in the site's URL space; other paths belong to the site. */
const BASE = '/@dashboard/';
const ENTRY = 'development-entry';

/** Starts the dashboard in a page of the site; WordPress prints it in the head. */
export const developmentScript = `(function () {
  var script = document.createElement('script');
  script.type = 'module';
  script.src = '${BASE}@id/${ENTRY}';
  document.head.appendChild(script);
})();
`;

/**
 * Serves a site, and the dashboard from its sources below the same origin. Open pages are updated when a
 * source changes. It must be the same origin, because guard's policy for scripts allows no other.
 *
 * @param {{ host: string, port: number, site: string, ready: () => Promise<void> }} options `site` is the origin of
 *   guard; requests wait until `ready`
 * @returns {Promise<{ close: () => Promise<void> }>}
 */
export async function startDevServer({ host, port, site, ready }) {
  const server = await createServer({
    configFile: false,
    root,
    base: BASE,
    cacheDir: fileURLToPath(new URL('../../../.cache/dashboard-dev', import.meta.url)),
    logLevel: 'warn',
    appType: 'custom',
    plugins: [react(), developmentEntry(), rightToLeft(), waitFor(ready)],
    resolve: { alias: [workspaceSource] },
    optimizeDeps: { entries: ['src/**/*.tsx', '!**/*.test.tsx'] },
    server: {
      host,
      port,
      strictPort: true,
      cors: false,
      fs: { allow: [fileURLToPath(new URL('../../..', import.meta.url))] },
      proxy: { [`^(?!${BASE})`]: { target: site, ws: true } },
    },
  });
  await server.listen();
  return { close: () => server.close() };
}

/** Holds requests until the server that responds to them is ready. */
function waitFor(ready) {
  return {
    name: 'security-optimizer-wait',
    configureServer(server) {
      server.middlewares.use((_request, _response, next) => {
        ready().then(() => next(), next);
      });
    },
  };
}

/** The module that prepares the page for updates, adds the style sheets in order, and starts the dashboard. */
function developmentEntry() {
  const sheets = (query) => SHEETS.map((name) => `await import('/src/${name}${query}');`).join('\n');
  return {
    name: 'security-optimizer-development-entry',
    resolveId: (id) => (id === ENTRY ? id : null),
    load: (id) =>
      id === ENTRY
        ? `import '/@vite/client';
import '@vitejs/plugin-react/preamble';
if (document.documentElement.dir === 'rtl') {
${sheets('?rtl')}
} else {
${sheets('')}
}
await import('/src/main.ts');
`
        : null,
  };
}

/** `sheet.css?rtl` is the sheet for right-to-left languages. */
function rightToLeft() {
  return {
    name: 'security-optimizer-right-to-left',
    enforce: 'pre',
    transform: (code, id) => (/\.css\?.*\brtl\b/.test(id) ? { code: rtlcss.process(code), map: null } : null),
  };
}
