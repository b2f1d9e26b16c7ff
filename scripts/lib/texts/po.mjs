/**
 * @typedef {{ text: string, plural: string | null, files: string[], said: string[] }} Entry
 * One text of a PO file. `said` holds the translation, one per plural form; empty strings where there is none yet.
 */

/**
 * @param {Entry[]} entries
 * @param {Record<string, string>} header
 * @returns {string} a PO file, or a POT file when nothing is translated
 */
export function writePo(entries, header) {
  const head = Object.entries(header).map(([name, value]) => quote(`${name}: ${value}\n`));
  const blocks = entries.map(({ text, plural, files, said }) =>
    [
      ...files.map((file) => `#: ${file}`),
      `msgid ${quote(text)}`,
      ...(plural === null
        ? [`msgstr ${quote(said[0] ?? '')}`]
        : [`msgid_plural ${quote(plural)}`, ...[0, 1].map((form) => `msgstr[${form}] ${quote(said[form] ?? '')}`)]),
    ].join('\n'),
  );
  return `msgid ""\nmsgstr ""\n${head.join('\n')}\n\n${blocks.join('\n\n')}\n`;
}

/**
 * Reads what `writePo` writes, and what the usual editors make of it.
 *
 * @param {string} source
 * @returns {{ header: Record<string, string>, entries: Entry[] }}
 * @throws {SyntaxError}
 */
export function readPo(source) {
  const entries = [];
  let header = {};
  for (const block of source.split(/\n\s*\n/)) {
    const entry = readBlock(block);
    if (entry === null) continue;
    if (entry.text === '') header = readHeader(entry.said[0] ?? '');
    else entries.push(entry);
  }
  return { header, entries };
}

function readBlock(block) {
  const entry = { text: '', plural: null, files: [], said: [] };
  let seen = false;
  let append = () => undefined;
  for (const line of block.split('\n')) {
    const [, file] = /^#: (.+)$/.exec(line) ?? [];
    if (file !== undefined) entry.files.push(file);
    if (line.startsWith('#') || line.trim() === '') continue;
    const [, keyword, form, quoted] = /^(?:(msgid|msgid_plural|msgstr)(?:\[(\d)\])? )?(".*")$/.exec(line.trim()) ?? [];
    if (quoted === undefined) throw new SyntaxError(`This line is no part of a PO file: ${line}`);
    if (keyword !== undefined) append = appender(entry, keyword, Number(form ?? 0));
    append(JSON.parse(quoted));
    seen = true;
  }
  return seen ? entry : null;
}

function appender(entry, keyword, form) {
  if (keyword === 'msgid') return (part) => (entry.text += part);
  if (keyword === 'msgid_plural') return (part) => (entry.plural = (entry.plural ?? '') + part);
  return (part) => (entry.said[form] = (entry.said[form] ?? '') + part);
}

function readHeader(text) {
  return Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.includes(': '))
      .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
  );
}

/** JSON and PO escape the same characters in texts like ours. */
function quote(text) {
  return JSON.stringify(text);
}
