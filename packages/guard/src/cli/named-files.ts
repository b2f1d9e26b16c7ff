import { isAbsolute, relative, resolve, sep } from 'node:path';
import { LIST_FILE } from '../config/config-file.js';
import { listDatabaseFiles } from '../config/database-url.js';
import {
  DATABASE,
  type EnvironmentSetting,
  findDatabaseInEnvironment,
  listFilesInEnvironment,
} from '../config/load-config.js';
import type { ConfigFile } from '../config/parse-config.js';

/** A file that guard reads because the configuration names it. Guard does not start without it. */
export interface NamedFile {
  /** The first key or variable that names it, for example `sites[0].trustedProxies`. */
  readonly key: string;
  /** As the configuration names it: absolute, or relative to the data folder. */
  readonly path: string;
}

/**
 * The files that a configuration and the environment name, each path once: lists of proxies, the mail server's password,
 * authorities, password and certificates of the database.
 */
export function listNamedFiles(
  { trustedProxies, sites, mail, alerts, database }: ConfigFile,
  environment: readonly EnvironmentSetting[],
): readonly NamedFile[] {
  const lists = (key: string, entries: readonly string[] = []): NamedFile[] =>
    entries
      .filter((entry) => entry.startsWith(LIST_FILE))
      .map((entry) => ({ key, path: entry.slice(LIST_FILE.length) }));
  const single = (key: string, path: string | null | undefined): NamedFile[] => (path == null ? [] : [{ key, path }]);
  const named = findDatabaseInEnvironment(environment);
  const all = [
    ...lists('trustedProxies', trustedProxies),
    ...sites.flatMap((site, at) => lists(`sites[${at}].trustedProxies`, site.trustedProxies)),
    ...single('mail.smtp.passwordFile', mail.smtp?.passwordFile),
    ...single('alerts.caFile', alerts.caFile),
    ...listDatabaseFiles(named ?? database).map((path) => ({ key: named === null ? 'database' : DATABASE, path })),
    ...listFilesInEnvironment(environment),
  ];
  return all.filter(({ path }, at) => all.findIndex((other) => other.path === path) === at);
}

/** The path of a file relative to a folder, or null when it is not below that folder. */
export function toPathBelow(folder: string, path: string): string | null {
  const below = relative(folder, resolve(folder, path));
  return below === '' || below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below) ? null : below;
}
