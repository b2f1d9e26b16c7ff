import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { secretFile } from '../load-config.js';
import type { SiteId } from '../site.js';
import { type Command, CommandError } from './command.js';
import { readConfig, writeConfig } from './config-store.js';
import { removeConnector } from './connector-files.js';
import { readOptions, required } from './options.js';

/**
 * Undoes `attach`: removes the connector from WordPress, the secret, and the site from the configuration. Settings and
 * the record of changes stay in the database. WordPress goes first: it must not wait for a guard that forgot it.
 *
 * @param options.site the site, or every site when left out
 * @returns the ids of the detached sites
 * @throws CommandError, ConfigError
 */
export async function detach(options: { readonly dataDir: string; readonly site?: SiteId }): Promise<SiteId[]> {
  const dataDir = resolve(options.dataDir);
  const config = await readConfig(dataDir);
  const leaving = config.sites.filter((site) => options.site === undefined || site.id === options.site);
  if (leaving.length === 0) {
    throw new CommandError(
      options.site === undefined ? 'No site is attached in this data folder.' : `No site has the id ${options.site}.`,
    );
  }
  for (const site of leaving)
    if (site.wordpressDir !== null) await removeConnector(resolve(dataDir, site.wordpressDir));
  await writeConfig(dataDir, { ...config, sites: config.sites.filter((site) => !leaving.includes(site)) });
  for (const site of leaving) await rm(secretFile(dataDir, site.id), { force: true });
  return leaving.map((site) => site.id);
}

export const detachCommand: Command = {
  name: 'detach',
  summary: 'Undo attach: removes the connector from WordPress and the site from the configuration.',
  help: `security-optimizer detach --data-dir DIR [--site ID]

  --data-dir DIR   guard's data folder
  --site ID        only this site; without it every site

Settings and the record of changes stay in the database. Stop guard first, or restart it afterwards.`,
  async run(args) {
    const values = readOptions(args, { 'data-dir': { type: 'string' }, site: { type: 'string' } });
    const detached = await detach({
      dataDir: required('data-dir', values['data-dir']),
      ...(values.site !== undefined && { site: values.site }),
    });
    process.stdout.write(`Detached: ${detached.join(', ')}.\n`);
    return 0;
  },
};
