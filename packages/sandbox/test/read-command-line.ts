import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Command line of a running process, its parts joined by spaces; null when there is no such process. */
export function readCommandLine(pid: number): string | null {
  try {
    if (process.platform === 'linux') {
      const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return text === '' ? null : text.replaceAll('\0', ' ').trim();
    }
    const text = execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return text.trim() || null;
  } catch {
    return null;
  }
}
