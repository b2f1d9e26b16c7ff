/**
 * Query parameters as PHP sees them. PHP's `$_GET` is not a plain map of names: names are decoded, cut at a NUL byte
 * and at `[`, leading spaces fall away, dots and spaces become underscores, and of equal names the last one wins.
 * Source: PHP manual, "Variables From External Sources", and `php_register_variable_ex`.
 */
export class PhpQuery {
  readonly #values = new Map<string, string[]>();
  /** How many parameters were given, repeated ones included. PHP stops reading at `max_input_vars`. */
  readonly given: number = 0;

  /** @param query the part of the target behind the question mark, without it */
  constructor(query: string) {
    if (query === '') return;
    for (const pair of query.split('&')) {
      this.given++;
      const equals = pair.indexOf('=');
      const name = phpName(decode(equals === -1 ? pair : pair.slice(0, equals)));
      if (name === '') continue;
      const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
      const values = this.#values.get(name);
      if (values === undefined) this.#values.set(name, [value]);
      else values.push(value);
    }
  }

  /**
   * All values given under a name, elements of an array included. Which of them PHP takes is not for us to know: the
   * last one that it still reads. A rule that refuses must therefore look at all of them.
   */
  all(name: string): readonly string[] {
    return this.#values.get(name) ?? NONE;
  }

  /** Whether a name stands for several values, so that two readers could take the request for two different ones. */
  isAmbiguous(name: string): boolean {
    const values = this.all(name);
    return values.length > 1 && values.some((value) => value !== values[0]);
  }
}

const NONE: readonly string[] = [];

/** Bytes that are not UTF-8 become U+FFFD; a broken percent sign stays as it is, as in PHP. */
function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  const bytes = text.replaceAll('+', ' ');
  if (!bytes.includes('%')) return bytes;
  return Buffer.from(
    bytes.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');
}

function phpName(decoded: string): string {
  let name = decoded;
  const nul = name.indexOf('\0');
  if (nul !== -1) name = name.slice(0, nul);
  name = name.replace(/^ +/, '');
  const bracket = name.indexOf('[');
  // A bracket makes an array only when it is closed; otherwise it is one more character that becomes an underscore.
  if (bracket !== -1 && name.includes(']', bracket)) return name.slice(0, bracket).replace(/[ .]/g, '_');
  if (bracket === 0) return '';
  return name.replace(/[ .[]/g, '_');
}
