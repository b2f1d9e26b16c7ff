import { constants, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DatabaseSettings, formatConfigFile, replaceSiteUrl } from './config-file.js';
import { type FetchedWordPress, fetchWordPress } from './download.js';
import { findWordPressSource } from './versions.js';

export interface LayOutOptions {
  readonly dir: string;
  readonly database: DatabaseSettings;
  readonly siteUrl: string;
  /** The default is the version in the folder, else the default version. */
  readonly wordpressVersion?: string;
  readonly log: (line: string) => void;
}

/**
 * Puts the files and the configuration of a WordPress with the address `siteUrl` into `dir`, which it downloads on first
 * use. It changes nothing in existing files but the address in wp-config.php.
 * @returns the release in the folder
 * @throws Error if the folder contains another version than the requested one: WordPress migrates its database upwards
 *   only
 */
export async function layOutWordPress(options: LayOutOptions): Promise<string> {
  const { dir, database, siteUrl } = options;
  const release = await layOutFiles(options);
  if (database.kind === 'sqlite') mkdirSync(database.dir, { recursive: true, mode: 0o700 });
  const file = join(dir, 'wp-config.php');
  const text = existsSync(file)
    ? replaceSiteUrl(readFileSync(file, 'utf8'), siteUrl)
    : formatConfigFile(database, siteUrl);
  writeFileSync(file, text);
  return release;
}

async function layOutFiles({ dir, database, wordpressVersion: requested, log }: LayOutOptions): Promise<string> {
  const installed = findInstalledRelease(dir);
  if (installed === null) {
    const fetched = await fetchWordPress({
      ...(requested === undefined ? {} : { version: requested }),
      log,
    });
    copyWordPress(fetched, dir, database.kind === 'sqlite');
    return fetched.release;
  }
  if (requested !== undefined && !isSameRelease(requested, installed)) {
    throw new Error(
      `The data folder holds WordPress ${installed}, not ${requested}. Use --fresh to start over, or another --data-dir.`,
    );
  }
  return installed;
}

/** Release of the WordPress in a folder, such as `6.5.5`; null if there is none. */
export function findInstalledRelease(dir: string): string | null {
  try {
    const text = readFileSync(join(dir, 'wp-includes/version.php'), 'utf8');
    return /\$wp_version\s*=\s*'([^']+)'/.exec(text)?.[1] ?? null;
  } catch {
    return null;
  }
}

function isSameRelease(requested: string, installed: string): boolean {
  const source = findWordPressSource(requested);
  return source === null || source.release === 'nightly' || source.release === installed;
}

/** Copies under a temporary name and renames, so an interrupted run leaves no incomplete WordPress. */
function copyWordPress(fetched: FetchedWordPress, dir: string, withSqlite: boolean): void {
  const copy = `${dir}.new`;
  rmSync(copy, { recursive: true, force: true });
  cpSync(fetched.wordpressDir, copy, { recursive: true, mode: constants.COPYFILE_FICLONE });
  mkdirSync(join(copy, 'wp-content/uploads'), { recursive: true });
  if (withSqlite) addSqlite(fetched.sqliteDir, copy);
  rmSync(dir, { recursive: true, force: true });
  renameSync(copy, dir);
}

function addSqlite(sqliteDir: string, dir: string): void {
  const plugin = 'sqlite-database-integration';
  cpSync(sqliteDir, join(dir, 'wp-content/plugins', plugin), { recursive: true });
  const dropIn = readFileSync(join(sqliteDir, 'db.copy'), 'utf8')
    // The path does not exist. So the drop-in looks for the plugin beside itself, and the folder can be moved.
    .replaceAll('{SQLITE_PLUGIN}', `${plugin}/load.php`);
  writeFileSync(join(dir, 'wp-content/db.php'), dropIn);
}
