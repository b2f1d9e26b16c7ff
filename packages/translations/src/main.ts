import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DOMAIN, formatPo, languagesFolder, readLanguages } from './catalogue.js';
import { checkTranslation } from './check-translation.js';
import { collectTexts } from './collect-texts.js';

const HEADER = {
  'Project-Id-Version': 'Security Optimizer',
  'MIME-Version': '1.0',
  'Content-Type': 'text/plain; charset=UTF-8',
  'Content-Transfer-Encoding': '8bit',
  'X-Domain': DOMAIN,
};

/**
 * Updates the catalogue from the sources, and each translation from the catalogue: new texts are added empty, removed
 * texts are deleted. It prints what is not translated or wrong.
 *
 * @param args `--check`: write nothing, and fail when the catalogue is not up to date or a translation has an error
 * @returns exit code
 */
export async function texts(args: readonly string[]): Promise<number> {
  const isCheck = args.includes('--check');
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const template = join(languagesFolder(root), `${DOMAIN}.pot`);
  const mistakes: string[] = [];

  const collected = await collectTexts(root);
  const pot = formatPo({ header: HEADER, entries: collected.map((text) => ({ ...text, forms: [] })) });
  if (!isCheck) await writeFile(template, pot);
  else if (removeReferences(await readFile(template, 'utf8').catch(() => '')) !== removeReferences(pot)) {
    mistakes.push(`${DOMAIN}.pot is not up to date. Run \`npm run texts\` and translate what is new.`);
  }

  for (const [locale, { file, header, entries }] of await readLanguages(root)) {
    const known = new Map(entries.map((entry) => [entry.text, entry]));
    const updated = collected.map((text) => {
      const entry = known.get(text.text);
      return { ...text, forms: entry !== undefined && entry.plural === text.plural ? entry.forms : [] };
    });
    mistakes.push(...updated.flatMap(checkTranslation).map((mistake) => `${locale}: ${mistake}`));
    if (!isCheck) await writeFile(file, formatPo({ header, entries: updated }));
  }

  if (mistakes.length > 0) process.stderr.write(`${mistakes.join('\n')}\n`);
  return isCheck && mistakes.length > 0 ? 1 : 0;
}

/** References to files help translators; they may be out of date. */
function removeReferences(source: string): string {
  return source.replace(/^#.*\n/gm, '');
}
