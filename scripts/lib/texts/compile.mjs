import { readersOf } from './readers.mjs';

/**
 * @param {string} locale as WordPress names it
 * @param {{ header: Record<string, string>, entries: import('./po.mjs').Entry[] }} catalogue
 * @param {'dashboard' | 'guard'} reader who looks the texts up
 * @returns {string} Jed locale data as JSON
 */
export function compileJed(locale, { header, entries }, reader) {
  const read = entries.filter(isReadBy(reader));
  if (read.length === 0) throw new Error(`There is no text that ${reader} reads.`);
  const messages = Object.fromEntries([
    // A text that comes filled in is looked up by the form that it came in; see retell.ts of the dashboard.
    ...read
      .filter(({ plural }) => plural?.includes('{') && reader === 'dashboard')
      .map(({ plural, said }) => [plural, said]),
    ...read.map(({ text, said }) => [text, said]),
  ]);
  const own = { domain: 'messages', lang: locale, plural_forms: header['Plural-Forms'] };
  return `${JSON.stringify({ domain: 'messages', locale_data: { messages: { '': own, ...messages } } })}\n`;
}

/**
 * @param {{ header: Record<string, string>, entries: import('./po.mjs').Entry[] }} catalogue
 * @returns {Buffer} a MO file, for the texts that WordPress itself prints
 */
export function compileMo({ header, entries }) {
  const head = Object.entries(header)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');
  const pairs = [
    ['', head],
    ...entries
      .filter(isReadBy('connector'))
      .map(({ text, plural, said }) => [plural === null ? text : `${text}\0${plural}`, said.join('\0')]),
  ]
    .map(([key, value]) => [Buffer.from(key), Buffer.from(value)])
    .sort(([a], [b]) => Buffer.compare(a, b));
  const count = pairs.length;
  const tables = 28;
  const sizes = Buffer.alloc(tables + 16 * count);
  const numbers = [0x950412de, 0, count, tables, tables + 8 * count, 0, tables + 16 * count];
  for (const [index, number] of numbers.entries()) sizes.writeUInt32LE(number, 4 * index);
  const strings = [];
  let at = sizes.length;
  for (const column of [0, 1]) {
    for (const [index, pair] of pairs.entries()) {
      const text = pair[column];
      const row = tables + 8 * (column * count + index);
      sizes.writeUInt32LE(text.length, row);
      sizes.writeUInt32LE(at, row + 4);
      strings.push(text, Buffer.from([0]));
      at += text.length + 1;
    }
  }
  return Buffer.concat([sizes, ...strings]);
}

function isReadBy(reader) {
  return ({ files }) => readersOf(files).has(reader);
}
