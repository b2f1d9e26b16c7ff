import type { Bar, Line } from './line.js';

const HEADS = ['', 'measure', 'value', 'rival', 'ratio', 'bar', ''] as const;
/** Columns of numbers stand flush right. */
const RIGHT = new Set([2, 4]);

/** The report as a table of plain text. */
export function table(lines: readonly Line[]): string {
  const rows = [HEADS.map(String), ...lines.map(cells)];
  const widths = HEADS.map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length)));
  const text = rows.map((row) =>
    row
      .map((cell, column) =>
        RIGHT.has(column) ? cell.padStart(widths[column] as number) : cell.padEnd(widths[column] as number),
      )
      .join('  ')
      .trimEnd(),
  );
  text.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '));
  return `${text.join('\n')}\n`;
}

/** The same table for a Markdown document. */
export function markdownTable(lines: readonly Line[]): string {
  const rows = lines.map((entry) => `| ${cells(entry).join(' | ')} |`);
  const rule = HEADS.map((_, column) => (RIGHT.has(column) ? '--:' : '---'));
  return [`| ${HEADS.join(' | ')} |`, `| ${rule.join(' | ')} |`, ...rows, ''].join('\n');
}

function cells(entry: Line): string[] {
  return [
    entry.measure.toUpperCase(),
    entry.what,
    `${figure(entry.value)} ${entry.unit}`,
    entry.rival === null ? '' : `${entry.rival}: ${figure(entry.rivalValue as number)}`,
    entry.ratio === null ? '' : `${figure(entry.ratio)}x`,
    entry.bar === null ? '' : barText(entry.bar, entry.unit),
    entry.pass === null ? '' : entry.pass ? 'pass' : 'MISSED',
  ];
}

function barText({ of, is, limit }: Bar, unit: string): string {
  return `${is === 'at least' ? '>=' : '<='} ${figure(limit)}${of === 'ratio' ? 'x' : ` ${unit}`}`;
}

/** Three digits that count. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en-GB', { maximumFractionDigits: Math.min(digits, 3) });
}
