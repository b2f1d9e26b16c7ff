import { existsSync, rmSync } from 'node:fs';
import { access, mkdir, readdir, rename, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describeDatabase, isPostgresUrl } from '../config/database-url.js';
import {
  CONFIG_FILE,
  ConfigError,
  DATABASE,
  type EnvironmentSetting,
  getDatabaseUrl,
  listEnvironment,
  readConfigFile,
} from '../config/load-config.js';
import { syncFolder } from '../lib/files.js';
import { lineText } from '../lib/plain-text.js';
import { tryLock } from '../storage/data-dir-lock.js';
import { databaseFile } from '../storage/open-storage.js';
import {
  copyPrivate,
  describeFailure,
  describeFile,
  isExplained,
  type Manifest,
  NAMED,
  readFolder,
  readManifest,
  SETTINGS,
} from './back-up-files.js';
import { type Command, CommandError, readArguments, required } from './command.js';
import { describeRestore, quote } from './database-programs.js';
import { toPathBelow } from './named-files.js';
import { withSignals } from './signals.js';
import { describeStart } from './start-hint.js';

export const restoreCommand: Command = {
  name: 'restore',
  summary: 'Restore a data folder from a back-up, while guard does not run.',
  help: `security-optimizer restore FOLDER --data-dir DIR [--replace]

  FOLDER           a folder that \`back-up\` has filled
  --data-dir DIR   guard's data folder
  --replace        move what is in the data folder into its folder replaced-TIME

All files are checked and copied into the data folder first, and then take the place of the present ones. When one of them is
missing, differs from what was written, or can't be copied, nothing is changed. Files that belong outside the data folder are
not written: the command prints how to copy them to their places. A PostgreSQL database is restored by pg_restore, not by this
command. It also names the environment variables that were set for
guard and are not set for this command.`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      'data-dir': { type: 'string' },
      replace: { type: 'boolean', default: false },
    });
    const folder = resolve(readFolder(positionals));
    const dataDir = resolve(required('data-dir', values['data-dir']));
    const { manifest, url } = await restore(folder, dataDir, { replace: values.replace, now: new Date() });
    const { madeAt, files, named, environment } = manifest;
    const outside = await listOutside(dataDir, named, files);
    const restored = Object.keys(files).length - named.length + named.filter((each) => isInside(dataDir, each)).length;
    process.stdout.write(`Restored ${restored} files of ${lineText(madeAt)}.\n`);
    if (isPostgresUrl(url)) process.stdout.write(describeRestore(url));
    process.stdout.write(await describeOutside(folder, dataDir, outside));
    process.stdout.write(describeEnvironment(environment, listEnvironment(process.env)));
    process.stdout.write(describeStart(dataDir));
    return 0;
  },
};

interface RestoreOptions {
  readonly replace: boolean;
  readonly now: Date;
}

/** Where files are copied to before they take the place of the present ones; a restore that was killed may leave it. */
const STAGING = 'restoring';

