import { existsSync, readdirSync, rmSync } from 'node:fs';
import { chmod, mkdir, readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { describeDatabase, hasPassword, isPostgresUrl } from '../config/database-url.js';
import { CONFIG_FILE, type EnvironmentSetting, getDatabaseUrl, listEnvironment } from '../config/load-config.js';
import { writeFileAtomically } from '../lib/files.js';
import { version } from '../lib/version.js';
import { isDataDirInUse, runningSites } from '../storage/data-dir-lock.js';
import { databaseFile } from '../storage/open-storage.js';
import { openSqlite, toSqliteFault } from '../storage/sqlite.js';
import {
  ACTIVITY,
  copyPrivate,
  describeFailure,
  describeFile,
  isExplained,
  MANIFEST,
  type Manifest,
  NAMED,
  readFolder,
  SETTINGS,
  syncFile,
} from './back-up-files.js';
import { type Command, CommandError, readArguments, required } from './command.js';
import { readExistingConfig } from './config-store.js';
import { describeDump } from './database-programs.js';
import { listNamedFiles } from './named-files.js';
import { withSignals } from './signals.js';

const SECOND_FACTOR_KEY = 'two-factor.key';

/** How long a copy waits for another process that holds the database, milliseconds. */
const BUSY_TIMEOUT_MS = 10_000;

export const backUpCommand: Command = {
  name: 'back-up',
  summary: 'Copy all of guard’s data into a folder, also while it runs.',
  help: `security-optimizer back-up FOLDER --data-dir DIR [--without-log]

  FOLDER           a new or empty folder; only its owner may read it afterwards, since it holds keys. As root, a new one is
                   created for the owner of the data folder
  --data-dir DIR   guard's data folder
  --without-log    leave the Activity Log out

The databases are copied as they are at one moment each, without stopping guard. The configuration, the files that it names,
the sites' keys and the key of the second factors are copied too. A PostgreSQL database is not copied: the command prints how
pg_dump does it. Settings from environment variables, of this command and of the running guard, are recorded by name, and with
their values unless they are secret, for \`restore\`. When the back-up fails or is stopped, its parts are removed.`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      'data-dir': { type: 'string' },
      'without-log': { type: 'boolean', default: false },
    });
    const folder = resolve(readFolder(positionals));
    const dataDir = resolve(required('data-dir', values['data-dir']));
    const { manifest, url, isPasswordCopied } = await backUp(dataDir, folder, { withLog: !values['without-log'] });
    const { files, environment } = manifest;
    const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0);
    process.stdout.write(
      `Backed up ${Object.keys(files).length} files, ${(bytes / 1024 / 1024).toFixed(1)} MB, in ${folder}. ${isPasswordCopied ? 'Keys and the password of the database' : 'Keys'} are among them: keep it where nobody else reads it.\n`,
    );
    if (isPostgresUrl(url)) process.stdout.write(describeDump(url));
    if (environment.length > 0) {
      const names = environment.map(({ name, value }) => (value === null ? `${name} (without its value)` : name));
      process.stdout.write(`Recorded, since guard has them from its environment: ${names.join(', ')}.\n`);
    }
    return 0;
  },
};

interface BackUpOptions {
  readonly withLog: boolean;
}

interface BackUp {
  readonly manifest: Manifest;
  /** The database that holds the settings. */
  readonly url: string;
  /** Whether the copied configuration holds the password of a database. */
  readonly isPasswordCopied: boolean;
}

/** @throws CommandError, ConfigError. Nothing is left in the folder then */
async function backUp(dataDir: string, folder: string, options: BackUpOptions): Promise<BackUp> {
  const present = await readdir(folder).catch((error: NodeJS.ErrnoException) => error.code);
  if (present === 'ENOTDIR') throw new CommandError(`${folder} is not a folder. Name a new or an empty one.`);
  if (Array.isArray(present) && present.length > 0) throw new CommandError(`${folder} is not empty.`);
  let created: string | undefined;
  const cleanUp = () => removeParts(folder, created);
  try {
    created = await mkdir(folder, { recursive: true, mode: 0o700 });
    return await withSignals(cleanUp, () => writeBackUp(dataDir, folder, options));
  } catch (error) {
    cleanUp();
    if (isExplained(error)) throw error;
    throw new CommandError(
      `The back-up failed: ${describeFailure(error, folder)}. There is no back-up in ${folder}; what was written there is removed.`,
    );
  }
}

/** How often, and how long apart, parts of a back-up are looked for, milliseconds. */
const REMOVALS = 3;
const REMOVAL_PAUSE_MS = 20;

/**
 * Removes the parts several times: a file system call that was under way at a signal may create one more, also in a
 * folder that is just being removed.
 *
 * @param created the first folder that was created on the way to the back-up's, if any
 */
