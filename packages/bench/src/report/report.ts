import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { dirname } from 'node:path';

/** A line of the report: a figure of guard, and one of a rival from the same run. */
export interface Line {
  /** Id of the measure, such as `p1`. */
  readonly measure: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly rival: string | null;
  readonly rivalValue: number | null;
  /** Guard's figure divided by the rival's: the median over the rounds. */
  readonly ratio: number | null;
  readonly bar: Bar | null;
  /** Null without a bar. */
  readonly pass: boolean | null;
}

export interface Bar {
  /** The figure that is compared with the limit. */
  readonly of: 'ratio' | 'value';
  readonly is: 'at least' | 'at most';
  readonly limit: number;
}

/** Creates a line and compares it with its bar. */
export function line(facts: {
  readonly measure: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** `ratio` is null where it makes no sense, as for differences close to zero. */
  readonly rival?: { readonly name: string; readonly value: number; readonly ratio: number | null };
  readonly bar?: Bar;
}): Line {
  const { measure, what, value, unit, rival, bar } = facts;
  const compared = bar?.of === 'ratio' ? (rival?.ratio ?? Number.NaN) : value;
  return {
    measure,
    what,
    value,
    unit,
    rival: rival?.name ?? null,
    rivalValue: rival?.value ?? null,
    ratio: rival?.ratio ?? null,
    bar: bar ?? null,
    // NaN misses its bar.
    pass: bar === undefined ? null : bar.is === 'at least' ? compared >= bar.limit : compared <= bar.limit,
  };
}

/** The results of a run of a measure, with its rivals in the same run. */
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

/** Formats results as JSON. */
export function resultsText(results: readonly Results[]): string {
  return `${JSON.stringify(results, (_, value) => (typeof value === 'number' ? rounded(value) : value), 2)}\n`;
}

/** Replaces the older results of a measure in the file. An unreadable file is overwritten. */
export function writeResults(file: string, results: Results): void {
  mkdirSync(dirname(file), { recursive: true });
  const others = read(file).filter(({ measure }) => measure !== results.measure);
  const all = [...others, results].sort((a, b) => a.measure.localeCompare(b.measure, 'en', { numeric: true }));
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

/** Rounds to four significant digits. More would be noise. */
function rounded(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));
}

const HEADS = ['', 'measure', 'value', 'rival', 'ratio', 'bar', ''] as const;
/** Columns of numbers are right-aligned. */
const RIGHT = new Set([2, 4]);

/** Formats the report as a plain-text table. */
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

/** Formats the report as a Markdown table. */
function markdownTable(lines: readonly Line[]): string {
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

/** Formats a number with three significant digits. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en-GB', { maximumFractionDigits: Math.min(digits, 3) });
}

const begin = (measure: string) => `<!-- results of ${measure}: written by npm run bench -->`;
const end = (measure: string) => `<!-- end of results of ${measure} -->`;

/** Writes the results of a measure into the document. */
export function updateDocument(file: string, results: Results): void {
  writeFileSync(file, withResults(readFileSync(file, 'utf8'), results));
}

/** @throws Error if the document has no markers for this measure */
export function withResults(document: string, results: Results): string {
  const first = begin(results.measure);
  const last = end(results.measure);
  const from = document.indexOf(first);
  const to = document.indexOf(last);
  if (from === -1 || to < from) throw new Error(`the document has no lines ${first} and ${last}`);
  return `${document.slice(0, from + first.length)}\n\n${section(results)}\n${document.slice(to)}`;
}

function section({ at, rounds, secondsPerTurn, machine, lines }: Results): string {
  const day = at.slice(0, 10);
  return [
    `Run of ${day}: ${rounds} rounds, ${secondsPerTurn} s a turn. A virtual machine with ${machine.cores} cores and`,
    `${machine.memoryGigabytes} GB of memory (${machine.platform}), Node ${machine.node}; load average`,
    `${machine.loadBefore} before the run, ${machine.loadAfter} at its end (the bench itself makes two to three).`,
    '',
    markdownTable(lines),
  ].join('\n');
}

/** Facts about the machine that are needed to judge the figures. Nothing identifies it. */
export interface Machine {
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly node: string;
  readonly platform: string;
  /** Load average over one minute before the run. */
  readonly loadBefore: number;
  /** The same at the end of the run. The bench causes two to three of it. */
  readonly loadAfter: number;
}

/** Facts at the start of a run. `ended` completes them. */
export function machine(): Omit<Machine, 'loadAfter'> {
  return {
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    loadBefore: load(),
  };
}

export function ended(facts: Omit<Machine, 'loadAfter'>): Machine {
  return { ...facts, loadAfter: load() };
}

/** Whether other programs use so much of the machine that the figures mean nothing. */
export function isBusy({ cores, loadBefore }: Pick<Machine, 'cores' | 'loadBefore'>): boolean {
  return loadBefore > cores / 4;
}

function load(): number {
  return Number((loadavg()[0] as number).toFixed(2));
}
