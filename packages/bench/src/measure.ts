import type { Line } from './report/report.js';

/** What a measure is given to work with. */
export interface Bench {
  /** Folder for this run's files; removed afterwards. */
  readonly dir: string;
  readonly rounds: number;
  /** Length of one turn. */
  readonly seconds: number;
  /** Tells the one who waits what is going on. */
  say(text: string): void;
  /** Takes something that must be stopped at the end, also when the run fails or is interrupted. */
  keep<T extends { stop(): Promise<void> }>(taken: T): T;
}

/** One thing that is measured. A measure starts its own rivals and gives its lines of the report. */
export interface Measure {
  /** Lower-case, as in `--only`. */
  readonly id: string;
  readonly title: string;
  run(bench: Bench): Promise<Line[]>;
}
