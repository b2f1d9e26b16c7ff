import { lstatSync, rmdirSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { HeldOutput } from './unfinished.js';

/**
 * Removes the file or the empty folder that root has created for a command that then failed. The command itself has
 * given up the rights for that. Runs as root beside it, and ends with it, however it ends.
 */
function main(output: HeldOutput): void {
  // The end of the command decides.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  // The names of the folders above may lead elsewhere later.
  process.chdir(dirname(output.path));
  if (!process.connected) {
    remove(output);
    process.exit();
  }
  process.once('message', (isFinished) => {
    process.removeAllListeners('disconnect');
    if (isFinished !== true) remove(output);
    process.disconnect?.();
    process.exit();
  });
  process.once('disconnect', () => {
    remove(output);
    process.exit();
  });
  // Fails when the command has ended meanwhile, and then this process is disconnected.
  process.send?.('ready', () => undefined);
}

/** Removes only what was created, and of folders only an empty one. */
function remove({ path, kind, inode, device }: HeldOutput): void {
  const name = basename(path);
  try {
    const found = lstatSync(name, { bigint: true });
    if (String(found.ino) !== inode || String(found.dev) !== device) return;
    if (kind === 'folder') rmdirSync(name);
    else unlinkSync(name);
  } catch {
    // It is gone, or the command was killed before it could empty the folder.
  }
}

main(JSON.parse(process.argv[2] ?? '') as HeldOutput);
