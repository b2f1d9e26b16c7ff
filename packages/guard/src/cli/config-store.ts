import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ConfigFile, configFile } from '../config-file.js';
import { authorityOf } from '../lib/authority.js';
import { writeFileAtomically } from '../lib/write-file-atomically.js';
import { CONFIG_FILE, ConfigError, readConfigFile } from '../load-config.js';

/**
 * The configuration file of a data folder, or defaults when there is none yet.
 * @throws ConfigError
 */
export async function readConfig(dataDir: string): Promise<ConfigFile> {
  const file = join(dataDir, CONFIG_FILE);
  const exists = await stat(file).then(
    () => true,
    () => false,
  );
  if (!exists) return configFile.parse({});
  const mistakes: string[] = [];
  const config = await readConfigFile(file, mistakes);
  if (config === null) throw new ConfigError(mistakes);
  return config;
}

/** Writes the configuration file; the old one stays whole until the new one is on the disk. */
export async function writeConfig(dataDir: string, config: ConfigFile): Promise<void> {
  const text = `${JSON.stringify({ ...config, listen: authorityOf(config.listen) }, null, 2)}\n`;
  await writeFileAtomically(join(dataDir, CONFIG_FILE), text, { mode: 0o600 });
}
