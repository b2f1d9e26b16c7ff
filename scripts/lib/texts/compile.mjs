import { writeMo } from './po.mjs';
import { listReaders } from './readers.mjs';

/**
 * @param {string} locale as WordPress names it
 * @param {{ header: Record<string, string>, entries: import('./po.mjs').Entry[] }} catalogue
 * @param {'dashboard' | 'guard'} reader which part looks the texts up
 * @param {{ code: string, text: string }[]} codes texts that the dashboard looks up by code
 * @returns {string} flat Jed messages as JSON: the header under the empty key, and the forms of each text
 */
export function compileJed(locale, { header, entries }, reader, codes = []) {
  const coded = new Map(codes.map(({ code, text }) => [text, code]));
  const read = entries.filter(isReadBy(reader));
  if (read.length === 0) throw new Error(`There is no text that ${reader} reads.`);
  const byCode = read.filter(({ text }) => reader === 'dashboard' && coded.has(text));
  const messages = Object.fromEntries([
    ...byCode.map(({ text, said }) => [coded.get(text), said]),
    // A text with a code may also occur in the browser's own sources.
    ...read.filter((entry) => !byCode.includes(entry) || entry.files.length > 1).map(({ text, said }) => [text, said]),
  ]);
  const own = { lang: locale, plural_forms: header['Plural-Forms'] };
  return `${JSON.stringify({ '': own, ...messages })}\n`;
}

/**
 * @param {{ header: Record<string, string>, entries: import('./po.mjs').Entry[] }} catalogue
 * @returns {Buffer} a MO file, for the texts that WordPress prints
 */
export function compileMo({ header, entries }) {
  return writeMo(entries.filter(isReadBy('connector')), header);
}

function isReadBy(reader) {
  return ({ files }) => listReaders(files).has(reader);
}
