import { parseSync } from 'vite';

/** Calls whose first argument is translated. The second argument of `_n` and `counted` is the plural. */
const SINGULAR = new Set(['__', 'translate', 'translateNamed', 'worded', 'word']);
const PLURAL = new Set(['_n', 'counted']);
/** Properties that hold a text even when it is a single word. */
const NAMED = new Set([
  'title',
  'successTitle',
  'errorTitle',
  'label',
  'text',
  'button_text',
  'groupTitle',
  'placeholder',
  'help',
  'intro',
  'sentence',
]);
/** Properties whose text is for developers. */
const NOT_SHOWN = new Set(['summary', 'refusal', 'answer', 'cause', 'event']);
/** Calls whose texts are for the log or a developer. */
const NOT_SHOWN_CALLS = /^(?:debug|info|warn|error|fatal|Error|\w+Error|\w+Problem|RegExp|describe)$/;

/**
 * @typedef {{ text: string, plural: string | null, file: string, line: number }} Text
 */

/**
 * Finds the texts of a script.
 *
 * @param {string} file name for the references, with its ending
 * @param {string} source
 * @param {'calls' | 'sentences'} how `calls`: arguments of the translate functions. `sentences`: also every literal
 *   that looks like a text for people; for files of the server and the contract, which do not translate.
 * @returns {Text[]}
 * @throws {Error} when a text to be translated is not a literal
 */
export function findScriptTexts(file, source, how) {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const found = [];
  const lines = lineStarts(source);
  const add = (node, text, plural = null) => found.push({ text, plural, file, line: toLine(lines, node.start) });

  function visit(node, named) {
    if (Array.isArray(node)) {
      for (const item of node) visit(item, named);
      return;
    }
    if (node === null || typeof node !== 'object' || typeof node.type !== 'string') return;
    if (node.type === 'CallExpression' || node.type === 'NewExpression') {
      if (visitCall(node)) return;
    }
    if (how === 'sentences') {
      if (node.type === 'Property' && NOT_SHOWN.has(node.key.name)) return;
      if (node.type === 'ImportDeclaration' || node.type.startsWith('TS')) {
        // `x as Type` and the like contain values.
        visit(node.expression ?? null, named);
        return;
      }
      // A text that is inserted into a sentence may start with a lower-case letter.
      if (node.type === 'Property' && node.key.name === 'inSentence') return void add(node, literal(node.value) ?? '');
      const text = literal(node);
      if (text !== null && (reads(text) || (named && /^[A-Z]/.test(text)))) add(node, text);
      const isNamed =
        (node.type === 'Property' && NAMED.has(node.key.name)) ||
        (node.type === 'VariableDeclarator' && /^[A-Z_]+$/.test(node.id.name));
      for (const [key, value] of Object.entries(node)) {
        if (key !== 'key' || node.type !== 'Property')
          visit(value, isNamed || (named && node.type !== 'ObjectExpression'));
      }
      return;
    }
    for (const value of Object.values(node)) visit(value, false);
  }

  /** @returns whether all arguments of the call were examined */
  function visitCall(node) {
    const name = node.callee.name ?? node.callee.property?.name ?? '';
    if (how === 'sentences' && NOT_SHOWN_CALLS.test(name) && name !== 'ApiError') return true;
    const [first, second] = node.arguments;
    const one = first === undefined ? null : literal(first);
    const many = second === undefined ? null : literal(second);
    if (PLURAL.has(name) && one !== null && many !== null) {
      add(first, one, many);
      visit(node.arguments.slice(2), false);
      return true;
    }
    if (SINGULAR.has(name) && one !== null) {
      add(first, one);
      visit(node.arguments.slice(1), false);
      return true;
    }
    if ((name === '__' || name === '_n') && !file.includes('src/i18n/')) {
      throw new Error(`${file}:${toLine(lines, node.start)}: write out the text that is given to ${name}.`);
    }
    return false;
  }

  visit(program.body, false);
  return found;
}

/** A constant string, including a concatenation of constants. */
function literal(node) {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0].value.cooked;
  if (node.type === 'BinaryExpression' && node.operator === '+') {
    const [left, right] = [literal(node.left), literal(node.right)];
    return left === null || right === null ? null : left + right;
  }
  return null;
}

/** Several words that start like a sentence or a name. */
function reads(text) {
  return /^[A-Z{“][^\n]* [^\n]*[\p{L}\d.?!”}:)]$/u.test(text) && !/[<>=]|^\{[^}]*\}$/.test(text);
}

function lineStarts(source) {
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function toLine(starts, at) {
  let line = 0;
  while (line + 1 < starts.length && starts[line + 1] <= at) line += 1;
  return line + 1;
}
