import type { Line } from './report/report.js';

/** The context of a measure. */
export interface Bench {
  /** Folder for this run's files; removed afterwards. */
  readonly dir: string;
  readonly rounds: number;
  /** Length of one turn. */
  readonly seconds: number;
  /** Prints progress. */
  log(text: string): void;
  /** Registers something that must be stopped at the end, even if the run fails or is interrupted. */
  stopAtEnd<T extends { stop(): Promise<void> }>(started: T): T;
}

/** A measure starts its own rivals and returns its lines of the report. */
export interface Measure {
  /** Lower-case, as in `--only`. */
  readonly id: string;
  readonly title: string;
  run(bench: Bench): Promise<Line[]>;
}
