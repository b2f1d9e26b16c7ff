/**
 * Removes the byte order mark with which some editors begin a file in UTF-8. A parser may ignore it (RFC 8259, section
 * 8.1), and `JSON.parse` does not.
 */
export function withoutByteOrderMark(text: string): string {
  return text.replace(/^\ufeff/, '');
}
