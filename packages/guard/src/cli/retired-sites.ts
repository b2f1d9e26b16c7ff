import { readdir, readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { siteEntry } from '../config/config-file.js';
import { writeFileAtomically } from '../lib/files.js';
import type { SiteId } from '../site.js';
import { CommandError } from './command.js';

/**
 * Ids that were in use stay reserved permanently: settings, second factors and the log of a site belong to its id, and
 * must never become visible to another customer with the same host name. Each detached site has a note in the data
 * folder. For an erased site it holds only the id and the time.
 */

const retiredSite = siteEntry.pick({ id: true, hosts: true, wordpressDir: true, home: true }).extend({
  retiredAt: z.string().nullable().default(null),
  erasedAt: z.string().nullable().default(null),
});
export type RetiredSite = z.output<typeof retiredSite>;

const SUFFIX = '.retired';

/** Records that a site was detached. The caller of every function in this file holds the lock of the configuration. */
export async function recordRetired(dataDir: string, site: Omit<RetiredSite, 'retiredAt' | 'erasedAt'>): Promise<void> {
  const { id, hosts, wordpressDir, home } = site;
  await writeRetirement(dataDir, id, { id, hosts, wordpressDir, home, retiredAt: new Date().toISOString() });
}

/** Records that a site's data were erased. */
export async function recordErased(dataDir: string, id: SiteId): Promise<void> {
  await writeRetirement(dataDir, id, { id, erasedAt: new Date().toISOString() });
}

/** Records that a site is in use again. */
export async function forgetRetired(dataDir: string, id: SiteId): Promise<void> {
  await rm(retirementFile(dataDir, id), { force: true });
}

/** @throws CommandError for a note that can't be read */
export async function findRetired(dataDir: string, id: SiteId): Promise<RetiredSite | null> {
  const file = retirementFile(dataDir, id);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  try {
    return retiredSite.parse(JSON.parse(text));
  } catch (cause) {
    throw new CommandError(`${file} is damaged. Remove it if nothing of the site ${id} is to be kept.`, { cause });
  }
}

/**
 * Detached sites that used a WordPress folder before, and whose data are kept.
 * @param paths of the folder, absolute
 */
export async function findRetiredIn(dataDir: string, paths: readonly string[]): Promise<readonly RetiredSite[]> {
  const found: RetiredSite[] = [];
  for (const name of await readdir(join(dataDir, 'sites'))) {
    if (!name.endsWith(SUFFIX)) continue;
    const retired = await findRetired(dataDir, name.slice(0, -SUFFIX.length)).catch(() => null);
    const folder = retired?.erasedAt === null ? retired.wordpressDir : null;
    if (retired === null || folder === null) continue;
    if (paths.includes(folder) || paths.includes(await realpath(folder).catch(() => folder))) found.push(retired);
  }
  return found;
}

function retirementFile(dataDir: string, id: SiteId): string {
  return join(dataDir, 'sites', `${id}${SUFFIX}`);
}

async function writeRetirement(dataDir: string, id: SiteId, note: Partial<RetiredSite>): Promise<void> {
  await writeFileAtomically(retirementFile(dataDir, id), `${JSON.stringify(note)}\n`, { mode: 0o600 });
}
