import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import rtlcss from 'rtlcss';
import { SHEETS } from '../../build/styles.mjs';

const ID = 'virtual:sheets';
const folder = fileURLToPath(new URL('../../src/styles/', import.meta.url));

/** Vite plugin for `import 'virtual:sheets'`: the sheets as they are shipped, in both directions. */
export function sheets() {
  return {
    name: 'security-optimizer-sheets',
    resolveId: (id) => (id === ID ? `\0${ID}` : null),
    async load(id) {
      if (id !== `\0${ID}`) return null;
      const files = SHEETS.map((name) => `${folder}${name}.css`);
      for (const file of files) this.addWatchFile(file);
      const source = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n');
      return `export const ltr = ${JSON.stringify(source)};\nexport const rtl = ${JSON.stringify(rtlcss.process(source))};`;
    },
  };
}
