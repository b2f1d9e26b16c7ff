import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import rtlcss from 'rtlcss';
import { defineConfig } from 'vite';
import { collectTexts } from '../../../scripts/lib/texts/collect-texts.mjs';
import { compileJed } from '../../../scripts/lib/texts/compile.mjs';
import { readLanguages } from '../../../scripts/lib/texts/languages.mjs';
import { readMessageCodes } from '../../../scripts/lib/texts/message-codes.mjs';
import { pseudoLocale } from '../../../scripts/lib/texts/pseudo-locale.mjs';
import { contractSource } from '../build/contract-source.mjs';
import { reactParts } from '../build/react-parts.mjs';
import { SHEETS } from '../build/styles.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The gallery of components and pages. Nothing of it is shipped. */
export default defineConfig({
  root: at('.'),
  plugins: [react(), reactParts(), sheets(), locales()],
  resolve: { alias: [contractSource] },
  server: { open: false },
  build: {
    outDir: at('../../../.cache/gallery'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 5000,
    rolldownOptions: {
      input: at('stage.html'),
      // What a page fetches later is there at once, so that a picture never shows the moment before.
      output: { codeSplitting: false },
    },
  },
});

/** Vite plugin for `import 'virtual:sheets'`: the style sheets as they are shipped, in both directions. */
function sheets() {
  const ID = 'virtual:sheets';
  return {
    name: 'security-optimizer-sheets',
    resolveId: (id) => (id === ID ? `\0${ID}` : null),
    async load(id) {
      if (id !== `\0${ID}`) return null;
      const files = SHEETS.map((name) => at(`../src/styles/${name}.css`));
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
        de: JSON.parse(compileJed('de_DE', german, 'dashboard', await readMessageCodes(root))),
        pseudo: JSON.parse(pseudoLocale(await collectTexts(root))),
      };
      return `export const locales = JSON.parse(${JSON.stringify(JSON.stringify(data))});`;
    },
  };
}
