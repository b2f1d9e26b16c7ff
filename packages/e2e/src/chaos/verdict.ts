import type { ResourceCounts } from './observe.js';

/** The resources of an idle guard. */
export interface Measured extends ResourceCounts {
  readonly descriptors: number;
  readonly resident: number;
}

/** The result of one request for a plain page by another visitor. */
export interface WatcherSample {
  readonly when: 'during chaos' | 'right after chaos' | 'at the end';
  /** Null without a response. */
  readonly status: number | null;
  /** Milliseconds until guard had answered. */
  readonly ms: number;
  /** The slowest response of the web server itself in that time, without guard. */
  readonly directMs: number;
}

/** The maximum time that guard may add to a page. With more, users think that the site is down. */
const PATIENCE_MS = 5000;

/** The maximum growth of memory under visits that each may fill the buffers of a connection. */
const PEAK_GROWTH = 512 * 1024 * 1024;

/** The maximum growth of the heap afterwards: compiled code and tables with a bounded size. */
const HEAP_GROWTH = 12 * 1024 * 1024;
const RESIDENT_GROWTH = 160 * 1024 * 1024;

/** Allowed error events when WordPress is overloaded: its failures, not guard's. */
const WORDPRESS_FAULTS = new Set(['wordpress-unreachable', 'api-failed', 'connector-missing']);

/** @returns what has grown by more than it may */
export function findGrowth(before: Measured, after: Measured): string[] {
  const faults: string[] = [];
  const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024);
  const bytes = (name: string, one: number, other: number, limit: number) => {
    if (other - one > limit) faults.push(`${name} grew from ${megabytes(one)} to ${megabytes(other)} MB`);
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

/** @returns a failure if guard's memory has grown too much during the run */
export function peakFaults(before: Measured, peak: number): string[] {
  const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024);
  if (peak - before.resident <= PEAK_GROWTH) return [];
  return [`resident memory rose from ${megabytes(before.resident)} to ${megabytes(peak)} MB during chaos`];
}

/** Milliseconds that guard added to a page. */
export const addedMs = ({ ms, directMs }: WatcherSample): number => Math.max(0, ms - directMs);

/** @returns a fault for each moment at which the watcher did not get its page in time */
export function watcherFaults(samples: readonly WatcherSample[]): string[] {
  const failed = samples.filter(({ status }) => status !== 200);
  const late = samples.filter((sample) => sample.status === 200 && addedMs(sample) > PATIENCE_MS);
  const slowest = late.reduce(
    (slowest, sample) => (slowest === null || addedMs(sample) > addedMs(slowest) ? sample : slowest),
    late[0] ?? null,
  );
  return [
    ...tally(failed.map(({ when, status }) => `a plain page ${when} was answered with ${status ?? 'nothing'}`)),
    ...(slowest === null
      ? []
      : [
          `${late.length} x a plain page took over ${PATIENCE_MS} ms more than past guard, the slowest ${slowest.ms} ms (past guard: ${slowest.directMs} ms) ${slowest.when}`,
        ]),
  ];
}

/** @returns a fault for each request of a crowded address that guard did not answer, or refused */
export function crowdFaults(statuses: readonly (number | null)[], realSite: boolean): string[] {
  const failed = statuses.filter((status) => status === null || (!realSite && status !== 200));
  return tally(
    failed.map((status) => `a request of an address with an idle crowd was answered with ${status ?? 'nothing'}`),
  );
}

/** Groups equal lines and counts them. */
export function tally(lines: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return [...counts].map(([line, count]) => `${count} x ${line}`);
}

/** @returns lines that are not allowed: errors, and anything that is not a line of guard's log */
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
