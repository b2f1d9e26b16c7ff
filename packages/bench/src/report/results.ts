import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Line } from './line.js';
import type { Machine } from './machine.js';

/** All that one run of one measure found out. Its rivals took part in the same run. */
export interface Results {
  /** Id of the measure, such as `p1`. */
  readonly measure: string;
  /** When the run began, ISO 8601. */
  readonly at: string;
  readonly rounds: number;
  readonly secondsPerTurn: number;
  readonly machine: Machine;
  readonly lines: readonly Line[];
}

/** The newest results of each measure, as JSON. */
export function resultsText(results: readonly Results[]): string {
  return `${JSON.stringify(results, (_, value) => (typeof value === 'number' ? rounded(value) : value), 2)}\n`;
}

/** Puts the results of a measure in the place of its older ones. A file that can't be read is begun anew. */
export function writeResults(file: string, results: Results): void {
  mkdirSync(dirname(file), { recursive: true });
  const others = read(file).filter(({ measure }) => measure !== results.measure);
  const all = [...others, results].sort((a, b) => a.measure.localeCompare(b.measure));
  writeFileSync(file, resultsText(all));
}

function read(file: string): Results[] {
  try {
    const stored: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(stored) ? stored : [];
  } catch {
    return [];
  }
}

/** Four digits that count: more would be noise. */
function rounded(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));
}
