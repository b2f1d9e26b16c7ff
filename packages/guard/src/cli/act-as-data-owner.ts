import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { z } from 'zod';
import { becomeUser, isRoot } from '../lib/privileges.js';
import { startSiteBroker } from '../wordpress/site-files.js';
import { CommandError, UsageError } from './command.js';
import { createFolderFor, readOperatorFile, takeOperatorFiles } from './operator-files.js';

/**
 * Drops root's rights for good before a command accesses its data folder, so that the command reads, writes and follows
 * links there with the rights of the folder's owner. For commands that work in the folders of sites, a process that
 * keeps root's rights is started first (docs/decisions/0019). Files that the operator names elsewhere are read or opened
 * first (`operator-files`). Nothing changes for a user other than root, or when root owns the data folder.
 *
 * @param args arguments of the command; the command itself validates them later
 * @throws UsageError, CommandError, or the system's error
 */
export async function actAsDataOwner(command: string, args: readonly string[]): Promise<void> {
  const values = readPaths(args);
  const folder = values['data-dir'] ?? (values.config === undefined ? undefined : dirname(values.config));
  const user = isAdding(command) ? values.user : undefined;
  if (!isRoot()) {
    if (user !== undefined) throw new UsageError('--user: only root can make a data folder for another user.');
    return;
  }
  if (folder === undefined || folder === '') return;
  if (user !== undefined) await makeDataFolder(resolve(folder), user);
  const found = await stat(folder).catch(() => null);
  if (found === null || found.uid === 0) return;
  await takeOperatorFiles(command, args, found);
  if (isAdding(command) || ['sites remove', 'sites import', 'doctor'].includes(command)) {
    const named = isAdding(command)
      ? [values.wordpress, values.release, values['mu-plugins']]
      : command === 'sites import'
        ? await foldersInFile(args)
        : command === 'sites remove'
          ? [values['mu-plugins']]
          : [];
    startSiteBroker(named.filter((path) => path !== undefined).map((path) => resolve(path)));
  }
  becomeUser(found.uid, { fallbackGroup: found.gid, withGroups: true });
}

/** The site folders that an import file names. The operator has chosen that file. Empty when the file can't be read. */
async function foldersInFile(args: readonly string[]): Promise<readonly string[]> {
  const { positionals } = parseArgs({ args: [...args], options: toOptions(), strict: false, allowPositionals: true });
  try {
    const { sites } = importedFolders.parse(JSON.parse(await readOperatorFile(positionals[0] ?? '')));
    return sites.flatMap(({ wordpressDir, muPluginsDir }) =>
      [wordpressDir, muPluginsDir].filter((folder) => typeof folder === 'string'),
    );
  } catch {
    // The command itself reports what is wrong with the file.
    return [];
  }
}

const importedFolders = z.object({
  sites: z.array(z.object({ wordpressDir: z.string().nullish(), muPluginsDir: z.string().nullish() })),
});

function isAdding(command: string): boolean {
  return command === 'sites add';
}

const pathOptions = ['data-dir', 'config', 'wordpress', 'release', 'mu-plugins', 'user'] as const;

function toOptions() {
  return Object.fromEntries(pathOptions.map((name) => [name, { type: 'string' as const }]));
}

function readPaths(args: readonly string[]): Partial<Record<(typeof pathOptions)[number], string>> {
  const { values } = parseArgs({ args: [...args], options: toOptions(), strict: false, allowPositionals: true });
  return Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === 'string'));
}

/** Creates a data folder for a user, unless that user owns it already. */
async function makeDataFolder(folder: string, user: string): Promise<void> {
  const { uid, gid } = await findUser(user);
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (found !== null) {
    if (found.uid === uid) return;
    throw new CommandError(
      `${folder} belongs to user ${found.uid}, not to ${user}. To give it to them: chown -R ${user}: ${folder}`,
    );
  }
  await createFolderFor(folder, { uid, gid }, `Make ${folder} yourself, or choose another place.`);
}

async function findUser(name: string): Promise<{ readonly uid: number; readonly gid: number }> {
  const readId = async (option: '-u' | '-g') =>
    Number((await promisify(execFile)('id', [option, '--', name]).catch(() => ({ stdout: '' }))).stdout.trim() || NaN);
  const [uid, gid] = [await readId('-u'), await readId('-g')];
  if (!Number.isInteger(uid) || !Number.isInteger(gid)) {
    throw new UsageError(`--user: there is no user ${JSON.stringify(name)}. Use the name of a user of this machine.`);
  }
  return { uid, gid };
}
