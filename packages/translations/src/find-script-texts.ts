import { parseSync } from 'vite';

/** Calls whose first argument is translated. The second argument of `_n` and `counted` is the plural. */
const SINGULAR = new Set(['__', 'translate', 'translateNamed', 'worded', 'word']);
const PLURAL = new Set(['_n', 'counted']);
/** Properties that hold a text even when it is a single word. */
const NAMED = new Set([
  'title',
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
const NOT_SHOWN = new Set(['summary', 'refusal', 'cause', 'event']);
/** Calls whose texts are for the log or a developer. */
const NOT_SHOWN_CALLS = /^(?:debug|info|warn|error|fatal|Error|\w+Error|\w+Problem|RegExp|describe)$/;

/** A text in a source file. */
export interface FoundText {
  readonly text: string;
  readonly plural: string | null;
  readonly file: string;
}

/** A node of the syntax tree (ESTree); only the members that are read here are checked. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly [member: string]: unknown;
}

/**
 * Finds the texts of a script.
 *
 * @param file name for the references, with its extension
 * @param how `calls`: arguments of the translate functions. `sentences`: also every literal that looks like a text for
 *   people; for files of the server and the contract, which do not translate.
 * @throws Error when the file can't be parsed, or a text to be translated is not a literal
 */
export function findScriptTexts(file: string, source: string, how: 'calls' | 'sentences'): FoundText[] {
  const { program, errors } = parseSync(file, source);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  const found: FoundText[] = [];
  const add = (text: string, plural: string | null = null) => found.push({ text, plural, file });

  function visit(value: unknown, named: boolean): void {
    if (Array.isArray(value)) {
      for (const item of value) visit(item, named);
      return;
    }
    if (!isNode(value)) return;
    if ((value.type === 'CallExpression' || value.type === 'NewExpression') && visitCall(value)) return;
    if (how === 'sentences') visitLiteral(value, named);
    else for (const child of Object.values(value)) visit(child, false);
  }

  /** @param named whether the node is the value of a name of `NAMED`, or of a constant */
  function visitLiteral(node: Node, named: boolean): void {
    const property = node.type === 'Property' ? getName(node.key) : '';
    if (NOT_SHOWN.has(property)) return;
    if (node.type === 'ImportDeclaration' || node.type.startsWith('TS')) {
      // `x as Type` and the like contain values.
      visit(node.expression, named);
      return;
    }
    // A text that is inserted into a sentence may start with a lower-case letter.
    if (property === 'inSentence') {
      add(literal(node.value) ?? '');
      return;
    }
    const text = literal(node);
    if (text !== null && (reads(text) || (named && /^[A-Z]|^\d+ .+\.$/.test(text)))) add(text);
    const isNamed = NAMED.has(property) || (node.type === 'VariableDeclarator' && /^[A-Z_]+$/.test(getName(node.id)));
    for (const [key, child] of Object.entries(node)) {
      if (key === 'key' && node.type === 'Property') continue;
      visit(child, isNamed || (named && node.type !== 'ObjectExpression'));
    }
  }

  /** @returns whether all arguments of the call were examined */
  function visitCall(node: Node): boolean {
    const callee = getName(node.callee) || (isNode(node.callee) ? getName(node.callee.property) : '');
    if (how === 'sentences' && NOT_SHOWN_CALLS.test(callee) && callee !== 'ApiError') return true;
    const [first, second, ...others] = node.arguments as readonly unknown[];
    const [text, plural] = [literal(first), literal(second)];
    if (PLURAL.has(callee) && text !== null && plural !== null) {
      add(text, plural);
      visit(others, false);
      return true;
    }
    if (SINGULAR.has(callee) && text !== null) {
      add(text);
      visit([second, ...others], false);
      return true;
    }
    if ((callee === '__' || callee === '_n') && !file.includes('src/i18n/')) {
      const line = source.slice(0, node.start).split('\n').length;
      throw new Error(`${file}:${line}: write out the text that is given to ${callee}.`);
    }
    return false;
  }

  visit(program.body, false);
  return found;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Node>).type === 'string';
}

/** The name of an identifier, or an empty string. */
function getName(node: unknown): string {
  return isNode(node) && typeof node.name === 'string' ? node.name : '';
}

/** A constant string, including a concatenation of constants; null for any other node. */
function literal(node: unknown): string | null {
  if (!isNode(node)) return null;
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type === 'TemplateLiteral') {
    const [whole, more] = node.quasis as readonly { readonly value: { readonly cooked: string } }[];
    return more === undefined ? (whole?.value.cooked ?? null) : null;
  }
  if (node.type === 'BinaryExpression' && node.operator === '+') {
    const [left, right] = [literal(node.left), literal(node.right)];
    return left === null || right === null ? null : left + right;
  }
  return null;
}

/** Whether a text has several words and starts like a sentence or a name. */
function reads(text: string): boolean {
  return /^[A-Z{“][^\n]* [^\n]*[\p{L}\d.?!”}:)]$/u.test(text) && !/[<>=]|^\{[^}]*\}$/.test(text);
}
