import type { SiteEntry } from '../config/config-file.js';
import type { KeyLocation } from '../wordpress/site-files.js';
import { CommandError } from './command.js';

/**
 * Which site a folder belongs to, and where the site's key is stored. Sites may share WordPress's core, the folder of
 * must-use plugins, or both, so that neither folder alone identifies the site (docs/decisions/0032).
 */

/** A site of the configuration with its folders, absolute. */
export interface LocatedSite {
  readonly site: SiteEntry;
  /** As the configuration names it. */
  readonly named: string;
  /** WordPress's folder with links resolved. */
  readonly wordpressDir: string;
  /** Folder of must-use plugins with links resolved. */
  readonly muPluginsDir: string;
}

/** A WordPress that the operator names. */
export interface NamedSite {
  readonly named: string;
  /** With links resolved. */
  readonly wordpressDir: string;
  /** Null when the operator named none. */
  readonly hosts: readonly string[] | null;
  /** Id that the operator named. */
  readonly id: string | null;
  /** Null when the operator named none. */
  readonly upstream: string | null;
  /** With links resolved; null when the operator named none. */
  readonly muPluginsDir: string | null;
  /** The operator states that this site is not one of those in the same folder. */
  readonly isNew: boolean;
}

/**
 * Finds the attached site to which the operator refers; null for a new one. A path identifies a site, wherever it leads
 * by now. Two paths that lead to the same folder are one site unless their hosts differ, since sites may share a core.
 *
 * @throws CommandError when more than one site matches
 */
export function findNamedSite(sites: readonly LocatedSite[], wanted: NamedSite): SiteEntry | null {
  if (wanted.isNew) return null;
  const isNamed = (each: LocatedSite) => each.named === wanted.named;
  const all = sites.filter((each) => isNamed(each) || each.wordpressDir === wanted.wordpressDir);
  const byId = all.find(({ site }) => site.id === wanted.id);
  if (byId !== undefined) return byId.site;
  const exact = all.filter(isNamed);
  const candidates = exact.length > 0 ? exact : all;
  const first = candidates[0];
  if (first === undefined) return null;
  const { hosts } = wanted;
  if (hosts === null) {
    if (candidates.length === 1 && (exact.length === 1 || !isOtherSite(first, wanted))) return first.site;
    if (candidates.length === 1) {
      throw new CommandError(
        `${wanted.named} leads to the WordPress of the site ${first.site.id} (${first.named}), which has another upstream or other must-use plugins. If it is that site, add --site ${first.site.id}; if it is another site that shares the core, name its hosts with --host.`,
      );
    }
    const ids = candidates.map(({ site }) => site.id).join(', ');
    throw new CommandError(
      `${wanted.named} is the folder of several sites: ${ids}. Name one with --site or by its hosts.`,
    );
  }
  const same = [...exact, ...all].find(({ site }) => site.hosts.some((host) => hosts.includes(host)));
  if (same !== undefined) return same.site;
  if (exact.length === 0) return null;
  const acceptsAllHosts = exact.length === 1 && (first.site.hosts.includes('*') || hosts.includes('*'));
  if (acceptsAllHosts) return first.site;
  throw new CommandError(
    `${wanted.named} is the site ${first.site.id} with ${listHosts(first.site)}. If that site has other hosts from now on, add --site ${first.site.id}; if this is another site that shares the folder, add --new-site.`,
  );
}

/** Whether what the operator states about a folder contradicts a site with the same core. */
function isOtherSite({ site, muPluginsDir }: LocatedSite, wanted: NamedSite): boolean {
  return (
    (wanted.upstream !== null && wanted.upstream !== site.upstream) ||
    (wanted.muPluginsDir !== null && wanted.muPluginsDir !== muPluginsDir)
  );
}

/** What decides where a key is stored. */
export interface KeyFolder {
  /** With links resolved. */
  readonly wordpressDir: string;
  readonly muPluginsDir: string;
  /** Whether several sites use the folder of must-use plugins, according to its contents or the operator. */
  readonly isShared: boolean;
  /** The operator provides the key to this site's PHP. */
  readonly isExternal: boolean;
}

/**
 * Where the key of a site is stored, so that no other site reads it.
 * @param others the other attached sites
 * @throws CommandError when another site would read it at every location
 */
export function toKeyLocation(folder: KeyFolder, others: readonly LocatedSite[]): KeyLocation {
  const sameFolder = others.filter(({ muPluginsDir }) => muPluginsDir === folder.muPluginsDir);
  const twin = sameFolder.find(({ wordpressDir }) => wordpressDir === folder.wordpressDir);
  if (twin !== undefined && !(folder.isExternal && twin.site.externalKey === true)) {
    const { id } = twin.site;
    const key =
      "define( 'SECURITY_OPTIMIZER_KEY_FILE', '…' ); in the part of wp-config.php that is this site's alone, and attach it with --external-key";
    throw new CommandError(
      `The site ${id} (${listHosts(twin.site)}) has the same WordPress, ${folder.wordpressDir}, and the same must-use plugins, ${folder.muPluginsDir}: the connector can't tell them apart, and one would have the key of the other. If this is that site, add --site ${id}. If not, each of both has to name a key of its own: ${key}${twin.site.externalKey === true ? '' : `; the site ${id} first`}.`,
    );
  }
  if (folder.isExternal) return 'external';
  return folder.isShared || sameFolder.length > 0 ? 'by-path' : 'secret.php';
}

function listHosts({ hosts }: SiteEntry): string {
  return hosts.includes('*') ? 'every other host' : `the host${hosts.length === 1 ? '' : 's'} ${hosts.join(', ')}`;
}
