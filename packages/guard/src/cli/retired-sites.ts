import { readdir, readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { siteEntry } from '../config/config-file.js';
import { writeFileAtomically } from '../lib/files.js';
import type { SiteId } from '../site.js';
import { CommandError } from './command.js';

/**
 * Ids that were in use stay taken for ever: settings, second factors and the log of a site belong to its id, and nothing
 * of them may come to another customer who gets the same name. Each site that is detached leaves a note in the data
 * folder; of an erased one only its id and the time are left.
 */

const retiredSite = siteEntry.pick({ id: true, hosts: true, wordpressDir: true, home: true }).extend({
  retiredAt: z.string().nullable().default(null),
  erasedAt: z.string().nullable().default(null),
});
export type RetiredSite = z.output<typeof retiredSite>;

const SUFFIX = '.retired';

/** Notes that a site was detached. The caller holds the lock of the configuration, as everywhere here. */
export async function recordRetired(dataDir: string, site: Omit<RetiredSite, 'retiredAt' | 'erasedAt'>): Promise<void> {
  const { id, hosts, wordpressDir, home } = site;
  await writeRetirement(dataDir, id, { id, hosts, wordpressDir, home, retiredAt: new Date().toISOString() });
}

/** Notes that nothing of a site is to be kept. */
export async function recordErased(dataDir: string, id: SiteId): Promise<void> {
  await writeRetirement(dataDir, id, { id, erasedAt: new Date().toISOString() });
}

/** A site is in use again. */
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
 * Sites that a WordPress folder was before and of which something is kept.
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
