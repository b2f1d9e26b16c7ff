import type { Held } from './observe.js';

/** What a guard holds when nobody asks anything of it. */
export interface Measured extends Held {
  readonly descriptors: number;
  readonly resident: number;
}

/** How much more of the heap may be in use afterwards: compiled code and tables that are bounded by their size. */
const HEAP_GROWTH = 12 * 1024 * 1024;
const RESIDENT_GROWTH = 160 * 1024 * 1024;

/** What may be said at level error when WordPress is overrun: its faults, not guard's. */
const WORDPRESS_FAULTS = new Set(['wordpress-unreachable', 'api-failed', 'connector-missing']);

/** @returns what has grown by more than it may */
export function grown(before: Measured, after: Measured): string[] {
  const faults: string[] = [];
  const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024);
  const bytes = (name: string, one: number, other: number, most: number) => {
    if (other - one > most) faults.push(`${name} grew from ${megabytes(one)} to ${megabytes(other)} MB`);
  };
  bytes('the heap', before.heap, after.heap, HEAP_GROWTH);
  bytes('memory outside the heap', before.external, after.external, HEAP_GROWTH);
  bytes('resident memory', before.resident, after.resident, RESIDENT_GROWTH);
  // Jobs that run now and then, and a connection that ends at this very moment.
  if (after.timers > before.timers + 5) faults.push(`timers grew from ${before.timers} to ${after.timers}`);
  if (after.descriptors > before.descriptors + 3) {
    faults.push(`descriptors grew from ${before.descriptors} to ${after.descriptors}`);
  }
  return faults;
}

/** @returns lines that must not be there: errors, and anything that is not a line of guard's log */
export function faultsInLog(lines: readonly string[], realSite: boolean): string[] {
  const ofInspector = /^(Debugger (listening|attached|ending)|For help, see: |Waiting for the debugger)/;
  const faults: string[] = [];
  for (const line of lines) {
    if (ofInspector.test(line)) continue;
    const entry = parseLine(line);
    if (entry === null) faults.push(line);
    else if (entry.level === 'fatal') faults.push(line);
    else if (entry.level === 'error' && !(realSite && WORDPRESS_FAULTS.has(entry.event ?? ''))) faults.push(line);
  }
  return faults.slice(0, 20).map((line) => `in the log: ${line.slice(0, 2000)}`);
}

function parseLine(line: string): { level?: string; event?: string } | null {
  try {
    return JSON.parse(line) as { level?: string; event?: string };
  } catch {
    return null;
  }
}
