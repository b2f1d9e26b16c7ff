import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type GetTextTranslations, mo, po } from 'gettext-parser';

/** Text domain of the plugin in WordPress. */
export const DOMAIN = 'security-optimizer';

/** A text of the product. */
export interface Text {
  readonly text: string;
  readonly plural: string | null;
  /** Source files that contain it, relative to the root of the repository. */
  readonly files: readonly string[];
}

/** A text and its translation. */
export interface Entry extends Text {
  /** The translation, one per plural form; empty strings while it is not translated. */
  readonly forms: readonly string[];
}

/** A translation, as a PO file contains it. */
export interface Catalogue {
  readonly header: Readonly<Record<string, string>>;
  readonly entries: readonly Entry[];
}

/** Folder of the list of all texts (POT) and of the translations (PO). */
export function languagesFolder(root: string): string {
  return join(root, 'packages/translations/languages');
}

/**
 * Reads all translations.
 *
 * @param root folder of the repository
 * @returns by WordPress locale, for example `de_DE`
 */
export async function readLanguages(root: string): Promise<Map<string, Catalogue & { readonly file: string }>> {
  const folder = languagesFolder(root);
  const languages = new Map<string, Catalogue & { readonly file: string }>();
  for (const name of (await readdir(folder)).sort()) {
    const locale = /^security-optimizer-(\w+)\.po$/.exec(name)?.[1];
    if (locale === undefined) continue;
    const file = join(folder, name);
    languages.set(locale, { file, ...parsePo(await readFile(file, 'utf8')) });
  }
  return languages;
}

/** Formats a PO file, or a POT file when no entry is translated. */
export function formatPo(catalogue: Catalogue): string {
  return `${po.compile(toTable(catalogue), { foldLength: 0 }).toString().trimEnd()}\n`;
}

/** Formats a MO file, the binary form of gettext that WordPress reads. */
export function formatMo(catalogue: Catalogue): Buffer {
  return mo.compile(toTable(catalogue));
}

/**
 * Parses a PO file.
 *
 * @throws SyntaxError
 */
export function parsePo(source: string): Catalogue {
  const { headers, translations } = po.parse(source);
  const entries = Object.values(translations[''] ?? {})
    .filter(({ msgid }) => msgid !== '')
    .map(({ msgid, msgid_plural: plural = null, msgstr, comments }) => ({
      text: msgid,
      plural,
      files: comments?.reference ? comments.reference.split('\n') : [],
      forms: msgstr,
    }));
  return { header: headers, entries };
}

function toTable({ header, entries }: Catalogue): GetTextTranslations {
  const rows = entries.map(({ text, plural, files, forms }) => ({
    msgid: text,
    ...(plural === null ? {} : { msgid_plural: plural }),
    msgstr: (plural === null ? [0] : [0, 1]).map((form) => forms[form] ?? ''),
    ...(files.length === 0 ? {} : { comments: { reference: files.join('\n') } }),
  }));
  return {
    charset: 'utf-8',
    headers: { ...header },
    translations: { '': Object.fromEntries(rows.map((row) => [row.msgid, row])) },
  };
}
