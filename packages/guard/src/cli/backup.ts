import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir, readFile, rename, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { CONFIG_FILE, ConfigError, getDatabaseUrl, readConfigFile } from '../config/load-config.js';
import { writeFileAtomically } from '../lib/files.js';
import { version } from '../lib/version.js';
import { tryLock } from '../storage/data-dir-lock.js';
import { databaseFile } from '../storage/open-storage.js';
import { openSqlite } from '../storage/sqlite.js';
import { type Command, CommandError, readArguments, required, UsageError } from './command.js';
import { readConfig } from './config-store.js';

/** Written last, so that an incomplete back-up has no manifest. */
const MANIFEST = 'back-up.json';
/** Names of the databases in a back-up. */
const SETTINGS = 'guard.sqlite';
const ACTIVITY = 'activity.sqlite';
const SECOND_FACTOR_KEY = 'two-factor.key';

/** How long a copy waits for another process that holds the database, milliseconds. */
const BUSY_TIMEOUT_MS = 10_000;

const manifestSchema = z.object({
  /** Version of guard that made the back-up. */
  version: z.string(),
  /** ISO 8601. */
  madeAt: z.string(),
  files: z.record(z.string().regex(/^(?:sites\/)?[\w.-]+$/), z.object({ bytes: z.int(), sha256: z.string() })),
});
type Manifest = z.output<typeof manifestSchema>;

export const backUpCommand: Command = {
  name: 'back-up',
  summary: 'Copy all of guard’s data into a folder, also while it runs.',
  help: `security-optimizer back-up FOLDER --data-dir DIR [--without-log]

  FOLDER           a new or empty folder; only its owner may read it afterwards, since it holds keys
  --data-dir DIR   guard's data folder
  --without-log    leave the Activity Log out

The databases are copied as they are at one moment each, without stopping guard. Configuration, the sites' keys and the key
of the second factors are copied too.`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      'data-dir': { type: 'string' },
      'without-log': { type: 'boolean', default: false },
    });
    const folder = readFolder(positionals);
    const dataDir = resolve(required('data-dir', values['data-dir']));
    const { files } = await backUp(dataDir, folder, { withLog: !values['without-log'] });
    const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0);
    process.stdout.write(
      `Backed up ${Object.keys(files).length} files, ${(bytes / 1024 / 1024).toFixed(1)} MB, in ${folder}. Keys are among them: keep it where nobody else reads it.\n`,
    );
    return 0;
  },
};

export const restoreCommand: Command = {
  name: 'restore',
  summary: 'Restore a data folder from a back-up, while guard does not run.',
  help: `security-optimizer restore FOLDER --data-dir DIR [--replace]

  FOLDER           a folder that \`back-up\` has filled
  --data-dir DIR   guard's data folder
  --replace        move what is in the data folder into its folder replaced-TIME first

Nothing is changed when a file of the back-up is missing or differs from what was written.`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      'data-dir': { type: 'string' },
      replace: { type: 'boolean', default: false },
    });
    const folder = readFolder(positionals);
    const dataDir = resolve(required('data-dir', values['data-dir']));
    const { madeAt, files } = await restore(folder, dataDir, { replace: values.replace, now: new Date() });
    process.stdout.write(`Restored ${Object.keys(files).length} files of ${madeAt}.\n`);
    process.stdout.write(`Start guard: security-optimizer serve --data-dir ${dataDir}\n`);
    return 0;
  },
};

function readFolder(positionals: readonly string[]): string {
  const [folder, ...more] = positionals;
  if (folder === undefined || folder === '' || more.length > 0) throw new UsageError('Name one folder.');
  return resolve(folder);
}

