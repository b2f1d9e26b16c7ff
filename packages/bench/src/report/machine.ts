import { cpus, loadavg, totalmem } from 'node:os';

/** What a reader must know of the machine to judge the figures; nothing that names it. */
export interface Machine {
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly node: string;
  readonly platform: string;
  /** Load average over one minute when the run began. */
  readonly loadBefore: number;
}

export function machine(): Machine {
  return {
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    loadBefore: Number((loadavg()[0] as number).toFixed(2)),
  };
}
