import type { AttackResult } from './run.js';

/** Counts of a run. */
export interface Summary {
  readonly held: number;
  readonly failed: number;
  readonly notRun: number;
}

export function summarise(results: readonly AttackResult[]): Summary {
  const count = (ok: boolean | null) => results.filter((result) => result.ok === ok).length;
  return { held: count(true), failed: count(false), notRun: count(null) };
}

/**
 * A table for people, group by group. Attacks that could not run are counted by their reasons at the end, unless all is
 * wanted.
 */
export function attackTable(results: readonly AttackResult[], all: boolean): string {
  const shown = all ? results : results.filter(({ ok }) => ok !== null);
  const columns = ['attack', 'expected', 'got', 'twin'] as const;
  const cells = shown.map((result) => columns.map((column) => cut(result[column])));
  const widths = columns.map((column, at) => Math.max(column.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[], ok: string) =>
    `${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}  ${ok}\n`;
  let text = line(columns, 'ok');
  for (const [at, { group, ok }] of shown.entries()) {
    if (group !== shown[at - 1]?.group) text += `\n${group}\n`;
    text += line(cells[at] ?? [], ok === null ? '-' : ok ? 'yes' : 'NO');
  }
  const { held, failed, notRun } = summarise(results);
  const reasons = new Map<string, number>();
  for (const { ok, got } of results) if (ok === null) reasons.set(got, (reasons.get(got) ?? 0) + 1);
  text += `\n${held} held, ${failed} failed, ${notRun} not run\n`;
  for (const [reason, count] of reasons) text += `  ${count} not run: ${reason}\n`;
  return text;
}

const cut = (text: string): string =>
  (text.length > 72 ? `${text.slice(0, 71)}…` : text).replace(/[^\x20-\uffff]/g, '?');
