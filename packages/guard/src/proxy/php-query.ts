/**
 * Query parameters as PHP sees them. PHP's `$_GET` is not a plain map of names: names are decoded, cut at a NUL byte
 * and at `[`, leading spaces fall away, dots and spaces become underscores, and of equal names the last one wins.
 * Source: PHP manual, "Variables From External Sources", and `php_register_variable_ex`.
 */
export class PhpQuery {
  readonly #values = new Map<string, string>();

  /** @param query the part of the target behind the question mark, without it */
  constructor(query: string) {
    if (query === '') return;
    for (const pair of query.split('&')) {
      const equals = pair.indexOf('=');
      const name = phpName(decode(equals === -1 ? pair : pair.slice(0, equals)));
      if (name !== '') this.#values.set(name, decode(equals === -1 ? '' : pair.slice(equals + 1)));
    }
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The value of the last parameter of that name (of an array: its last element). */
  get(name: string): string | undefined {
    return this.#values.get(name);
  }
}

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
  const bracket = name.indexOf('[', 1);
  if (bracket !== -1) name = name.slice(0, bracket);
  return name.replace(/[ .]/g, '_').replace(/^\[/, '_');
}
