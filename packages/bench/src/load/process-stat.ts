import { readdirSync, readFileSync } from 'node:fs';

/** Length of the kernel's clock tick in /proc, seconds; 100 a second on every Linux that Node runs on. */
const TICK = 0.01;

/** Processor time that a process and its children have used until now, user and system together, seconds. */
export function processorSeconds(pid: number): number {
  let ticks = 0;
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const fields = statFields(Number(entry));
    if (fields === null || (Number(entry) !== pid && fields.parent !== pid)) continue;
    ticks += fields.ticks;
  }
  return ticks * TICK;
}

/** Memory of a process that is in RAM, bytes. */
export function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** See proc(5): the name in brackets may hold spaces, so fields are counted behind it. */
function statFields(pid: number): { parent: number; ticks: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return null;
  }
}
