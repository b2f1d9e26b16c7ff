import { constants, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configFile, type DatabaseSettings, withSiteUrl } from './config-file.js';
import { type FetchedWordPress, fetchWordPress } from './download.js';
import { wordpressSource } from './versions.js';

export interface LayOutOptions {
  readonly dir: string;
  readonly database: DatabaseSettings;
  readonly siteUrl: string;
  /** Left out: the version that lies there, else the default one. */
  readonly wordpressVersion?: string;
  readonly cacheDir?: string;
  readonly log: (line: string) => void;
}

/**
 * Makes sure that a WordPress with its configuration lies in `dir` and answers to `siteUrl`, fetching it on first use.
 * Files that are there already are left alone, apart from the site's address in wp-config.php.
 * Answers the release that lies there then.
 * Throws when another version than the one asked for lies there: WordPress migrates its database upwards only.
 */
export async function layOutWordPress(options: LayOutOptions): Promise<string> {
  const { dir, database, siteUrl } = options;
  const release = await layOutFiles(options);
  if (database.kind === 'sqlite') mkdirSync(database.dir, { recursive: true, mode: 0o700 });
  const file = join(dir, 'wp-config.php');
  const text = existsSync(file) ? withSiteUrl(readFileSync(file, 'utf8'), siteUrl) : configFile(database, siteUrl);
  writeFileSync(file, text);
  return release;
}

async function layOutFiles({ dir, database, wordpressVersion: asked, cacheDir, log }: LayOutOptions): Promise<string> {
  const installed = findInstalledRelease(dir);
  if (installed === null) {
    const fetched = await fetchWordPress({
      ...(asked === undefined ? {} : { version: asked }),
      ...(cacheDir === undefined ? {} : { cacheDir }),
      log,
    });
    copyWordPress(fetched, dir, database.kind === 'sqlite');
    return fetched.release;
  }
  if (asked !== undefined && !sameRelease(asked, installed)) {
    throw new Error(
      `The data folder holds WordPress ${installed}, not ${asked}. Use --fresh to start over, or another --data-dir.`,
    );
  }
  return installed;
}

/** Release of the WordPress that lies in a folder, such as `6.5.5`; null when there is none. */
export function findInstalledRelease(dir: string): string | null {
  try {
    const text = readFileSync(join(dir, 'wp-includes/version.php'), 'utf8');
    return /\$wp_version\s*=\s*'([^']+)'/.exec(text)?.[1] ?? null;
  } catch {
    return null;
  }
}

function sameRelease(asked: string, installed: string): boolean {
  const source = wordpressSource(asked);
  return source === null || source.release === 'nightly' || source.release === installed;
}

/** Copies beside the place and moves, so that a killed run leaves no half WordPress behind. */
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
    // Left as a path that does not exist, the drop-in looks for the plugin beside itself, wherever the folder moves.
    .replaceAll('{SQLITE_PLUGIN}', `${plugin}/load.php`);
  writeFileSync(join(dir, 'wp-content/db.php'), dropIn);
}