/** @throws CommandError, ConfigError. The data from before are in force then */
async function restore(
  folder: string,
  dataDir: string,
  options: RestoreOptions,
): Promise<{ readonly manifest: Manifest; readonly url: string }> {
  const manifest = await readManifest(folder);
  for (const [name, expected] of Object.entries(manifest.files)) {
    const found = await describeFile(join(folder, name)).catch(() => null);
    if (found === null)
      throw new CommandError(`${join(folder, name)} is missing or can’t be read. Nothing was changed.`);
    if (found.sha256 !== expected.sha256) {
      throw new CommandError(`${join(folder, name)} is not as it was written. Nothing was changed.`);
    }
  }
  const url = await findDatabase(folder, manifest);
  let created: string | undefined;
  // The folder is new, so it holds nothing but the lock and copies.
  const cleanUp = () => {
    if (created !== undefined) rmSync(created, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    created = await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const lock = tryLock(join(dataDir, 'guard.lock'), 0);
    if (lock === null) throw new CommandError('Guard runs on this data folder. Stop it first; nothing was changed.');
    try {
      const database = isPostgresUrl(url) ? null : databaseFile(url, dataDir);
      await replaceData(folder, dataDir, manifest, { ...options, database, cleanUp });
    } finally {
      lock.close();
    }
  } catch (error) {
    cleanUp();
    if (isExplained(error)) throw error;
    throw new CommandError(
      `The restore failed: ${describeFailure(error, dataDir)}. The data in force are those from before.`,
    );
  }
  return { manifest, url };
}

async function replaceData(
  folder: string,
  dataDir: string,
  manifest: Manifest,
  options: RestoreOptions & {
    /** The file for the settings; null if they are in PostgreSQL. */
    readonly database: string | null;
    readonly cleanUp: () => void;
  },
) {
  const database = options.database === null ? null : toPlace(dataDir, options.database);
  if (database?.isOutside && existsSync(database.path)) {
    throw new CommandError(`${database.path} is there already. Move it away; nothing was changed.`);
  }
  const present = await listPresent(dataDir);
  if (present[0] !== undefined && !options.replace) {
    throw new CommandError(`${dataDir} is in use already (${present[0]}). Name --replace to move its files aside.`);
  }
  const staging = join(dataDir, STAGING);
  const aside = join(dataDir, `replaced-${options.now.toISOString().replace(/[-:]|\.\d+/g, '')}`);
  const cleanUp = () => {
    rmSync(staging, { recursive: true, force: true, maxRetries: 5 });
    if (database?.isOutside) rmSync(database.staged, { force: true });
  };
  cleanUp();
  try {
    const removeAll = () => {
      cleanUp();
      options.cleanUp();
    };
    await withSignals(removeAll, async () => {
      await mkdir(join(staging, 'sites'), { recursive: true, mode: 0o700 });
      for (const [name, to] of listCopies(dataDir, manifest)) {
        const isDatabase = name === SETTINGS && database !== null;
        const target = isDatabase ? database.staged : join(staging, to);
        if (!isDatabase && existsSync(target)) continue;
        await mkdir(dirname(target), { recursive: true, mode: 0o700 });
        await copyPrivate(join(folder, name), target);
      }
    });
    await withSignals(null, async () => {
      if (present.length > 0) await mkdir(aside, { mode: 0o700 });
      // An empty folder would be in the way.
      if (!present.includes('sites')) await rmdir(join(dataDir, 'sites')).catch(() => {});
      const isConfig = (name: string) => Number(name === CONFIG_FILE);
      await moveAll([
        // The configuration leaves first and comes last: guard does not start without it, so it never starts with half
        // of the files when the restore is killed.
        ...[...present]
          .sort((one, other) => isConfig(other) - isConfig(one))
          .map((name) => [join(dataDir, name), join(aside, name)] as const),
        ...(database?.isOutside && manifest.files[SETTINGS] !== undefined
          ? [[database.staged, database.path] as const]
          : []),
        ...(await readdir(staging))
          .sort((one, other) => isConfig(one) - isConfig(other))
          .map((name) => [join(staging, name), join(dataDir, name)] as const),
      ]);
    });
  } catch (error) {
    await rmdir(aside).catch(() => {});
    throw error;
  } finally {
    cleanUp();
  }
  await syncFolder(dataDir);
}

/** What is copied into the data folder: names in the back-up, and paths below the data folder. The guard's own first. */
function listCopies(dataDir: string, { files, named }: Manifest): readonly (readonly [string, string])[] {
  const own = Object.keys(files).filter((name) => !name.startsWith(`${NAMED}/`));
  return [
    ...own.map((name) => [name, name] as const),
    ...named.flatMap(({ copy, path }) => {
      const below = toPathBelow(dataDir, path);
      return below === null ? [] : [[copy, below] as const];
    }),
  ];
}

/** Renames one file after the other. When one can't be renamed, those before it get their names back. */
async function moveAll(moves: readonly (readonly [from: string, to: string])[]): Promise<void> {
  const done: (readonly [string, string])[] = [];
  try {
    for (const move of moves) {
      await rename(...move);
      done.push(move);
    }
  } catch (error) {
    for (const [from, to] of done.reverse()) await rename(to, from);
    throw error;
  }
}

interface Place {
  readonly path: string;
  /** Whether it is outside the data folder. */
  readonly isOutside: boolean;
  /** Where it is copied to before it gets its name. */
  readonly staged: string;
}

function toPlace(dataDir: string, path: string): Place {
  const below = toPathBelow(dataDir, path);
  const staged = below === null ? `${path}.restored.tmp` : join(dataDir, STAGING, below);
  return { path, isOutside: below === null, staged };
}

/**
 * The database that guard uses after the restore.
 * @throws CommandError when the settings were backed up from another kind of database; ConfigError
 */
async function findDatabase(folder: string, { settingsIn, files }: Manifest): Promise<string> {
  const mistakes: string[] = [];
  const config = await readConfigFile(join(folder, CONFIG_FILE), mistakes);
  if (config === null) throw new ConfigError(mistakes);
  const url = getDatabaseUrl(config);
  const isHere = isPostgresUrl(url);
  const [from, to] = [lineText(settingsIn ?? 'an SQLite file'), lineText(describeDatabase(url))];
  if (settingsIn === null && files[SETTINGS] !== undefined && isHere) {
    throw new CommandError(
      `The settings in this back-up are from ${from}, but guard would look for them in ${to}. Nothing was changed. Restore without the variable ${DATABASE}, and move them to PostgreSQL afterwards.`,
    );
  }
  if (settingsIn !== null && !isHere) {
    throw new CommandError(
      `The settings were in ${from}, and are not in this back-up, but guard would look for them in ${to}. Nothing was changed. Call \`restore\` with the variable ${DATABASE} that guard has.`,
    );
  }
  return url;
}

/** Files that belong to a running guard, are created again when needed, or are not guard's. */
const NOT_REPLACED =
  /^(?:guard\.lock|config\.lock|guard\.pid|guard\.sites|replaced-.*|restoring|lost\+found)(?:-journal|-wal|-shm)?$/;

/** What a data folder contains that a restore would replace. */
async function listPresent(dataDir: string): Promise<readonly string[]> {
  const hasSites = (await readdir(join(dataDir, 'sites')).catch(() => [])).length > 0;
  return (await readdir(dataDir)).filter((name) => !NOT_REPLACED.test(name) && (name !== 'sites' || hasSites)).sort();
}

type Named = Manifest['named'][number];

function isInside(dataDir: string, { path }: Named): boolean {
  return toPathBelow(dataDir, path) !== null;
}

/** The files that belong outside the data folder and are not there as they were backed up. */
async function listOutside(dataDir: string, named: readonly Named[], files: Manifest['files']) {
  const outside: (Named & { readonly state: 'missing' | 'differs' })[] = [];
  for (const each of named.filter((entry) => !isInside(dataDir, entry))) {
    const path = resolve(dataDir, each.path);
    const isThere = await access(path).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
    );
    const found = await describeFile(path).catch(() => null);
    if (found?.sha256 !== files[each.copy]?.sha256) outside.push({ ...each, state: isThere ? 'differs' : 'missing' });
  }
  return outside;
}

