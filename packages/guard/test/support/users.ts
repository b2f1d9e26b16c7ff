import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { runIn } from './command-line.js';
import { scratchFolder } from './scratch.js';

/** Users without an entry in the system's list are sufficient. */
export const [OWNER, GUARD, VICTIM] = [54_321, 54_322, 54_323];

/** The command line, where every user can read it. */
export const program = inject('program');

/** Only root can act as other users. */
export const canSwitchUsers =
  process.getuid?.() === 0 &&
  spawnSync(process.execPath, [program, '--version'], { uid: GUARD, gid: GUARD, stdio: 'ignore' }).status === 0;

/** Runs a command, called by root, until it ends. */
export function runAsRoot(...args: string[]) {
  return runIn({}, args, program);
}

/** A folder that every user may enter. */
export async function openFolder(): Promise<string> {
  const folder = await scratchFolder();
  chmodSync(folder, 0o755);
  return folder;
}

export function changeOwner(path: string, uid: number, gid = uid): void {
  execFileSync('chown', ['-Rh', `${uid}:${gid}`, path]);
}

/** A WordPress that belongs to a user. */
export function makeWordPress(dir: string, uid: number): string {
  for (const folder of ['wp-includes', 'wp-content']) mkdirSync(join(dir, folder), { recursive: true });
  for (const file of ['wp-load.php', 'wp-includes/version.php', 'wp-config.php'])
    writeFileSync(join(dir, file), '<?php');
  chmodSync(join(dir, 'wp-config.php'), 0o640);
  changeOwner(dir, uid);
  return dir;
}

/** A WordPress of one user beside that of another, and a data folder of guard's user. */
export async function machine() {
  const root = await openFolder();
  const wordpress = makeWordPress(join(root, 'site'), OWNER);
  const victim = makeWordPress(join(root, 'victim'), VICTIM);
  const theirs = join(victim, 'wp-content', 'mu-plugins');
  for (const folder of ['assets', 'languages']) {
    mkdirSync(join(theirs, 'security-optimizer', folder), { recursive: true });
    writeFileSync(join(theirs, 'security-optimizer', folder, 'own.js'), 'theirs');
  }
  writeFileSync(join(theirs, 'security-optimizer', 'secret.php'), 'theirs');
  writeFileSync(join(theirs, 'security-optimizer.php'), 'theirs');
  changeOwner(victim, VICTIM);
  const dataDir = join(root, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  changeOwner(dataDir, GUARD);
  const attach = (...more: string[]) =>
    runAsRoot(
      ...['attach', '--wordpress', wordpress, '--upstream', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0'],
      ...['--data-dir', dataDir, ...more],
    );
  const ofRoot = join(root, 'of-root');
  mkdirSync(ofRoot);
  const plugins = join(wordpress, 'wp-content', 'mu-plugins');
  const own = join(plugins, 'security-optimizer');
  return { root, wordpress, victim, theirs, ofRoot, dataDir, attach, plugins, own };
}

/** All properties of a folder that must not change: names, owners, permissions, contents. */
export function snapshot(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .concat(folder)
    .sort()
    .map((path) => {
      const found = lstatSync(path);
      const content = found.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
      const target = found.isSymbolicLink() ? readlinkSync(path) : '';
      return `${path} ${found.uid}:${found.gid} ${found.mode.toString(8)} ${content}${target}`;
    });
}

/** Users who own a file in a folder. */
export function listOwners(folder: string): number[] {
  const names = readdirSync(folder, { recursive: true }) as string[];
  return [...new Set(['.', ...names].map((name) => lstatSync(join(folder, name)).uid))];
}

/** Creates a link as a user would. */
export function linkAs(uid: number, target: string, path: string): void {
  symlinkSync(target, path);
  execFileSync('chown', ['-h', `${uid}:${uid}`, path]);
}