/** @throws CommandError, ConfigError, or the system's error */
async function backUp(dataDir: string, folder: string, options: { readonly withLog: boolean }): Promise<Manifest> {
  const config = await readConfig(dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new CommandError(`${folder} is not empty.`);
  await chmod(folder, 0o700);
  await mkdir(join(folder, 'sites'), { mode: 0o700 });
  const names: string[] = [];
  const database = databaseFile(getDatabaseUrl(config), dataDir);
  if (existsSync(database)) {
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
  const files: Record<string, { bytes: number; sha256: string }> = {};
  for (const name of names) files[name] = await describeFile(join(folder, name));
  const manifest = { version, madeAt: new Date().toISOString(), files };
  await writeFileAtomically(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  return manifest;
}

/** Copies a consistent state of a database while others write to it. */
async function copyDatabase(from: string, to: string): Promise<void> {
  const database = openSqlite(from, { readOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS });
  try {
    database.prepare('VACUUM INTO ?').run(to);
  } finally {
    database.close();
  }
  await chmod(to, 0o600);
}

async function copyPrivate(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  await chmod(to, 0o600);
  const file = await open(to, 'r+');
  await file.sync().finally(() => file.close());
}

async function describeFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { bytes: (await stat(path)).size, sha256: hash.digest('hex') };
}

/** @throws CommandError, or the system's error */
async function restore(
  folder: string,
  dataDir: string,
  options: { readonly replace: boolean; readonly now: Date },
): Promise<Manifest> {
  const manifest = await readManifest(folder);
  for (const [name, expected] of Object.entries(manifest.files)) {
    const found = await describeFile(join(folder, name)).catch(() => null);
    if (found === null)
      throw new CommandError(`${join(folder, name)} is missing or can’t be read. Nothing was changed.`);
    if (found.sha256 !== expected.sha256) {
      throw new CommandError(`${join(folder, name)} is not as it was written. Nothing was changed.`);
    }
  }
  await mkdir(join(dataDir, 'sites'), { recursive: true, mode: 0o700 });
  const lock = tryLock(join(dataDir, 'guard.lock'), 0);
  if (lock === null) throw new CommandError('Guard runs on this data folder. Stop it first; nothing was changed.');
  try {
    const database = await findDatabase(folder, dataDir);
    if (dirname(database) !== dataDir && existsSync(database)) {
      throw new CommandError(`${database} is there already. Move it away; nothing was changed.`);
    }
    await makeRoom(dataDir, options);
    const names = Object.keys(manifest.files);
    // The configuration is restored last: guard does not start without it, so it never starts with half of the files.
    for (const name of [...names.filter((each) => each !== CONFIG_FILE), CONFIG_FILE]) {
      if (manifest.files[name] === undefined) continue;
      const temporary = join(dataDir, `${name}.restored.tmp`);
      await copyPrivate(join(folder, name), temporary);
      await rename(temporary, name === SETTINGS ? database : join(dataDir, name));
    }
    return manifest;
  } finally {
    lock.close();
  }
}

/** Location of the backed-up configuration's database in this data folder. @throws ConfigError */
async function findDatabase(folder: string, dataDir: string): Promise<string> {
  const mistakes: string[] = [];
  const config = await readConfigFile(join(folder, CONFIG_FILE), mistakes);
  if (config === null) throw new ConfigError(mistakes);
  return databaseFile(getDatabaseUrl(config), dataDir);
}

async function readManifest(folder: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readFile(join(folder, MANIFEST), 'utf8');
  } catch {
    throw new CommandError(`${folder} holds no complete back-up: ${MANIFEST} is missing or can’t be read.`);
  }
  const parsed = manifestSchema.safeParse(toJson(text));
  if (!parsed.success) throw new CommandError(`${join(folder, MANIFEST)} is not as it was written.`);
  return parsed.data;
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Files that belong to a running guard or are created again when needed. */
const NOT_REPLACED = /^(?:guard\.lock|config\.lock|guard\.pid|guard\.sites|replaced-.*|sites)(?:-journal|-wal|-shm)?$/;

/**
 * Moves the contents of the data folder aside. @throws CommandError when there are any and they must not be replaced
 */
async function makeRoom(dataDir: string, options: { readonly replace: boolean; readonly now: Date }): Promise<void> {
  const sites = (await readdir(join(dataDir, 'sites'))).map((name) => `sites/${name}`);
  const present = [...(await readdir(dataDir)).filter((name) => !NOT_REPLACED.test(name)), ...sites];
  if (present.length === 0) return;
  if (!options.replace) {
    throw new CommandError(`${dataDir} is in use already (${present[0]}). Name --replace to move its files aside.`);
  }
  const aside = join(dataDir, `replaced-${options.now.toISOString().replace(/[-:]|\.\d+/g, '')}`);
  await mkdir(join(aside, 'sites'), { recursive: true, mode: 0o700 });
  // The configuration is moved first, so that guard does not start after an interrupted restore.
  for (const name of [...present].sort((one, other) => Number(other === CONFIG_FILE) - Number(one === CONFIG_FILE))) {
    await mkdir(dirname(join(aside, name)), { recursive: true });
    await rename(join(dataDir, name), join(aside, name));
  }
}
