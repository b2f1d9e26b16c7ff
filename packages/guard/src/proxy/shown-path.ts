/** Longest path that WordPress is told beside the one that it is asked for, characters. */
const PATH_MAX = 1024;

/**
 * The path of what the visitor asked for, as WordPress is told it beside the target that it gets; undefined when it is
 * longer than any that leads somewhere. Raw bytes, which Node shows as one character each, would not survive JSON.
 */
export function shownPath(asked: string): string | undefined {
  const mark = asked.indexOf('?');
  // A bare question mark at the end is all there is of a query, and the target has none.
  const path = mark === -1 || mark === asked.length - 1 ? asked : asked.slice(0, mark);
  const encoded = path.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  return encoded.length > PATH_MAX ? undefined : encoded;
}
