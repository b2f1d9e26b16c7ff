import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { dirname } from 'node:path';

/** One line of the report: a figure of ours beside one of a rival's from the same run. */
export interface Line {
  /** Id of the measure, such as `p1`. */
  readonly measure: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly rival: string | null;
  readonly rivalValue: number | null;
  /** Ours against the rival's: the median over the rounds, each round compared within itself. */
  readonly ratio: number | null;
  readonly bar: Bar | null;
  /** Null when no bar stands for this line. */
  readonly pass: boolean | null;
}

export interface Bar {
  /** What is held against the limit. */
  readonly of: 'ratio' | 'value';
  readonly is: 'at least' | 'at most';
  readonly limit: number;
}

/** Makes a line and says whether it meets its bar. */
export function line(facts: {
  readonly measure: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** `ratio` is null where one figure has no sense as a multiple of the other: differences may be about nothing. */
  readonly rival?: { readonly name: string; readonly value: number; readonly ratio: number | null };
  readonly bar?: Bar;
}): Line {
  const { measure, what, value, unit, rival, bar } = facts;
  const held = bar?.of === 'ratio' ? (rival?.ratio ?? Number.NaN) : value;
  return {
    measure,
    what,
    value,
    unit,
    rival: rival?.name ?? null,
    rivalValue: rival?.value ?? null,
    ratio: rival?.ratio ?? null,
    bar: bar ?? null,
    // Written so that a figure that is no number misses its bar.
    pass: bar === undefined ? null : bar.is === 'at least' ? held >= bar.limit : held <= bar.limit,
  };
}

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

const begin = (measure: string) => `<!-- results of ${measure}: written by npm run bench -->`;
const end = (measure: string) => `<!-- end of results of ${measure} -->`;

/** Puts the results of a measure into the document, so that its table is never typed by hand. */
export function updateDocument(file: string, results: Results): void {
  writeFileSync(file, withResults(readFileSync(file, 'utf8'), results));
}

/** @throws Error when the document has no place for this measure */
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

/** What a reader must know of the machine to judge the figures; nothing that names it. */
export interface Machine {
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly node: string;
  readonly platform: string;
  /** Load average over one minute when the run began, the machine's mood before the bench put load on it. */
  readonly loadBefore: number;
  /** The same at the end of the run; the bench itself makes two to three of it. */
  readonly loadAfter: number;
}

/** Facts at the start of a run; `ended` completes them. */
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

/** Whether other programs leave too little of the machine for the figures to mean anything. */
export function isBusy({ cores, loadBefore }: Pick<Machine, 'cores' | 'loadBefore'>): boolean {
  return loadBefore > cores / 4;
}

function load(): number {
  return Number((loadavg()[0] as number).toFixed(2));
}