/** A text for people, empty when there is nothing to do. */
async function describeOutside(
  folder: string,
  dataDir: string,
  outside: Awaited<ReturnType<typeof listOutside>>,
): Promise<string> {
  if (outside.length === 0) return '';
  const { uid } = await stat(dataDir);
  const lines = outside.map(({ copy, path, key, state }) => {
    const names = [join(folder, copy), lineText(resolve(dataDir, path))].map(quote).join(' ');
    return `  # ${lineText(key)}: the file ${state === 'missing' ? 'is missing' : 'differs from the back-up, and stays as it is'}\n  install -D --mode=600 --owner=${uid} ${names}\n`;
  });
  return `These files belong outside the data folder, where nothing was written. Guard does not start without them. To copy them:\n${lines.join('')}`;
}

/**
 * What guard had from its environment and this command has not. The service may have it nevertheless. A text for people,
 * empty when nothing is missing.
 */
function describeEnvironment(before: Manifest['environment'], now: readonly EnvironmentSetting[]): string {
  const missing = before.filter(({ name, value }) => !now.some((each) => each.name === name && each.value === value));
  if (missing.length === 0) return '';
  const lines = missing.map(({ name, value }) =>
    value === null
      ? `  ${name}: its value is not in the back-up\n`
      : `  ${name}=${quote(lineText(value))}${isPostgresUrl(value) ? ' (a password in it is not in the back-up)' : ''}\n`,
  );
  return `Guard had these settings from its environment, and this command has not, or has others. See that guard has them before you start it:\n${lines.join('')}`;
}
