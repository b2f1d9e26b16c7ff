import { execFileSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { scratchFolder } from './scratch.js';

/** Runs `mount`. @throws an error with its output when it fails */
export const mount = (...args: string[]) => execFileSync('mount', args, { stdio: 'pipe' });

export const unmount = (folder: string) => execFileSync('umount', ['-l', folder], { stdio: 'pipe' });

/** Whether a test can mount a disk on this machine: Linux, as root. */
export function canMount(): boolean {
  try {
    mount('-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', '/mnt');
    unmount('/mnt');
    return true;
  } catch {
    return false;
  }
}

/**
 * A folder that is a disk of its own, unmounted after the test.
 * @param size for example `6m`
 */
export async function smallDisk(size: string): Promise<string> {
  const disk = await scratchFolder();
  mount('-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk);
  onTestFinished(() => void unmount(disk));
  return disk;
}

/** Writes the file `ballast` until the disk is full. */
export async function fillDisk(disk: string): Promise<void> {
  const file = await open(join(disk, 'ballast'), 'w');
  try {
    for (const size of [65_536, 4096, 1]) {
      try {
        for (;;) await file.write(Buffer.alloc(size));
      } catch {}
    }
  } finally {
    await file.close();
  }
}
