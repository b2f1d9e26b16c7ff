import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type SiteEntry, siteEntry } from '../config/config-file.js';
import { CONFIG_FILE } from '../config/load-config.js';
import { type ConfigFile, listSiteFolders, printConfig } from '../config/parse-config.js';
import { writeFileAtomically } from '../lib/files.js';
import type { SiteId } from '../site.js';
import type { SiteTaskOptions } from '../wordpress/site-files.js';
import { updateConfig } from './config-store.js';
import { fileRecord } from './connector-files.js';
import type { Release } from './releases.js';
import { removeFromRelease } from './remove-connector.js';

/**
 * Files about one site that `attach` writes or removes in `sites`: key, file record, releases, note of a detached site.
 */
const NOTES = ['secret', 'files', 'releases', 'retired'] as const;

/** The former contents of these files; null for a file that did not exist. */
export type SiteNotes = Readonly<Record<(typeof NOTES)[number], string | null>>;

/** Reads the data folder's files about a site, for `restoreNotes`. */
export async function readNotes(dataDir: string, id: SiteId): Promise<SiteNotes> {
  const read = (name: string) =>
    readFile(noteFile(dataDir, id, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
  const entries = await Promise.all(NOTES.map(async (name) => [name, await read(name)] as const));
  return Object.fromEntries(entries) as SiteNotes;
}

/** Restores the data folder's files about a site. The caller holds the lock of the configuration. */
export async function restoreNotes(dataDir: string, id: SiteId, notes: SiteNotes): Promise<void> {
  for (const name of NOTES) {
    const content = notes[name];
    const file = noteFile(dataDir, id, name);
    if (content === null) await rm(file, { force: true });
    else await writeFileAtomically(file, content, { mode: 0o600 });
  }
}

/** What an `attach` has changed in the data folder. */
export interface ChangedData {
  readonly id: SiteId;
  readonly written: ConfigFile;
  /** The previous configuration; null when there was no file. */
  readonly former: ConfigFile | null;
  readonly notes: SiteNotes;
}

/**
 * Reverts the change of the configuration and of the notes. If another command has changed the configuration since,
 * only the site's entry is reverted. The caller holds the lock.
 *
 * @param config the present configuration
 */
export async function restoreData(
  dataDir: string,
  { id, written, former, notes }: ChangedData,
  config: ConfigFile,
  write: (config: ConfigFile) => Promise<void>,
): Promise<void> {
  if (printConfig(config) !== printConfig(written)) {
    const entry = former?.sites.find((site) => site.id === id);
    await write({ ...config, sites: config.sites.flatMap((site) => (site.id === id ? (entry ?? []) : site)) });
  } else if (former !== null) await write(former);
  else await rm(join(dataDir, CONFIG_FILE), { force: true });
  await restoreNotes(dataDir, id, notes);
}

/** What an `attach` has changed, for `undoAttach`. */
export interface AttachedState extends ChangedData {
  readonly release: Release;
  /** The connector was not installed in that place before. */
  readonly isNewRelease: boolean;
  readonly options: SiteTaskOptions;
}

/**
 * Reverts an `attach`: removes the connector and its key from a place where they were not before, and restores the
 * configuration and the notes about the site. A site that another command has changed since then stays as it is.
 *
 * @throws SiteFilesError when the files could not be removed; everything else is reverted nevertheless
 */
export async function undoAttach(dataDir: string, state: AttachedState): Promise<void> {
  const { id, written, release, isNewRelease, options } = state;
  await updateConfig(dataDir, async (config, write) => {
    const [present, own] = [config, written].map(({ sites }) => sites.find((site) => site.id === id));
    if (present === undefined || own === undefined || print(present) !== print(own)) return;
    try {
      if (isNewRelease) {
        const files = await fileRecord(dataDir, id).read();
        const others = listSiteFolders(config).filter((site) => site.id !== id);
        await removeFromRelease(dataDir, id, { ...release, files }, { ...options, others });
      }
    } finally {
      await restoreData(dataDir, state, config, write);
    }
  });
}

function print(entry: SiteEntry): string {
  return JSON.stringify(z.encode(siteEntry, entry));
}

function noteFile(dataDir: string, id: SiteId, name: string): string {
  return join(dataDir, 'sites', `${id}.${name}`);
}
