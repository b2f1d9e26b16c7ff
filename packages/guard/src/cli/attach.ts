import { randomBytes } from 'node:crypto';
import { mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import type { ConfigFile, SiteEntry } from '../config-file.js';
import { homePath, hostName, listenAddress, trustedProxy, upstreamOrigin } from '../config-file.js';
import { writeFileAtomically } from '../lib/write-file-atomically.js';
import { secretFile } from '../load-config.js';
import type { SiteId } from '../site.js';
import { type Command, CommandError } from './command.js';
import { readConfig, writeConfig } from './config-store.js';
import { findConnectorSources, installConnector } from './connector-files.js';
import { checked, readOptions, required } from './options.js';

export interface AttachOptions {
  /** Folder that holds wp-load.php. */
  readonly wordpressDir: string;
  /** Folder of must-use plugins where the site has moved it; what the configuration has when left out. */
  readonly muPluginsDir?: string;
  /** Origin of WordPress's web server, for example `http://127.0.0.1:8081`. */
  readonly upstream: string;
  readonly listen: { readonly host: string; readonly port: number };
  readonly dataDir: string;
  /** Host names of the site; every host when left out. */
  readonly hosts?: readonly string[];
  /** Proxies in front of guard; what the configuration has when left out. */
  readonly trustedProxies?: readonly string[];
  /** Lets WordPress answer requests that did not come through guard. */
  readonly allowDirect?: boolean;
  /** URL path of a site in a sub-directory; it is only needed until the connector has told it. */
  readonly home?: string;
}

export interface AttachedSite {
  readonly id: SiteId;
  /** Whether the site was attached before and has now been brought up to date. */
  readonly again: boolean;
}

/**
 * Connects a WordPress with guard: makes the secret, writes the configuration, installs the connector and the
 * dashboard. Repeatable: the secret and every setting stay, files are brought up to date. Guard's side is written
 * first, so that WordPress never waits for a guard that does not know it.
 *
 * @throws CommandError, ConfigError, or the system's error for a file that can't be written
 */
export async function attach(options: AttachOptions): Promise<AttachedSite> {
  const wordpressDir = await wordpressFolder(options.wordpressDir);
  const dataDir = resolve(options.dataDir);
  if (`${dataDir}/`.startsWith(`${wordpressDir}/`)) {
    throw new CommandError('The data folder must not lie inside the WordPress folder: its files could be fetched.');
  }
  const sources = await findConnectorSources();
  await mkdir(join(dataDir, 'sites'), { recursive: true, mode: 0o700 });
  const config = await readConfig(dataDir);
  const known = config.sites.find((site) => site.wordpressDir === wordpressDir);
  const moved = await movedMuPlugins(wordpressDir, options.muPluginsDir ?? known?.muPluginsDir);
  const site: SiteEntry = {
    id: known?.id ?? newId(config, options),
    hosts: [...(options.hosts ?? known?.hosts ?? ['*'])],
    upstream: options.upstream,
    wordpressDir,
    ...moved,
    onlyThroughGuard: !options.allowDirect,
    home: options.home ?? known?.home ?? '',
  };
  refuseTakenHosts(config, site);
  const secret = await siteSecret(dataDir, site.id);
  await writeConfig(dataDir, {
    ...config,
    listen: options.listen,
    trustedProxies: [...(options.trustedProxies ?? config.trustedProxies)],
    sites: known ? config.sites.map((entry) => (entry === known ? site : entry)) : [...config.sites, site],
  });
  await installConnector({ wordpressDir, ...moved }, sources, { secret, onlyThroughGuard: site.onlyThroughGuard });
  return { id: site.id, again: known !== undefined };
}

async function wordpressFolder(path: string): Promise<string> {
  for (const file of ['wp-load.php', join('wp-includes', 'version.php')]) {
    const found = await stat(join(path, file)).catch(() => null);
    if (!found?.isFile()) throw new CommandError(`${path} is not a WordPress folder: it has no ${file}.`);
  }
  return realpath(path);
}

/**
 * The folder of must-use plugins that was named. It may not exist yet; the folder around it must, since guard can't
 * know how a site without a `wp-content` is laid out.
 */
async function movedMuPlugins(wordpressDir: string, named?: string): Promise<{ readonly muPluginsDir?: string }> {
  const content = named === undefined ? join(wordpressDir, 'wp-content') : dirname(resolve(named));
  const found = await stat(content).catch(() => null);
  if (found?.isDirectory()) return named === undefined ? {} : { muPluginsDir: resolve(named) };
  throw new CommandError(
    named === undefined
      ? `${wordpressDir} has no wp-content. Name the folder of the site's must-use plugins with --mu-plugins.`
      : `There is no folder ${content} for must-use plugins.`,
  );
}

/** The site's secret: the one it has, or a new one of 32 random bytes. */
async function siteSecret(dataDir: string, site: SiteId): Promise<string> {
  const file = secretFile(dataDir, site);
  const present = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (present !== null) {
    const secret = present.trim();
    if (!/^[0-9a-f]{64}$/.test(secret)) {
      throw new CommandError(`${file} does not hold a secret. Remove it, and the next attach makes a new one.`);
    }
    return secret;
  }
  const secret = randomBytes(32).toString('hex');
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFileAtomically(file, `${secret}\n`, { mode: 0o600 });
  return secret;
}

/** A readable id that no other site has, from the site's first host. */
function newId(config: ConfigFile, { hosts }: AttachOptions): SiteId {
  const name = hosts?.find((host) => host !== '*') ?? 'site';
  const base =
    name
      .replace(/[^a-zA-Z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 50)
      .toLowerCase() || 'site';
  const taken = new Set(config.sites.map((site) => site.id));
  for (let number = 1; ; number++) {
    const id = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(id)) return id;
  }
}

function refuseTakenHosts(config: ConfigFile, site: SiteEntry): void {
  for (const other of config.sites) {
    const shared = other.id === site.id ? undefined : other.hosts.find((host) => site.hosts.includes(host));
    if (shared !== undefined) {
      const which = shared === '*' ? 'every other host' : `the host ${shared}`;
      throw new CommandError(`The site ${other.id} already takes ${which}. Name this site's hosts with --host.`);
    }
  }
}

export const attachCommand: Command = {
  name: 'attach',
  summary: 'Connect a WordPress with guard: installs the connector, makes the secret, writes the configuration.',
  help: `security-optimizer attach --wordpress DIR --upstream URL --listen HOST:PORT --data-dir DIR [options]

  --wordpress DIR        folder of the WordPress installation
  --upstream URL         origin of its web server, for example http://127.0.0.1:8081
  --listen HOST:PORT     where guard listens, for example 127.0.0.1:8080
  --data-dir DIR         guard's data folder, outside the WordPress folder
  --mu-plugins DIR       folder of its must-use plugins, where that is not wp-content/mu-plugins
  --host NAME            host name of the site; repeatable; without it every host is taken
  --trusted-proxy CIDR   proxy in front of guard whose X-Forwarded-For is believed; repeatable
  --home PATH            URL path of a site in a sub-directory, for example /blog
  --allow-direct         let WordPress answer requests that did not come through guard

Safe to repeat: the secret and every setting stay. Restart guard afterwards.`,
  async run(args) {
    const values = readOptions(args, {
      wordpress: { type: 'string' },
      'mu-plugins': { type: 'string' },
      upstream: { type: 'string' },
      listen: { type: 'string' },
      'data-dir': { type: 'string' },
      host: { type: 'string', multiple: true },
      'trusted-proxy': { type: 'string', multiple: true },
      home: { type: 'string' },
      'allow-direct': { type: 'boolean', default: false },
    });
    const dataDir = required('data-dir', values['data-dir']);
    const { id, again } = await attach({
      wordpressDir: required('wordpress', values.wordpress),
      upstream: checked('upstream', upstreamOrigin, required('upstream', values.upstream)),
      listen: checked('listen', listenAddress, required('listen', values.listen)),
      dataDir,
      allowDirect: values['allow-direct'],
      ...(values.host && { hosts: checked('host', z.array(hostName), values.host) }),
      ...(values['trusted-proxy'] && {
        trustedProxies: checked('trusted-proxy', z.array(trustedProxy), values['trusted-proxy']),
      }),
      ...(values['mu-plugins'] !== undefined && { muPluginsDir: values['mu-plugins'] }),
      ...(values.home !== undefined && { home: checked('home', homePath, values.home) }),
    });
    process.stdout.write(
      `${again ? 'Brought up to date' : 'Attached'}: site ${id}.\nStart guard: security-optimizer serve --data-dir ${dataDir}\n`,
    );
    return 0;
  },
};
