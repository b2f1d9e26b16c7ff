import { mkdir, readdir, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { configFile } from '../config/config-file.js';
import { CONFIG_FILE, ConfigError, missingFile, readConfigFile } from '../config/load-config.js';
import { type ConfigFile, printConfig } from '../config/parse-config.js';
import { writeFileAtomically } from '../lib/files.js';
import { tryLock } from '../storage/data-dir-lock.js';
import { CommandError } from './command.js';

/**
 * A command holds the lock while it copies files on this machine, but none while it waits for WordPress's answer or for
 * requests under way. On a busy machine many commands may queue for it.
 */
const LOCK_WAIT_MS = 300_000;
/** Interval between attempts to take a lock that another command holds. */
const POLL_MS = 25;

/**
 * Reads the configuration file of a data folder. Returns the defaults when there is none yet. To change it, use
 * `updateConfig`.
 *
 * @throws ConfigError
 */
export async function readConfig(dataDir: string): Promise<ConfigFile> {
  return (await hasConfig(dataDir)) ? readExistingConfig(dataDir) : configFile.parse({});
}

/**
 * Reads the configuration file of a data folder for a command that has nothing to do without one: the folder's name may
 * be mistyped.
 *
 * @throws ConfigError, also when there is none
 */
export async function readExistingConfig(dataDir: string): Promise<ConfigFile> {
  const mistakes: string[] = [];
  const config = await readConfigFile(join(dataDir, CONFIG_FILE), mistakes);
  if (config === null) throw new ConfigError(mistakes);
  return config;
}

/**
 * Whether a data folder has a configuration file. A file that can't be accessed must not count as missing.
 * @throws ConfigError
 */
export async function hasConfig(dataDir: string): Promise<boolean> {
  const file = join(dataDir, CONFIG_FILE);
  return stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw new ConfigError([missingFile(file, error)]);
      return false;
    },
  );
}

/**
 * Changes the configuration file under a lock. This is the only function that writes it. `change` also writes the
 * secrets and the files inside WordPress that belong to the change, so that two commands for one site never interfere.
 * A command that is killed frees the lock, and the file holds either the old or the new configuration.
 *
 * @param change receives the present configuration. `write` stores the new one on the disk at once, atomically
 * @throws ConfigError, CommandError when another command holds the lock for too long, and what `change` throws
 */
export async function updateConfig<Result>(
  dataDir: string,
  change: (config: ConfigFile, write: (config: ConfigFile) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  await mkdir(join(dataDir, 'sites'), { recursive: true, mode: 0o700 });
  const lock = await waitForLock(join(dataDir, 'config.lock'));
  try {
    return await change(await readConfig(dataDir), async (config) => {
      const file = await toTarget(join(dataDir, CONFIG_FILE));
      await removeLeftovers([dataDir, join(dataDir, 'sites'), dirname(file)]);
      await writeFileAtomically(file, printConfig(config), { mode: 0o600 });
    });
  } finally {
    lock.close();
  }
}

/**
 * Where a link to the configuration leads, for example to a folder under version control. Replacing the link by a file
 * would cut off what the operator changes there.
 */
async function toTarget(file: string): Promise<string> {
  return realpath(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return file;
  });
}

async function waitForLock(file: string): Promise<{ close(): void }> {
  const end = performance.now() + LOCK_WAIT_MS;
  for (;;) {
    const lock = tryLock(file, 0);
    if (lock !== null) return lock;
    if (performance.now() > end) {
      throw new CommandError('Another command is changing the configuration of this data folder. Try again.');
    }
    await sleep(POLL_MS);
  }
}

/** Removes temporary files of killed commands. Under the lock no other command writes one. */
async function removeLeftovers(folders: readonly string[]): Promise<void> {
  for (const folder of new Set(folders)) {
    for (const name of await readdir(folder)) {
      if (/^(?:guard\.json|[a-zA-Z0-9-]+\.secret)\.[0-9a-f]{12}\.tmp$/.test(name)) {
        await rm(join(folder, name), { force: true });
      }
    }
  }
}