function removeParts(folder: string, created: string | undefined): void {
  for (let i = 1; i <= REMOVALS; i++) {
    try {
      const parts = created === undefined ? readdirSync(folder).map((name) => join(folder, name)) : [created];
      for (const part of parts) rmSync(part, { recursive: true, force: true });
    } catch {
      // The failure itself is reported, and an incomplete back-up is never restored: it has no manifest.
    }
    if (i < REMOVALS) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, REMOVAL_PAUSE_MS);
  }
}

async function writeBackUp(dataDir: string, folder: string, options: BackUpOptions): Promise<BackUp> {
  const config = await readExistingConfig(dataDir);
  await chmod(folder, 0o700);
  for (const name of ['sites', NAMED]) await mkdir(join(folder, name), { mode: 0o700 });
  const names: string[] = [];
  const environment = await readEnvironment(dataDir);
  const variables = Object.fromEntries(environment.map(({ name, value }) => [name, value ?? undefined]));
  const url = getDatabaseUrl(config, variables);
  const server = isPostgresUrl(url) ? describeDatabase(url) : null;
  const database = server === null ? databaseFile(url, dataDir) : null;
  if (database !== null && existsSync(database)) {
    await copyDatabase(database, join(folder, SETTINGS));
    names.push(SETTINGS);
  }
  // Copied after the settings, so that every blocked visitor whom the settings name is in the log.
  if (options.withLog && existsSync(join(dataDir, ACTIVITY))) {
    await copyDatabase(join(dataDir, ACTIVITY), join(folder, ACTIVITY));
    names.push(ACTIVITY);
  }
  const sites = await readdir(join(dataDir, 'sites')).catch(() => []);
  const plain = [CONFIG_FILE, SECOND_FACTOR_KEY, ...sites.map((name) => `sites/${name}`)];
  for (const name of plain) {
    if (name.endsWith('.tmp') || !existsSync(join(dataDir, name))) continue;
    await copyPrivate(join(dataDir, name), join(folder, name));
    names.push(name);
  }
  const named: Manifest['named'] = [];
  for (const [at, { key, path }] of listNamedFiles(config, environment).entries()) {
    if (isReplaced(key, environment) && !existsSync(resolve(dataDir, path))) continue;
    const copy = `${NAMED}/${at + 1}-${basename(path).replace(/[^\w.-]/g, '_')}`;
    await copyNamed(resolve(dataDir, path), join(folder, copy), key);
    names.push(copy);
    named.push({ copy, path, key });
  }
  const files: Record<string, { bytes: number; sha256: string }> = {};
  for (const name of names) files[name] = await describeFile(join(folder, name));
  const made = { version, madeAt: new Date().toISOString(), settingsIn: server };
  const manifest = { ...made, files, named, environment: [...environment] };
  await writeFileAtomically(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  return { manifest, url, isPasswordCopied: hasPassword(config.database) };
}

/** Settings from the environment: of the guard that runs, and of this command. */
async function readEnvironment(dataDir: string): Promise<readonly EnvironmentSetting[]> {
  const running = isDataDirInUse(dataDir) ? (await runningSites(dataDir))?.configuration?.environment : undefined;
  const all = [...(running ?? []), ...listEnvironment(process.env)];
  return all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at);
}

/** Whether guard starts without a file because a variable takes its place. */
function isReplaced(key: string, environment: readonly EnvironmentSetting[]): boolean {
  return (
    key === 'mail.smtp.passwordFile' && environment.some(({ name }) => name === 'SECURITY_OPTIMIZER_SMTP_PASSWORD')
  );
}

/** @throws CommandError when guard itself could not read the file */
async function copyNamed(from: string, to: string, key: string): Promise<void> {
  const found = await stat(from).catch((error: NodeJS.ErrnoException) => error.code);
  const cause = typeof found === 'string' ? found : found?.isFile() ? null : 'not a file';
  if (cause !== null) {
    throw new CommandError(
      `${from}: can’t be read (${cause}); ${key} names it, and guard does not start without it. Nothing was backed up: create the file, or change ${key}.`,
    );
  }
  await copyPrivate(from, to);
}

/** Copies a consistent state of a database while others write to it. */
async function copyDatabase(from: string, to: string): Promise<void> {
  try {
    const database = openSqlite(from, { readOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS });
    try {
      database.prepare('VACUUM INTO ?').run(to);
    } finally {
      database.close();
    }
  } catch (error) {
    // The disk of the copy.
    if (toSqliteFault(error).fault === 'full') throw error;
    throw new Error(`${from}: ${(error as Error).message}`, { cause: error });
  }
  await chmod(to, 0o600);
  await syncFile(to);
}
