import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { listProcesses } from './processes.js';

/** Length of the periods in which processes use their quota, microseconds. */
const PERIOD = 10_000;

/** Control groups of Linux: version 1 has a folder for each controller, version 2 one for all of them. */
const VERSION_1 = '/sys/fs/cgroup/cpu';
const VERSION_2 = '/sys/fs/cgroup';

interface ControlGroup {
  readonly dir: string;
  readonly pid: number;
}

/** Parts of a core, each more than 0.1. */
export interface ProcessorLimits {
  readonly all: number;
  readonly each: number;
}

/**
 * Limits a server and each of its processes to parts of a core, so that the load and the web server behind can have the
 * rest, as if they were other machines.
 */
export class ProcessorQuota {
  private constructor(
    private readonly root: string,
    private readonly dir: string,
    private readonly groups: readonly ControlGroup[],
  ) {}

  /**
   * @param pid the server; its children are limited separately
   * @returns null where control groups can't be used: not Linux, not root, or none for processor time
   */
  static create(pid: number): ProcessorQuota | null {
    const root = existsSync(`${VERSION_1}/cpu.cfs_quota_us`) ? VERSION_1 : VERSION_2;
    const dir = `${root}/security-optimizer-bench-${pid}`;
    try {
      if (root === VERSION_2) writeFileSync(`${root}/cgroup.subtree_control`, '+cpu');
      mkdirSync(dir);
      if (root === VERSION_2) writeFileSync(`${dir}/cgroup.subtree_control`, '+cpu');
      const groups = listProcesses(pid).map((each) => {
        const own = `${dir}/${each}`;
        mkdirSync(own);
        return { dir: own, pid: each };
      });
      return new ProcessorQuota(root, dir, groups);
    } catch {
      return null;
    }
  }

  /** Runs `work` while the server is limited. */
  async whileLimited<Result>({ all, each }: ProcessorLimits, work: () => Promise<Result>): Promise<Result> {
    try {
      this.#setQuota(this.dir, all);
      for (const { dir, pid } of this.groups) {
        this.#setQuota(dir, each);
        writeFileSync(`${dir}/cgroup.procs`, String(pid));
      }
      return await work();
    } finally {
      for (const { pid } of this.groups) writeFileSync(`${this.root}/cgroup.procs`, String(pid));
    }
  }

  #setQuota(dir: string, part: number): void {
    const quota = Math.round(part * PERIOD);
    if (this.root === VERSION_1) {
      writeFileSync(`${dir}/cpu.cfs_period_us`, String(PERIOD));
      writeFileSync(`${dir}/cpu.cfs_quota_us`, String(quota));
    } else writeFileSync(`${dir}/cpu.max`, `${quota} ${PERIOD}`);
  }

  /** Removes the groups. */
  async stop(): Promise<void> {
    for (const { dir } of this.groups) rmdirSync(dir);
    rmdirSync(this.dir);
  }
}
