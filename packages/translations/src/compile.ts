import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Catalogue, DOMAIN, formatMo, readLanguages } from './catalogue.js';
import { type CodedText, codedTexts } from './coded-texts.js';

/** The parts of the product that look texts up. */
type Reader = 'dashboard' | 'connector' | 'guard';

/** Guard's pages, responses and mails: texts that guard translates to the language of the site. */
const TRANSLATED_BY_GUARD =
  /^packages\/guard\/src\/(?:(?:pages|i18n|gateway|two-factor(?!\/two-factor-settings)|reports)\/|post-hack\/reset-mail\.|alerts\/(?:describe-alert|compose-mail)\.|activity\/security-events\.)/;
/** Texts of these files are sent in API responses, and some of them in mails. */
const IN_RESPONSES_AND_MAILS =
  /\/guard\/src\/(?:reports\/(?:recipients|report-sender|make-report)|wordpress\/connector-error)\.ts$/;
/** The contract's texts and the names of the essentials appear on pages of the dashboard and in guard's mails. */
const IN_DASHBOARD_AND_MAILS = /^packages\/(?:contract\/|guard\/src\/settings\/essentials\.ts$)/;

/**
 * Compiles each translation into the files that are installed in WordPress (JSON for the dashboard, MO for the
 * connector) and the JSON that guard reads. A file that is up to date is not written again, because another build may
 * be reading it.
 *
 * @param root folder of the repository
 */
export async function compileLanguages(root: string): Promise<void> {
  const installed = new Map<string, Buffer>();
  const readByGuard = new Map<string, Buffer>();
  for (const [locale, { header, entries }] of await readLanguages(root)) {
    const translated = {
      header,
      entries: entries.filter(({ forms }) => forms.length > 0 && forms.every((form) => form !== '')),
    };
    installed.set(`${DOMAIN}-${locale}.json`, Buffer.from(compileJed(locale, translated, 'dashboard', codedTexts)));
    installed.set(`${DOMAIN}-${locale}.mo`, compileMo(translated));
    readByGuard.set(`${DOMAIN}-${locale}.json`, Buffer.from(compileJed(locale, translated, 'guard', [])));
  }
  await writeFolder(join(root, 'packages/connector/dist/languages'), installed);
  await writeFolder(join(root, 'packages/connector/dist/guard-languages'), readByGuard);
}

/**
 * Compiles a translation into flat Jed messages: the header under the empty key, and the forms of each text.
 *
 * @param locale as WordPress names it
 * @param reader the part that looks the texts up; the others' texts are omitted
 * @param codes texts that the dashboard looks up by code
 * @returns JSON
 * @throws Error when the reader has no text
 */
export function compileJed(
  locale: string,
  { header, entries }: Catalogue,
  reader: 'dashboard' | 'guard',
  codes: readonly CodedText[] = [],
): string {
  const codeByText = new Map(codes.map(({ code, text }) => [text, code]));
  const messages: Record<string, readonly string[]> = {};
  const read = entries.filter(({ files }) => listReaders(files).has(reader));
  if (read.length === 0) throw new Error(`There is no text that ${reader} reads.`);
  for (const { text, forms, files } of read) {
    const code = reader === 'dashboard' ? codeByText.get(text) : undefined;
    if (code !== undefined) messages[code] = forms;
    // A text with a code may also occur in the browser's own sources.
    if (code === undefined || files.length > 1) messages[text] = forms;
  }
  return `${JSON.stringify({ '': { lang: locale, plural_forms: header['Plural-Forms'] }, ...messages })}\n`;
}

/** Compiles the texts that the connector prints into a MO file. */
export function compileMo({ header, entries }: Catalogue): Buffer {
  return formatMo({ header, entries: entries.filter(({ files }) => listReaders(files).has('connector')) });
}

/**
 * Lists the parts that look a text up, by the files that contain it. Other texts of guard are sent to the dashboard in
 * English.
 */
function listReaders(files: readonly string[]): ReadonlySet<Reader> {
  return new Set(files.flatMap(listReadersOfFile));
}

function listReadersOfFile(file: string): Reader[] {
  if (file.endsWith('/activity/class-settings.php')) return ['dashboard'];
  if (file.endsWith('.php')) return ['connector'];
  if (IN_RESPONSES_AND_MAILS.test(file)) return ['dashboard', 'guard'];
  if (TRANSLATED_BY_GUARD.test(file)) return ['guard'];
  return IN_DASHBOARD_AND_MAILS.test(file) ? ['dashboard', 'guard'] : ['dashboard'];
}

async function writeFolder(folder: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, content] of files) {
    const target = join(folder, name);
    const present = await readFile(target).catch(() => null);
    if (present?.equals(content)) continue;
    await writeFile(`${target}.${process.pid}`, content);
    await rename(`${target}.${process.pid}`, target);
  }
  for (const name of await readdir(folder)) if (!files.has(name)) await rm(join(folder, name), { force: true });
}
