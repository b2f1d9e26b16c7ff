import { Engine } from 'php-parser';
import { parseSync } from 'vite';

/**
 * @typedef {{ readonly gone: RegExp, readonly use: string, readonly except?: RegExp }} Word `gone` is looked for in
 *   names, taken apart into lower-case words, and in comments; `except` matches what means something else
 * @typedef {{ readonly text: string, readonly line: number }} Piece a name, a comment or a test's title
 * @typedef {{ readonly file: string, readonly line: number, readonly text: string, readonly use: string }} Finding
 */

/**
 * Words that this project once had for its own ideas, and the standard word for each; see docs/developer/glossary.md.
 *
 * @type {readonly Word[]}
 */
const formerWords = [
  { gone: /\broads?\b/, use: 'route' },
  { gone: /\bdoors?\b/, use: 'login page, gateway, two-factor flow', except: /\w[ -]door/ },
  { gone: /\bstrangers?\b/, use: 'anonymous client' },
  { gone: /\bkeepers?\b/, use: 'repository, sync', except: /shop keeper/ },
  { gone: /\b(?:blocked|body|upload|login) lanes?\b/, use: 'limiter, queue' },
  { gone: /\btongues?\b/, use: 'locale' },
  { gone: /\balbums?\b/, use: 'baselines' },
  { gone: /\bphotographers?\b/, use: 'capture' },
  { gone: /\bwish(?:es|ed)?\b/, use: 'request, option; ignored upgrade' },
  { gone: /\bheal(?:s|ed|ing)?\b/, use: 'reconcile' },
  { gone: /\bretell\w*\b/, use: 'translate' },
  { gone: /\bputs? back\b/, use: 'roll back, restore', except: /\bnot_put_back\b/ },
  { gone: /\bgi?a?ves? way\b/, use: 'yield, lower the priority' },
  { gone: /\bslow (?:accounts?|users?)\b/, use: 'throttled account', except: /\bslow_users\b/ },
  { gone: /\bcheck lines?\b|\bstands? in line\b|\bwaits? in line\b|\btakes? a turn\b/, use: 'queue, acquire' },
  { gone: /\blogin slots?\b/, use: 'permit, limiter' },
  { gone: /\bvisit marks?\b/, use: 'login-page cookie', except: /\bvisit_mark\b/ },
  { gone: /\bown (?:calls?|routes?)\b/, use: 'API request, API route' },
  { gone: /\bpassages?\b/, use: 'request context' },
  { gone: /\b(?:site|visitor|row|kind) books?\b/, use: 'counters, cache, buffer' },
  { gone: /\bstretch(?:es)?\b/, use: 'bucket, period', except: /\bvisit_stretches\b|align/ },
  { gone: /\bearly (?:answers?|calls?)\b/, use: 'preloaded response' },
  { gone: /\b(?:audit|job|time|event|report) words\b/, use: 'labels' },
  { gone: /\bkeep (?:attempts|blocked)\b/, use: 'login attempt repository, blocklist sync' },
  { gone: /\bwas let in\b|\bknown members?\b/, use: 'known browser, session cache' },
  { gone: /\b(?:lag|exchange) watch\b/, use: 'stall timer, response hook' },
  { gone: /\bmissing instead\b/, use: 'decoy 404' },
  { gone: /\bstop headers\b/, use: 'strip request headers' },
  { gone: /\btakes? turns?\b/, use: 'acquire, in turn' },
  { gone: /\btime wheels?\b/, use: 'time column' },
  { gone: /\bact on form\b|\bdoor visits?\b/, use: 'handle submit, two-factor request' },
  { gone: /\bwhoever\b|\bstands? for\b/, use: 'a subject (a client, a user, an owner); is, means' },
];

/** A function is named by a verb: `toPath(x)`, not `pathOf(x)`. */
const NAMED_BY_NOUN =
  /^(?!index|lastIndex|value|supportedValues|type|instance|prototype|toBe|find(?:First)?Instance|any|all|one)[a-z]\w*[a-z]Of$/;

/**
 * Looks for words that are gone.
 *
 * @param {string} file its path; the ending says what it is
 * @param {string} source
 * @param {readonly Word[]} words
 * @returns {Finding[]}
 * @throws {Error} when a program can't be read
 */
export function findFormerWords(file, source, words = formerWords) {
  const found = [];
  for (const { text, line } of readPieces(file, source)) {
    if (NAMED_BY_NOUN.test(text)) found.push({ file, line, text, use: 'a verb, for example to… or get…' });
    const readable = `${text} ${toWords(text)}`.toLowerCase();
    for (const { gone, use, except } of words) {
      if (gone.test(readable) && !except?.test(readable))
        found.push({ file, line, text: text.match(new RegExp(`.{0,30}${gone.source}.{0,30}`, 'i'))?.[0] ?? text, use });
    }
  }
  return found;
}

/** @returns {string} the words of a name: `LoginRoad` and `login_road` are `Login Road` */
function toWords(name) {
  return /\s/.test(name) ? name : name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' ');
}

/** @returns {Piece[]} names, comments and titles of tests; of a document all lines */
function readPieces(file, source) {
  if (/\.(?:ts|tsx|mjs|mts)$/.test(file)) return readScript(file, source);
  if (file.endsWith('.php')) return readPhp(source);
  return toLines(source, 1);
}

/** @returns {Piece[]} the lines of a text that begins in this line */
function toLines(text, line) {
  return text.split('\n').map((each, index) => ({ text: each, line: line + index }));
}

const TITLES = new Set(['Literal', 'TemplateLiteral']);

function readScript(file, source) {
  const { program, comments, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const toLine = lineFinder(source);
  const pieces = comments.flatMap(({ value, start }) => toLines(value, toLine(start)));
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (node === null || typeof node !== 'object') return;
    if (node.type === 'Identifier' || node.type === 'PrivateIdentifier') {
      pieces.push({ text: node.name, line: toLine(node.start) });
    }
    if (node.type === 'CallExpression') {
      const [title] = node.arguments;
      if (/^(?:describe|it|test)\b/.test(source.slice(node.start, node.callee.end)) && TITLES.has(title?.type)) {
        pieces.push({ text: source.slice(title.start, title.end), line: toLine(title.start) });
      }
    }
    Object.values(node).forEach(visit);
  };
  visit(program);
  return pieces;
}

const PHP_NAMES = new Set(['T_STRING', 'T_VARIABLE', 'T_COMMENT', 'T_DOC_COMMENT']);

function readPhp(source) {
  const engine = new Engine({ lexer: { all_tokens: true, comment_tokens: true } });
  return engine
    .tokenGetAll(source)
    .filter((token) => Array.isArray(token) && PHP_NAMES.has(token[0]))
    .flatMap(([, text, line]) => toLines(text, line));
}

/** @returns {(offset: number) => number} the line of an offset, from 1 on */
function lineFinder(source) {
  const starts = [0];
  for (let i = source.indexOf('\n'); i !== -1; i = source.indexOf('\n', i + 1)) starts.push(i + 1);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
