import phpParser from 'php-parser';
import { DOMAIN } from './languages.mjs';

/** Functions of WordPress whose first argument is translated. The second argument of `_n` is the plural. */
const SINGULAR = new Set(['__', '_e', 'esc_html__', 'esc_attr__', 'esc_html_e', 'esc_attr_e']);
const PLURAL = new Set(['_n']);

const engine = new phpParser.Engine({
  parser: { suppressErrors: false, version: '7.4' },
  ast: { withPositions: true },
});

/**
 * Finds the texts of a PHP file: arguments of WordPress's translation functions with the product's text domain.
 *
 * @param {string} file name for the references
 * @param {string} source
 * @returns {import('./find-script-texts.mjs').Text[]}
 * @throws {Error} when the file is not PHP, or a text is not a literal
 */
export function findPhpTexts(file, source) {
  const texts = [];
  visit(parse(file, source), (node) => {
    if (node.kind !== 'call' || node.what.kind !== 'name') return;
    const name = node.what.name.replace(/^\\/, '');
    const forms = SINGULAR.has(name) ? 1 : PLURAL.has(name) ? 2 : 0;
    const domain = node.arguments[forms === 1 ? 1 : 3];
    if (forms === 0 || domain?.kind !== 'string' || domain.value !== DOMAIN) return;
    const [text, plural = null] = node.arguments.slice(0, forms).map((argument) => {
      if (argument.kind !== 'string') throw new Error(`${file}:${node.loc.start.line}: write out the text of ${name}.`);
      return argument.value;
    });
    texts.push({ text, plural, file, line: node.loc.start.line });
  });
  return texts;
}

/**
 * Finds the values of the table OPTIONS of a PHP file: names that the file sends in English.
 *
 * @param {string} file name for the references
 * @param {string} source
 * @returns {import('./find-script-texts.mjs').Text[]}
 */
export function findPhpTable(file, source) {
  const texts = [];
  visit(parse(file, source), (node) => {
    if (node.kind !== 'constant' || node.name?.name !== 'OPTIONS') return;
    visit(node.value, ({ kind, value, loc }) => {
      if (kind === 'entry' && value?.kind === 'string') {
        texts.push({ text: value.value, plural: null, file, line: loc.start.line });
      }
    });
  });
  return texts;
}

function parse(file, source) {
  return engine.parseCode(source, file);
}

function visit(node, see) {
  if (Array.isArray(node)) {
    for (const item of node) visit(item, see);
    return;
  }
  if (node === null || typeof node !== 'object') return;
  if (typeof node.kind === 'string') see(node);
  for (const [name, value] of Object.entries(node)) if (name !== 'loc') visit(value, see);
}
