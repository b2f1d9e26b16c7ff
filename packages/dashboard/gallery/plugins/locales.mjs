import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { collectTexts } from '../../../../scripts/lib/texts/collect-texts.mjs';
import { compileJed } from '../../../../scripts/lib/texts/compile.mjs';
import { readLanguages } from '../../../../scripts/lib/texts/languages.mjs';
import { pseudoLocale } from '../../../../scripts/lib/texts/pseudo-locale.mjs';

const ID = 'virtual:locales';
const root = join(fileURLToPath(import.meta.url), '../../../../..');

/** Vite plugin for `import 'virtual:locales'`: German, and the language of the layout tests. */
export function locales() {
  return {
    name: 'security-optimizer-locales',
    resolveId: (id) => (id === ID ? `\0${ID}` : null),
    async load(id) {
      if (id !== `\0${ID}`) return null;
      const german = (await readLanguages(root)).get('de_DE');
      const data = {
        de: JSON.parse(compileJed('de_DE', german, 'dashboard')),
        pseudo: JSON.parse(pseudoLocale(await collectTexts(root))),
      };
      return `export const locales = JSON.parse(${JSON.stringify(JSON.stringify(data))});`;
    },
  };
}
