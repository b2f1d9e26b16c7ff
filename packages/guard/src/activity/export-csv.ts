import { plainText } from '../lib/plain-text.js';

export type Cell = string | number | null;

/** UTF-8 byte order mark: without it spreadsheets take the file for the system's own encoding. */
export const BYTE_ORDER_MARK = '\ufeff';

/**
 * Beginnings that a spreadsheet takes for a formula (OWASP, "CSV Injection"): = + - @, tab, CR and LF, and the
 * full-width forms of the first four.
 */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * One line of a CSV file (RFC 4180), with its line end. Texts are always quoted, so that a semicolon or tab parts no
 * cells where another list separator is used; one that would be a formula begins with an apostrophe, and control
 * characters are shown as `\u000a`.
 */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = plainText(cell, Number.POSITIVE_INFINITY);
  return `"${FORMULA.test(cell) ? "'" : ''}${text.replaceAll('"', '""')}"`;
}
