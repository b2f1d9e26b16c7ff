import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { readLanguages } from '@security-optimizer/translations/catalogue';
import { codedTexts } from '@security-optimizer/translations/coded-texts';
import { collectTexts } from '@security-optimizer/translations/collect-texts';
import { compileJed } from '@security-optimizer/translations/compile';
import { pseudoLocale } from '@security-optimizer/translations/pseudo-locale';
import react from '@vitejs/plugin-react';
import rtlcss from 'rtlcss';
import { defineConfig } from 'vite';
import { reactParts } from '../build/react-parts.mjs';
import { syncZod } from '../build/scripts.mjs';
import { SHEETS } from '../build/styles.mjs';
import { workspaceSource } from '../build/workspace-source.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The gallery of components and pages. It is not part of the product. */
export default defineConfig({
  root: at('.'),
  plugins: [react(), reactParts(), syncZod(), sheets(), locales()],
  resolve: { alias: [workspaceSource] },
  server: { open: false },
  build: {
    outDir: at('../../../.cache/gallery'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 5000,
    rolldownOptions: {
      input: at('stage.html'),
      // Lazily loaded parts are bundled, so that no picture shows the moment before they are loaded.
      output: { codeSplitting: false },
    },
  },
});

/** Vite plugin for `import 'virtual:sheets'`: the product's style sheets for both directions. */
function sheets() {
  const ID = 'virtual:sheets';
  return {
    name: 'security-optimizer-sheets',
    resolveId: (id) => (id === ID ? `\0${ID}` : null),
    async load(id) {
      if (id !== `\0${ID}`) return null;
      const files = SHEETS.map((name) => at(`../src/${name}`));
      for (const file of files) this.addWatchFile(file);
      const source = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n');
      return `export const ltr = ${JSON.stringify(source)};\nexport const rtl = ${JSON.stringify(rtlcss.process(source))};`;
    },
  };
}

/** Vite plugin for `import 'virtual:locales'`: German, and the pseudo-locale of the layout tests. */
function locales() {
  const ID = 'virtual:locales';
  const root = at('../../..').replace(/\/$/, '');
  return {
    name: 'security-optimizer-locales',
    resolveId: (id) => (id === ID ? `\0${ID}` : null),
    async load(id) {
      if (id !== `\0${ID}`) return null;
      const german = (await readLanguages(root)).get('de_DE');
      const data = {
        de: JSON.parse(compileJed('de_DE', german, 'dashboard', codedTexts)),
        pseudo: JSON.parse(pseudoLocale(await collectTexts(root))),
      };
      return `export const locales = JSON.parse(${JSON.stringify(JSON.stringify(data))});`;
    },
  };
}
