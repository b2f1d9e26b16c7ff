import { mo, po } from 'gettext-parser';

/**
 * @typedef {{ text: string, plural: string | null, files: string[], said: string[] }} Entry
 * One text of a PO file. `said` holds the translation, one per plural form; empty strings where there is none yet.
 */

/**
 * @param {Entry[]} entries
 * @param {Record<string, string>} headers
 * @returns {string} a PO file, or a POT file when nothing is translated
 */
export function writePo(entries, headers) {
  return `${po.compile(toTable(entries, headers), { foldLength: 0 }).toString().trimEnd()}\n`;
}

/**
 * @param {Entry[]} entries
 * @param {Record<string, string>} headers
 * @returns {Buffer} a MO file
 */
export function writeMo(entries, headers) {
  return mo.compile(toTable(entries, headers));
}

/**
 * @param {string} source
 * @returns {{ header: Record<string, string>, entries: Entry[] }}
 * @throws {SyntaxError}
 */
export function readPo(source) {
  const { headers, translations } = po.parse(source);
  const entries = Object.values(translations[''] ?? {})
    .filter(({ msgid }) => msgid !== '')
    .map(({ msgid, msgid_plural: plural = null, msgstr, comments }) => ({
      text: msgid,
      plural,
      files: comments?.reference ? comments.reference.split('\n') : [],
      said: msgstr,
    }));
  return { header: headers, entries };
}

function toTable(entries, headers) {
  const rows = entries.map(({ text, plural, files, said }) => ({
    msgid: text,
    ...(plural === null ? {} : { msgid_plural: plural }),
    msgstr: (plural === null ? [0] : [0, 1]).map((form) => said[form] ?? ''),
    ...(files.length === 0 ? {} : { comments: { reference: files.join('\n') } }),
  }));
  return {
    charset: 'utf-8',
    headers,
    translations: { '': Object.fromEntries(rows.map((row) => [row.msgid, row])) },
  };
}
