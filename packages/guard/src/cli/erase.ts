import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { siteId } from '../config/config-file.js';
import { describeDatabase, isPostgresUrl } from '../config/database-url.js';
import { CONFIG_FILE, getDatabaseUrl, secretFile } from '../config/load-config.js';
import { listSiteFolders } from '../config/parse-config.js';
import { lineText } from '../lib/plain-text.js';
import type { SiteId } from '../site.js';
import { isDataDirInUse, runningSites } from '../storage/data-dir-lock.js';
import { databaseFile } from '../storage/open-storage.js';
import { StorageError } from '../storage/storage-error.js';
import { guardedTrafficFile } from '../wordpress/guarded-traffic.js';
import { type Command, CommandError, checked, readOptions, required } from './command.js';
import { hasConfig, updateConfig } from './config-store.js';
import { fileRecord } from './connector-files.js';
import { describeRemains } from './database-programs.js';
import { eraseFromFile, hasRowsInFile } from './erase-from-file.js';
import { eraseFromPostgres, hasRowsInPostgres } from './erase-from-postgres.js';
import { refuseOtherDatabase } from './other-database.js';
import { findRetired, recordErased } from './retired-sites.js';

/**
 * Deletes everything that is stored for a site that is not attached: settings, record of changes, Activity Log, second
 * factors, lockouts, blocks, jobs, reports. Its id stays reserved. Safe to repeat after an interruption.
 *
 * @throws CommandError for a site that is attached, unknown, or loaded by a running guard; ConfigError, StorageError
 */
export async function eraseSite(dataDir: string, id: SiteId): Promise<ErasedRows> {
  if (!(await hasConfig(dataDir))) {
    throw new CommandError(`${dataDir} has no ${CONFIG_FILE}, so what is attached can't be known. Nothing was erased.`);
  }
  const url = await updateConfig(dataDir, async (config) => {
    if (listSiteFolders(config).some((site) => site.id === id)) {
      throw new CommandError(
        `The site ${id} is attached. \`security-optimizer detach --site ${id} --purge\` erases it.`,
      );
    }
    const database = getDatabaseUrl(config);
    await refuseOtherDatabase({ dataDir, database });
    if ((await findRetired(dataDir, id)) === null && !(await hasSiteRows(id, { dataDir, url: database }))) {
      throw new CommandError(`Nothing is kept of a site ${id}.`);
    }
    await refuseInUse(dataDir, id);
    // From this point the site can't be attached again.
    await recordErased(dataDir, id);
    // A guard that still served the site after `detach` may have written notes about its visitors.
    for (const file of [secretFile(dataDir, id), guardedTrafficFile(dataDir, id)]) await rm(file, { force: true });
    await fileRecord(dataDir, id).delete();
    return database;
  });
  return eraseSiteRows(id, { dataDir, url }, { guardRuns: isDataDirInUse(dataDir) });
}

/** @throws CommandError when a running guard has the site in memory: it would write rows for it again */
async function refuseInUse(dataDir: string, id: SiteId): Promise<void> {
  if (!isDataDirInUse(dataDir)) return;
  const sites = await runningSites(dataDir);
  if (sites !== null && ![...sites.served, ...sites.quarantined].includes(id)) return;
  throw new CommandError(
    `The running guard still has the site ${id} and would store rows of it again. Nothing was erased. Detach the site, have guard read the configuration again (SIGHUP), then run \`security-optimizer erase --site ${id}\`; or stop guard first.`,
  );
}

/** Prints what was erased, and what else the operator may want to remove. */
export async function printErased(dataDir: string, id: SiteId, { rows, unclean, server }: ErasedRows): Promise<void> {
  process.stdout.write(`Erased: site ${id}, ${rows.toLocaleString('en')} rows. Its id is not given again.\n`);
  for (const file of unclean) {
    process.stderr.write(
      `${file} may hold remains of removed rows in unused space. Erase the site once more while guard is stopped.\n`,
    );
  }
  if (server !== null) process.stdout.write(describeRemains(server));
  for (const name of await brokenLogs(dataDir)) {
    process.stderr.write(
      `${lineText(name)}, a broken log of all sites, may hold visits of it. Remove the file by hand.\n`,
    );
  }
}

export const eraseCommand: Command = {
  name: 'erase',
  summary: 'Remove all data of a detached site: settings, log, second factors.',
  help: `security-optimizer erase --site ID --data-dir DIR

  --site ID        the site; it must be detached
  --data-dir DIR   guard's data folder

May run beside a guard that was started after the site was detached. The id is not given to another site.`,
  async run(args) {
    const values = readOptions(args, { 'data-dir': { type: 'string' }, site: { type: 'string' } });
    const dataDir = resolve(required('data-dir', values['data-dir']));
    const id = checked('site', siteId, required('site', values.site));
    await printErased(dataDir, id, await eraseSite(dataDir, id));
    return 0;
  },
};

/** Where the rows of sites are stored. */
export interface SiteDatabases {
  readonly dataDir: string;
  /** `sqlite:<file>`, the file relative to the data folder, or `postgres://…`. */
  readonly url: string;
}

export interface ErasedRows {
  readonly rows: number;
  /** Files that may still contain remains of deleted rows, since guard has them open. */
  readonly unclean: readonly string[];
  /** The PostgreSQL database, without its password, from which rows were deleted; null for an SQLite file. */
  readonly server: string | null;
}

/**
 * Whether one of the databases has rows of a site. A missing database has none. Nothing is created or changed.
 * @throws StorageError
 */
export async function hasSiteRows(site: SiteId, { dataDir, url }: SiteDatabases): Promise<boolean> {
  try {
    if (hasRowsInFile(activityFile(dataDir), site)) return true;
  } catch (error) {
    // Guard moves a corrupt log aside and creates a new one, which is empty.
    if (!(error instanceof StorageError) || error.fault !== 'corrupt') throw error;
  }
  if (isPostgresUrl(url)) return hasRowsInPostgres(site, { dataDir, url });
  return hasRowsInFile(databaseFile(url, dataDir), site);
}

/**
 * Deletes every row of a site from both databases. The tables are found in the database itself: every table with a
 * column for the site counts. Safe to repeat after an interruption. The caller makes sure that no running guard has the
 * site in memory, since it would write rows again.
 *
 * @param guardRuns whether guard runs on the data folder
 * @throws StorageError
 */
async function eraseSiteRows(
  site: SiteId,
  { dataDir, url }: SiteDatabases,
  { guardRuns }: { readonly guardRuns: boolean },
): Promise<ErasedRows> {
  const isInPostgres = isPostgresUrl(url);
  let rows = isInPostgres ? await eraseFromPostgres(site, { dataDir, url }) : 0;
  const unclean: string[] = [];
  for (const file of [...(isInPostgres ? [] : [databaseFile(url, dataDir)]), activityFile(dataDir)]) {
    const erased = await eraseFromFile(file, site, { guardRuns });
    rows += erased.rows;
    if (!erased.isClean) unclean.push(file);
  }
  return { rows, unclean, server: isInPostgres ? describeDatabase(url) : null };
}

/** Activity Logs that guard has moved aside because they were corrupt. They contain visits of every site. */
async function brokenLogs(dataDir: string): Promise<readonly string[]> {
  return (await readdir(dataDir)).filter((name) => name.startsWith('activity.sqlite.corrupt-')).sort();
}

function activityFile(dataDir: string): string {
  return join(dataDir, 'activity.sqlite');
}
