import { resolve } from 'node:path';
import type { SiteEntry } from '../config/config-file.js';
import { getDatabaseUrl } from '../config/load-config.js';
import type { SiteId } from '../site.js';
import { secretPhp } from '../wordpress/connector-secret.js';
import type { AttachOptions } from './attach.js';
import { UsageError } from './command.js';
import { updateConfig } from './config-store.js';
import { findConnectorSources, readConnector, toIncludingLoader } from './connector-files.js';
import { toUsualMuPlugins } from './releases.js';
import { forgetRetired } from './retired-sites.js';
import {
  findRetainedData,
  newSiteId,
  refuseInvalidEntry,
  refuseTakenHosts,
  refuseUnlessShared,
  refuseUnlessVisited,
  siteSecret,
} from './site-entry.js';
import { toRealAddressAdvice } from './upstream-server.js';

/** A site whose files the operator installs by hand, because its code is read-only or on another machine. */
interface ManualSite {
  readonly id: SiteId;
  /** 64 hexadecimal digits. */
  readonly secret: string;
  readonly requireGuard: boolean;
  /** Folder of the connector's release, as PHP sees it; null for a site into which `attach` installs the connector. */
  readonly sharedRelease: string | null;
  /** Folder of must-use plugins; null when guard does not know it. */
  readonly muPluginsDir: string | null;
  /** Its upstream web server, see `SiteConfig.upstream`. */
  readonly upstream: string;
}

/** Instructions for the operator: what to write where. The text contains the key. */
function printManualInstall(site: ManualSite): string {
  const { id, secret, requireGuard, sharedRelease, muPluginsDir, upstream } = site;
  const file = `/etc/security-optimizer/${id}.php`;
  const plugins =
    muPluginsDir ?? 'the folder of must-use plugins (wp-content/mu-plugins, or what WPMU_PLUGIN_DIR says)';
  const connector =
    sharedRelease === null
      ? 'The connector: `attach` has installed it.\n'
      : `The connector: a file security-optimizer.php, mode 644, in
   ${plugins}.
   PHP must be able to read ${sharedRelease} (open_basedir).

${toIncludingLoader(sharedRelease)}`;
  return `Put in place for the site ${id}:

1. ${connector}
2. The key, in one of these forms. Nobody but PHP of this site should be able to read it.

   A file outside the web root, for example ${file}:

${secretPhp({ secret, requireGuard })}
   that wp-config.php names, above the line that loads wp-settings.php:

define( 'SECURITY_OPTIMIZER_KEY_FILE', '${file}' );

   Or a file with the digits alone, such as a container mounts, that a variable of PHP's environment names:

${secret}

SECURITY_OPTIMIZER_KEY_FILE=/run/secrets/security-optimizer-key
SECURITY_OPTIMIZER_REQUIRE_GUARD=${requireGuard ? 1 : 0}

   Or the digits themselves in SECURITY_OPTIMIZER_KEY, as a constant or a variable. phpinfo() shows variables, so a file is
   better. A constant counts before a variable. Sites that one pool of PHP serves need the constant.

3. The web server of this site: every visitor has guard’s own address there without more.
   ${toRealAddressAdvice(upstream)}
4. Then: security-optimizer status
`;
}

/** The options of `attach --print`. None of them makes guard access WordPress's folders. */
type PrintOptions = Pick<
  AttachOptions,
  'dataDir' | 'upstream' | 'listen' | 'hosts' | 'site' | 'trustedProxies' | 'allowDirect' | 'requireGuard' | 'home'
> & {
  readonly wordpressDir: string | null;
  readonly muPluginsDir: string | null;
  readonly sharedConnector: string | null;
};

/**
 * Writes guard's side of a site whose files the operator installs by hand, because its code is read-only or on another
 * machine. For a site into which `attach` installs the connector, nothing is changed.
 *
 * @returns instructions that contain the key
 * @throws CommandError, ConfigError
 */
export async function attachByHand(options: PrintOptions): Promise<string> {
  const dataDir = resolve(options.dataDir);
  const sources = await findConnectorSources();
  return updateConfig(dataDir, async (config, write) => {
    const folder = options.wordpressDir === null ? null : resolve(options.wordpressDir);
    const known = config.sites.find(({ id, hosts, wordpressDir }) => {
      if (options.site !== undefined) return id === options.site;
      if (options.hosts !== undefined) return hosts.some((host) => options.hosts?.includes(host));
      return folder !== null && wordpressDir !== null && resolve(dataDir, wordpressDir) === folder;
    });
    if (known === undefined) {
      refuseInvalidEntry(dataDir, config, { id: options.site, wordpressDirs: folder === null ? [] : [folder] });
    }
    const plugins = known?.muPluginsDir ?? options.muPluginsDir;
    const muPluginsDir = plugins ? resolve(dataDir, plugins) : folder && toUsualMuPlugins(folder);
    const shared = options.sharedConnector ?? known?.sharedConnector ?? null;
    if (known !== undefined && known.wordpressDir !== null) {
      const { sharedRelease } = shared === null ? { sharedRelease: null } : await readConnector(sources, shared);
      const { id, requireGuard, upstream } = known;
      return printManualInstall({
        ...{ id, requireGuard, upstream, sharedRelease, muPluginsDir },
        secret: await siteSecret(dataDir, id),
      });
    }
    if (shared === null) {
      throw new UsageError('--print needs --shared-connector: the folder out of which PHP runs the connector.');
    }
    await refuseUnlessShared(sources, shared);
    const upstream = options.upstream ?? known?.upstream;
    if (upstream === undefined) throw new UsageError('The option --upstream is missing.');
    const databases = { dataDir, url: getDatabaseUrl(config) };
    const retained = known ?? (await findRetainedData(databases, options.site));
    const hosts = options.hosts ?? retained?.hosts ?? ['*'];
    const site: SiteEntry = {
      ...known,
      id:
        known?.id ?? options.site ?? (await newSiteId(hosts.find((host) => host !== '*') ?? 'site', config, databases)),
      ...{ hosts: [...hosts], upstream, wordpressDir: null, sharedConnector: shared },
      requireGuard: options.allowDirect ? false : options.requireGuard ? true : (known?.requireGuard ?? false),
      home: options.home ?? retained?.home ?? '',
    };
    refuseTakenHosts(config, site);
    if (options.requireGuard === true && !known?.requireGuard) await refuseUnlessVisited(dataDir, site.id);
    const secret = await siteSecret(dataDir, site.id);
    await write({
      ...config,
      listen: options.listen ?? config.listen,
      trustedProxies: [...(options.trustedProxies ?? config.trustedProxies)],
      sites: known ? config.sites.map((entry) => (entry === known ? site : entry)) : [...config.sites, site],
    });
    await forgetRetired(dataDir, site.id);
    const { sharedRelease } = await readConnector(sources, shared);
    const { id, requireGuard } = site;
    return printManualInstall({ id, requireGuard, upstream, sharedRelease, muPluginsDir, secret });
  });
}
