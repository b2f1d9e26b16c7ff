import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Line } from './line.js';
import type { Machine } from './machine.js';

/** All that one run found out. */
export interface Results {
  /** When the run began, ISO 8601. */
  readonly at: string;
  readonly rounds: number;
  readonly secondsPerTurn: number;
  readonly machine: Machine;
  readonly lines: readonly Line[];
}

export function resultsText(results: Results): string {
  return `${JSON.stringify(results, (_, value) => (typeof value === 'number' ? rounded(value) : value), 2)}\n`;
}

export function writeResults(file: string, results: Results): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, resultsText(results));
}

/** Four digits that count: more would be noise. */
function rounded(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));
}
