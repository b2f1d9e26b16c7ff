import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { loadConfig, secretFile } from '../load-config.js';
import type { SiteId } from '../site.js';
import { connectorClient } from '../wordpress/connector-client.js';
import { type Command, CommandError } from './command.js';
import { readConfig, writeConfig } from './config-store.js';
import { removeConnector } from './connector-files.js';
import { readOptions, required } from './options.js';

/** How long WordPress may take to clean its database, milliseconds. */
const FORGET_TIMEOUT_MS = 10_000;

export interface Detached {
  readonly site: SiteId;
  /** WordPress has taken what the connector kept out of its database. */
  readonly forgotten: boolean;
}

/**
 * Undoes `attach`: removes the connector from WordPress, what it kept in WordPress's database, the secret, and the site
 * from the configuration. Settings and the record of changes stay in guard's database. WordPress goes first: it must not
 * wait for a guard that forgot it. A WordPress that does not answer is detached all the same.
 *
 * @param options.site the site, or every site when left out
 * @throws CommandError, ConfigError
 */
export async function detach(options: { readonly dataDir: string; readonly site?: SiteId }): Promise<Detached[]> {
  const dataDir = resolve(options.dataDir);
  const config = await readConfig(dataDir);
  const leaving = config.sites.filter((site) => options.site === undefined || site.id === options.site);
  if (leaving.length === 0) {
    throw new CommandError(
      options.site === undefined ? 'No site is attached in this data folder.' : `No site has the id ${options.site}.`,
    );
  }
  const detached: Detached[] = [];
  for (const { id } of leaving) detached.push({ site: id, forgotten: await forgetInWordPress(dataDir, id) });
  for (const { wordpressDir, muPluginsDir } of leaving) {
    if (wordpressDir === null) continue;
    await removeConnector({
      wordpressDir: resolve(dataDir, wordpressDir),
      ...(muPluginsDir !== undefined && { muPluginsDir: resolve(dataDir, muPluginsDir) }),
    });
  }
  await writeConfig(dataDir, { ...config, sites: config.sites.filter((site) => !leaving.includes(site)) });
  for (const site of leaving) await rm(secretFile(dataDir, site.id), { force: true });
  return detached;
}

async function forgetInWordPress(dataDir: string, id: SiteId): Promise<boolean> {
  const client = connectorClient({ clock: Date.now, facts: () => null, answerTimeoutMs: FORGET_TIMEOUT_MS });
  try {
    const site = (await loadConfig({ dataDir })).sites.find((each) => each.id === id);
    if (site === undefined) return false;
    await client.forget(site);
    return true;
  } catch {
    // Stopped, moved, or without its key: its files can be removed still.
    return false;
  } finally {
    client.close();
  }
}

export const detachCommand: Command = {
  name: 'detach',
  summary: 'Undo attach: removes the connector from WordPress and the site from the configuration.',
  help: `security-optimizer detach --data-dir DIR [--site ID]

  --data-dir DIR   guard's data folder
  --site ID        only this site; without it every site

Settings and the record of changes stay in guard's database. Stop guard first, or restart it afterwards. WordPress
should run: it takes what the connector kept out of its own database.`,
  async run(args) {
    const values = readOptions(args, { 'data-dir': { type: 'string' }, site: { type: 'string' } });
    const detached = await detach({
      dataDir: required('data-dir', values['data-dir']),
      ...(values.site !== undefined && { site: values.site }),
    });
    process.stdout.write(`Detached: ${detached.map(({ site }) => site).join(', ')}.\n`);
    for (const { site } of detached.filter(({ forgotten }) => !forgotten)) {
      process.stderr.write(
        `${site}: WordPress did not answer, so its database still holds options and a table whose names start with security_optimizer_. They do nothing.\n`,
      );
    }
    return 0;
  },
};
