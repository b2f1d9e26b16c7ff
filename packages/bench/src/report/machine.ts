import { cpus, loadavg, totalmem } from 'node:os';

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
