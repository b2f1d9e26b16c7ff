/**
 * Files that the operator names on the command line, outside the data folder. A command that root calls acts as the
 * owner of the data folder (docs/decisions/0019), who may not read or write them. So root's rights are used for exactly
 * these names, before they are given up: a file to import is read, a file for output is opened, and the folder of a
 * back-up is created for that owner. What was created is removed again when the command fails (`unfinished`).
 */
import { close, constants, createReadStream, fchown, fstat, open, rmSync, statSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open as openFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { type ProcessUser, tryAsUser } from '../lib/privileges.js';
import { withoutByteOrderMark } from '../lib/typed-text.js';
import { describeFailure } from './back-up-files.js';
import { CommandError } from './command.js';
import { delaySignals, withSignals } from './signals.js';
import { holdOutput } from './unfinished.js';

/** Ten thousand sites are a file of 5 MB. */
const MAX_BYTES = 16 * 1024 * 1024;

/** What commands do with the file or folder that they are given. */
const NAMED_BY_COMMAND: Readonly<Record<string, 'input' | 'folder' | 'output'>> = {
  'settings import': 'input',
  'sites import': 'input',
  'back-up': 'folder',
  'privacy export': 'output',
};

const heldInputs = new Map<string, string>();
const heldOutputs = new Map<string, FileHandle>();

/**
 * Reads or opens what a command's arguments name, as root, and creates the folder of a back-up.
 *
 * @param owner user that the command is going to act as
 * @throws CommandError
 */
export async function takeOperatorFiles(command: string, args: readonly string[], owner: ProcessUser): Promise<void> {
  const kind = NAMED_BY_COMMAND[command];
  if (kind === undefined) return;
  const { first, output } = readNames(args);
  if (kind === 'input' && first !== undefined) heldInputs.set(first, await readBounded(first));
  if (kind === 'output' && output !== undefined) {
    await delaySignals(async () => {
      heldOutputs.set(output, await openOutput(output));
      await holdOutput('file', output);
    });
  }
  if (kind === 'folder' && first !== undefined) await provideFolder(resolve(first), owner);
}

/** Reads a file that the operator names. @throws CommandError that names the file */
export async function readOperatorFile(path: string): Promise<string> {
  return heldInputs.get(path) ?? (await readBounded(path));
}

/**
 * Writes a new file that the operator names, which only this user may read. Nothing is left of it after a failure or a
 * signal; a file that root has opened is removed at the end of the command.
 *
 * @throws CommandError that names the file
 */
export async function writeOperatorFile(path: string, text: string): Promise<void> {
  const opened = heldOutputs.get(path);
  const file = opened ?? (await openOutput(path));
  const remove = () => {
    if (opened === undefined) rmSync(path, { force: true });
  };
  try {
    await withSignals(remove, async () => {
      await file.writeFile(text);
      await file.sync();
    });
  } catch (error) {
    remove();
    throw new CommandError(
      `${path} can’t be written: ${describeFailure(error, dirname(resolve(path)))}. Nothing is left of it.`,
    );
  } finally {
    heldOutputs.delete(path);
    await file.close().catch(() => undefined);
  }
}

/** Options with values: otherwise the value of one that stands first would be taken for the file. */
const OPTIONS = ['data-dir', 'config', 'site', 'address', 'user', 'email', 'output'] as const;

function readNames(args: readonly string[]): { first: string | undefined; output: string | undefined } {
  const options = Object.fromEntries(OPTIONS.map((name) => [name, { type: 'string' as const }]));
  const { values, positionals } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true });
  const named = (text: unknown) => (typeof text === 'string' && text !== '' ? text : undefined);
  return { first: named(positionals[0]), output: named(values.output) };
}

async function readBounded(path: string): Promise<string> {
  try {
    const found = await stat(path);
    // A pipe, for example of `<(…)` in a shell, has no size.
    if (!found.isFile() && !found.isFIFO()) throw new CommandError(`${path} is not a file.`);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of createReadStream(path, { end: MAX_BYTES })) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
    if (bytes > MAX_BYTES) throw new CommandError(`${path} is larger than ${MAX_BYTES / 1024 / 1024} MB.`);
    return withoutByteOrderMark(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} can’t be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

async function openOutput(path: string): Promise<FileHandle> {
  try {
    return await openFile(path, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') {
      throw new CommandError(`${path} is there already. Name a file that does not exist yet.`);
    }
    throw new CommandError(`${path} can’t be created (${code}).`);
  }
}

/** Creates the folder of a back-up for its owner, unless that user has it already or creates it without help. */
async function provideFolder(folder: string, owner: ProcessUser): Promise<void> {
  const example =
    'Name a folder that does not exist yet, below one of root’s that everyone may enter, for example in /var/backups.';
  const around = dirname(folder);
  const isReached = tryAsUser(owner, () => canEnter(around));
  const found = await lstat(folder).catch(() => null);
  if (!isReached && (await stat(around).catch(() => null)) !== null) {
    throw new CommandError(`The owner of the data folder, user ${owner.uid}, may not enter ${around}. ${example}`);
  }
  if (found !== null) {
    if (found.uid === owner.uid) return;
    throw new CommandError(
      `${folder} belongs to user ${found.uid}, not to user ${owner.uid}, the owner of the data folder. ${example}`,
    );
  }
  if ((await stat(around).catch(() => null))?.uid === owner.uid) return;
  await delaySignals(async () => {
    await createFolderFor(folder, owner, example);
    await holdOutput('folder', folder);
  });
}

/** Whether this process may search a folder. */
function canEnter(folder: string): boolean {
  try {
    statSync(`${folder}/.`);
    return true;
  } catch {
    return false;
  }
}

/**
 * Creates a folder as root for another user, where nobody else could exchange it.
 *
 * @param remedy what to do otherwise
 * @throws CommandError
 */
export async function createFolderFor(folder: string, { uid, gid }: ProcessUser, remedy: string): Promise<void> {
  const around = await stat(dirname(folder)).catch(() => null);
  if (around === null) throw new CommandError(`There is no folder ${dirname(folder)} for ${folder}. ${remedy}`);
  if (around.uid !== 0 || (around.mode & 0o022) !== 0) {
    throw new CommandError(`Others than root may change ${dirname(folder)}. ${remedy}`);
  }
  await mkdir(folder, { mode: 0o700 });
  await setOwner(folder, uid, gid);
}

/** Uses a descriptor, so that only a folder changes its owner and never the target of a link. */
async function setOwner(folder: string, uid: number, gid: number): Promise<void> {
  const file = await promisify(open)(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    if ((await promisify(fstat)(file)).uid !== 0) throw new CommandError(`${folder} was replaced.`);
    await promisify(fchown)(file, uid, gid);
  } finally {
    await promisify(close)(file);
  }
}
