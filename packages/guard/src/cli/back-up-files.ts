/** What `back-up` writes and `restore` reads: the files of a back-up and their list. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, copyFile, open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { ConfigError } from '../config/load-config.js';
import { LockFileError } from '../storage/data-dir-lock.js';
import { toSqliteFault } from '../storage/sqlite.js';
import { CommandError, UsageError } from './command.js';

/** Written last, so that an incomplete back-up has no manifest. */
export const MANIFEST = 'back-up.json';
/** Names of the databases in a back-up. */
export const SETTINGS = 'guard.sqlite';
export const ACTIVITY = 'activity.sqlite';
/** Folder of the files in a back-up that the configuration names. */
export const NAMED = 'named';

const copyName = z.string().regex(/^(?:(?:sites|named)\/)?(?!\.{1,2}$)[\w.-]+$/);

const manifestSchema = z.object({
  /** Version of guard that made the back-up. */
  version: z.string(),
  /** ISO 8601. */
  madeAt: z.string(),
  files: z.record(copyName, z.object({ bytes: z.int(), sha256: z.string() })),
  /** Which of the files the configuration names, and how. Older back-ups have none. */
  named: z.array(z.object({ copy: copyName, path: z.string().min(1), key: z.string() })).default([]),
  /** Settings that guard has from its environment; `value` is null for a secret. Older back-ups have none. */
  environment: z
    .array(z.object({ name: z.string().regex(/^SECURITY_OPTIMIZER_[A-Z_]+$/), value: z.string().nullable() }))
    .default([]),
  /**
   * The PostgreSQL database that holds the settings, without its password; null if they are among the files. Older
   * back-ups have none.
   */
  settingsIn: z.string().nullable().default(null),
});
export type Manifest = z.output<typeof manifestSchema>;

/** @throws CommandError when the folder has no complete back-up */
export async function readManifest(folder: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readFile(join(folder, MANIFEST), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(
      code === 'EACCES'
        ? `${join(folder, MANIFEST)} can’t be read by ${describeUser()}. Give the back-up to that user: chown -R ${process.geteuid?.()} ${folder}`
        : `${folder} holds no complete back-up: ${MANIFEST} is missing or can’t be read (${code}).`,
    );
  }
  const parsed = manifestSchema.safeParse(toJson(text));
  const isComplete = parsed.success && parsed.data.named.every(({ copy }) => Object.hasOwn(parsed.data.files, copy));
  if (!isComplete) throw new CommandError(`${join(folder, MANIFEST)} is not as it was written.`);
  return parsed.data;
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Commands that root calls act as the owner of the data folder. */
function describeUser(): string {
  return `user ${process.geteuid?.()}, the owner of the data folder`;
}

/** Size and checksum of a file, for the manifest. */
export async function describeFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { bytes: (await stat(path)).size, sha256: hash.digest('hex') };
}

/** Copies a file so that only its owner may read the copy, and so that it is on the disk. */
export async function copyPrivate(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  await chmod(to, 0o600);
  await syncFile(to);
}

/** Waits until a file's content is on the disk. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.sync().finally(() => file.close());
}

/**
 * The cause of a failed copy, for people.
 * @param folder where the copies were to be written
 */
export function describeFailure(error: unknown, folder: string): string {
  const { code, path, syscall, message } = error as NodeJS.ErrnoException;
  const cause = error instanceof LockFileError ? error.cause : error;
  if (code === 'ENOSPC' || code === 'EDQUOT' || toSqliteFault(cause).fault === 'full') {
    return `the disk of ${folder} is full`;
  }
  return syscall === undefined || path === undefined ? message : `${path}: ${code}`;
}

/** Whether an error already tells people what to do. */
export function isExplained(error: unknown): boolean {
  return [CommandError, UsageError, ConfigError].some((kind) => error instanceof kind);
}

/** The one folder that a command names. @throws UsageError */
export function readFolder(positionals: readonly string[]): string {
  const [folder, ...more] = positionals;
  if (folder === undefined || folder === '' || more.length > 0) throw new UsageError('Name one folder.');
  return folder;
}
