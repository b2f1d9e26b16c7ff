/** `__( 'text', 'security-optimizer' )` and its escaping sisters; other domains are WordPress's own texts. */
const CALL = /\b(?:__|_e|esc_html__|esc_attr__|esc_html_e)\(\s*'((?:[^'\\]|\\.)*)',\s*'security-optimizer'/g;
const COUNTED = /\b_n\(\s*'((?:[^'\\]|\\.)*)',\s*'((?:[^'\\]|\\.)*)',[^;]*?'security-optimizer'/g;

/**
 * The texts of a PHP file.
 *
 * @param {string} file name for the references
 * @param {string} source
 * @returns {import('./find-script-texts.mjs').Text[]}
 */
export function findPhpTexts(file, source) {
  const lineAt = (at) => source.slice(0, at).split('\n').length;
  const plain = (text) => text.replace(/\\(['\\])/g, '$1');
  return [
    ...[...source.matchAll(CALL)].map((match) => ({
      text: plain(match[1]),
      plural: null,
      file,
      line: lineAt(match.index),
    })),
    ...[...source.matchAll(COUNTED)].map((match) => ({
      text: plain(match[1]),
      plural: plain(match[2]),
      file,
      line: lineAt(match.index),
    })),
  ].sort((a, b) => a.line - b.line);
}

/**
 * The values of the table OPTIONS of a PHP file: names that the file tells in English.
 *
 * @param {string} file name for the references
 * @param {string} source
 * @returns {import('./find-script-texts.mjs').Text[]}
 */
export function findPhpTable(file, source) {
  const [table = ''] = /const OPTIONS = array\([^;]*\);/.exec(source) ?? [];
  return [...table.matchAll(/=> '((?:[^'\\]|\\.)*)'/g)].map(([, text]) => ({
    ...{ text: text.replace(/\\(['\\])/g, '$1'), plural: null, file, line: 0 },
  }));
}
