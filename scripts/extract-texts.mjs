/**
 * Keeps the catalogue of texts: writes packages/connector/languages/security-optimizer.pot from the sources, and
 * updates each translation there: new texts are added empty, removed texts are deleted. `npm run texts` runs it. With
 * `--check` it writes nothing and fails when the catalogue is not up to date, or when a translation is missing or has
 * other placeholders.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkTranslation } from './lib/texts/check-translation.mjs';
import { collectTexts } from './lib/texts/collect-texts.mjs';
import { DOMAIN, languagesFolder, readLanguages } from './lib/texts/languages.mjs';
import { writePo } from './lib/texts/po.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const check = process.argv.includes('--check');
const template = join(languagesFolder(root), `${DOMAIN}.pot`);
const mistakes = [];

const texts = await collectTexts(root);
const pot = writePo(
  texts.map((text) => ({ ...text, said: [] })),
  {
    'Project-Id-Version': 'Security Optimizer',
    'MIME-Version': '1.0',
    'Content-Type': 'text/plain; charset=UTF-8',
    'Content-Transfer-Encoding': '8bit',
    'X-Domain': DOMAIN,
  },
);
if (!check) await writeFile(template, pot);
else if (withoutReferences(await readFile(template, 'utf8').catch(() => '')) !== withoutReferences(pot)) {
  mistakes.push(`${DOMAIN}.pot is not up to date. Run \`npm run texts\` and translate what is new.`);
}

for (const [locale, { file, header, entries }] of await readLanguages(root)) {
  const known = new Map(entries.map((entry) => [entry.text, entry]));
  const merged = texts.map((text) => {
    const entry = known.get(text.text);
    return { ...text, said: entry !== undefined && entry.plural === text.plural ? entry.said : [] };
  });
  mistakes.push(...merged.flatMap(checkTranslation).map((mistake) => `${locale}: ${mistake}`));
  if (!check) await writeFile(file, writePo(merged, header));
}

/** References help translators; they may be out of date. */
function withoutReferences(source) {
  return source.replace(/^#.*\n/gm, '');
}

if (mistakes.length > 0) process.stderr.write(`${mistakes.join('\n')}\n`);
if (check && mistakes.length > 0) process.exitCode = 1;
