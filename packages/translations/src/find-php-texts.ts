import { Engine, type Node } from 'php-parser';
import { DOMAIN } from './catalogue.js';
import type { FoundText } from './find-script-texts.js';

/** Functions of WordPress whose first argument is translated. The second argument of `_n` is the plural. */
const SINGULAR = new Set(['__', '_e', 'esc_html__', 'esc_attr__', 'esc_html_e', 'esc_attr_e']);
const PLURAL = new Set(['_n']);

const parser = new Engine({
  parser: { suppressErrors: false, version: '7.4' },
  ast: { withPositions: true },
});

/**
 * Finds the texts of a PHP file: arguments of WordPress's translation functions with the product's text domain.
 *
 * @param file name for the references
 * @throws Error when the file is not PHP, or a text is not a literal
 */
export function findPhpTexts(file: string, source: string): FoundText[] {
  const texts: FoundText[] = [];
  visit(parser.parseCode(source, file), (node) => {
    if (!isCall(node)) return;
    const name = node.what.name.replace(/^\\/, '');
    const forms = SINGULAR.has(name) ? 1 : PLURAL.has(name) ? 2 : 0;
    const domain = node.arguments[forms === 1 ? 1 : 3];
    if (forms === 0 || domain === undefined || !isString(domain) || domain.value !== DOMAIN) return;
    const [text = '', plural = null] = node.arguments.slice(0, forms).map((argument) => {
      if (isString(argument)) return argument.value;
      throw new Error(`${file}:${node.loc?.start.line}: write out the text of ${name}.`);
    });
    texts.push({ text, plural, file });
  });
  return texts;
}

/**
 * Finds the values of the table OPTIONS of a PHP file: names that the file sends in English.
 *
 * @param file name for the references
 */
export function findPhpTable(file: string, source: string): FoundText[] {
  const texts: FoundText[] = [];
  visit(parser.parseCode(source, file), (node) => {
    if (!isConstant(node) || node.name.name !== 'OPTIONS') return;
    visit(node.value, (entry) => {
      if (isEntry(entry) && isString(entry.value)) texts.push({ text: entry.value.value, plural: null, file });
    });
  });
  return texts;
}

function isString(node: Node): node is Node & { readonly value: string } {
  return node.kind === 'string';
}

function isCall(node: Node): node is Node & { readonly what: { readonly name: string }; readonly arguments: Node[] } {
  return node.kind === 'call' && (node as Node & { readonly what: Node }).what.kind === 'name';
}

function isConstant(node: Node): node is Node & { readonly name: { readonly name: string }; readonly value: Node } {
  return node.kind === 'constant' && typeof (node as Node & { readonly name: unknown }).name === 'object';
}

function isEntry(node: Node): node is Node & { readonly value: Node } {
  return node.kind === 'entry' && (node as Node & { readonly value: Node | null }).value !== null;
}

/** Calls `see` for a node and every node below it. */
function visit(value: unknown, see: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, see);
    return;
  }
  if (value === null || typeof value !== 'object') return;
  if ('kind' in value && typeof value.kind === 'string') see(value as Node);
  for (const [name, child] of Object.entries(value)) if (name !== 'loc') visit(child, see);
}
