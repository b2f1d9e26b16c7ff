import { lstatSync, readdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { tryAsUser } from '../lib/privileges.js';
import type { HeldOutput } from './unfinished.js';

/**
 * Removes the file or the folder that root has created for a command that then failed. The command itself has
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

/** Removes only what was created. What a killed command has left in a folder is removed with the rights of its owner. */
function remove({ path, kind, inode, device }: HeldOutput): void {
  const name = basename(path);
  try {
    const found = lstatSync(name, { bigint: true });
    if (String(found.ino) !== inode || String(found.dev) !== device) return;
    if (kind === 'folder') {
      tryAsUser({ uid: Number(found.uid), gid: Number(found.gid) }, () => {
        for (const part of readdirSync(name)) rmSync(join(name, part), { recursive: true, force: true });
      });
      rmdirSync(name);
    } else unlinkSync(name);
  } catch {
    // It is gone, or somebody else has changed it.
  }
}

main(JSON.parse(process.argv[2] ?? '') as HeldOutput);
