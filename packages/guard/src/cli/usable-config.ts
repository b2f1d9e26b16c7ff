import type { Config } from '../config/config.js';
import { loadConfig } from '../config/load-config.js';
import { silentLogger } from '../lib/logger.js';
import { migrations } from '../migrations.js';
import { createSettingsStore } from '../settings/settings-store.js';
import { readAllSettings } from '../settings/site-settings.js';
import { toReason } from '../sites/load-sites.js';
import { withUnusableSettings } from '../sites/site-list.js';
import { isDataDirInUse, runningSites } from '../storage/data-dir-lock.js';
import { openDatabaseReadOnly } from '../storage/database.js';
import { StorageError } from '../storage/storage-error.js';

/**
 * Loads the configuration for a command that reports. A site whose stored settings can't be used is quarantined, as in
 * guard, unless the running guard still serves it with the last ones. Without a usable database no settings are known.
 *
 * @throws ConfigError
 */
export async function loadUsableConfig(dataDir: string): Promise<Config> {
  const config = await loadConfig({ dataDir });
  const unusable = await findUnusableSettings(config);
  if (unusable.size === 0) return config;
  const inUse = isDataDirInUse(config.dataDir) ? await runningSites(config.dataDir) : null;
  const reasons = [...unusable].filter(([id]) => inUse?.served.includes(id) !== true);
  const { served, quarantined } = withUnusableSettings(
    { ...config, served: config.sites, removed: [] },
    new Map(reasons.map(([id, mistakes]) => [id, toReason(mistakes)])),
  );
  return { ...config, sites: served, quarantined };
}

async function findUnusableSettings(config: Config): Promise<ReadonlyMap<string, string>> {
  const { database: url, dataDir, sites } = config;
  try {
    const db = await openDatabaseReadOnly({ url, dataDir, logger: silentLogger(), migrations });
    if (db === null) return new Map();
    try {
      const ids = sites.map(({ id }) => id);
      return (await readAllSettings(createSettingsStore(db), ids)).unusable;
    } finally {
      await db.destroy();
    }
  } catch (error) {
    // The commands report an unusable database themselves.
    if (error instanceof StorageError) return new Map();
    throw error;
  }
}
