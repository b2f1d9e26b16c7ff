import { z } from 'zod';
import { guideFile } from '../lib/guides.js';
import { lineText } from '../lib/plain-text.js';
import { withoutByteOrderMark } from '../lib/typed-text.js';
import type { SiteId } from '../site.js';
import { configFile, hostName, type SiteEntry, siteEntry } from './config-file.js';

/**
 * The file with defaults applied. A mistake in one entry of `sites` concerns only that site: the entry is in
 * `invalidSites`, and is written as it was read.
 */
export type ConfigFile = z.output<typeof configFile> & {
  /** Entries of `sites` with mistakes; absent when there are none. */
  readonly invalidSites?: readonly InvalidEntry[];
};

/** An entry of `sites` that can't be used. */
export interface InvalidEntry {
  /** Position in the list, from 0. */
  readonly index: number;
  /** The site's id; its place, for example `sites[2]`, when the id can't be used or belongs to an earlier entry. */
  readonly id: SiteId;
  /** Whether `id` is the site's own, so that a key and stored data may exist under it. */
  readonly hasOwnId: boolean;
  /** The hosts that can be read and that no earlier entry has. */
  readonly hosts: readonly string[];
  /** The folders that can be read. */
  readonly folders: Pick<SiteEntry, 'wordpressDir' | 'muPluginsDir'>;
  /** Each names its key and what is allowed. */
  readonly mistakes: readonly string[];
  /** The entry as it is in the file. */
  readonly json: unknown;
}

/** The folders of an attached site, also of one whose entry has mistakes. */
export type SiteFolders = Pick<SiteEntry, 'id' | 'wordpressDir' | 'muPluginsDir'>;

/** The folders of all sites with an id of their own: no command may give them to another site. */
export function listSiteFolders({ sites, invalidSites = [] }: ConfigFile): readonly SiteFolders[] {
  const invalid = invalidSites.filter(({ hasOwnId }) => hasOwnId).map(({ id, folders }) => ({ id, ...folders }));
  return [...sites, ...invalid];
}

/**
 * Keys that are read under a former name for one release: the path of the former key, with `[]` after the name of a
 * list, and the current name of its last part. Only current names are written.
 */
const FORMER_KEYS: Readonly<Record<string, string>> = { 'sites[].onlyThroughGuard': 'requireGuard' };

/** The configuration in a file, or all mistakes in it, outside single sites, with their keys and what is allowed. */
export type ParsedConfig = { readonly config: ConfigFile } | { readonly mistakes: readonly string[] };

interface WithSites {
  readonly sites: readonly unknown[];
}

interface Mistake {
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

/** Parses the text of `guard.json`. */
export function parseConfig(file: string, formerKeys = FORMER_KEYS): ParsedConfig {
  const text = withoutByteOrderMark(file);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { mistakes: [`is not valid JSON (${lineText((error as SyntaxError).message)})`] };
  }
  const renamed = Object.entries(formerKeys).flatMap(([key, name]) => renameKey(json, [], key.split('.'), name));
  const result = configFile.safeParse(json);
  const mistakes = [...renamed, ...(result.error?.issues.flatMap(describe) ?? [])];
  const outside = mistakes.filter(({ path }) => toEntryIndex(path) === null);
  if (outside.length > 0) return { mistakes: outside.map(print) };
  if (result.success && mistakes.length === 0 && !hasDuplicates(result.data.sites)) return { config: result.data };
  // Parsed again, because former names were replaced in the first copy.
  const original = JSON.parse(text) as WithSites;
  return { config: separateInvalid(json as WithSites, original.sites, mistakes) };
}

/**
 * Separates the entries with mistakes from the others. The first entry keeps an id or host that is named twice, even if
 * it can't be used: its visitors must not get another site.
 *
 * @param json the parsed file with current keys
 * @param original the entries as they are in the file
 */
function separateInvalid(json: WithSites, original: readonly unknown[], mistakes: readonly Mistake[]): ConfigFile {
  const ids = new Set<SiteId>();
  const hosts = new Set<string>();
  const valid: unknown[] = [];
  const invalidSites: InvalidEntry[] = [];
  const byIndex = new Map<number | null, string[]>();
  for (const mistake of mistakes) {
    const index = toEntryIndex(mistake.path);
    byIndex.set(index, [...(byIndex.get(index) ?? []), print(mistake)]);
  }
  for (const [index, entry] of json.sites.entries()) {
    const id = readId(entry);
    const named = readHosts(entry);
    const own = byIndex.get(index) ?? [];
    const isTaken = id !== null && ids.has(id);
    if (isTaken) own.push(`sites[${index}].id: ${id} is used twice; each site needs its own`);
    for (const host of named.filter((each) => hosts.has(each))) {
      own.push(`sites[${index}].hosts: ${host} is named twice; a host belongs to one site`);
    }
    if (own.length === 0) valid.push(entry);
    else {
      invalidSites.push({
        index,
        id: id === null || isTaken ? `sites[${index}]` : id,
        hasOwnId: id !== null && !isTaken,
        hosts: named.filter((host) => !hosts.has(host)),
        folders: readFolders(entry),
        mistakes: own,
        json: original[index],
      });
    }
    if (id !== null) ids.add(id);
    for (const host of named) hosts.add(host);
  }
  return { ...configFile.parse({ ...json, sites: valid }), invalidSites };
}

function hasDuplicates(sites: readonly SiteEntry[]): boolean {
  const hosts = sites.flatMap((site) => site.hosts);
  return new Set(sites.map(({ id }) => id)).size < sites.length || new Set(hosts).size < hosts.length;
}

function readId(entry: unknown): SiteId | null {
  return siteEntry.shape.id.safeParse(readKey(entry, 'id')).data ?? null;
}

/**
 * Reads the hosts of an entry, tolerantly: also from a text, and from addresses such as `https://example.com/`. Their
 * visitors must not get another site.
 */
function readHosts(entry: unknown): readonly string[] {
  const hosts = readKey(entry, 'hosts');
  if (hosts === undefined) return ['*'];
  const texts = (Array.isArray(hosts) ? hosts : [hosts]).filter((text) => typeof text === 'string');
  const names = texts.flatMap((text) => text.split(/[\s,;]+/)).map(toBareHost);
  return [...new Set(names.flatMap((name) => hostName.safeParse(name).data ?? []))];
}

/** Removes scheme, user, port, path and trailing dots. */
function toBareHost(text: string): string {
  return text
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/[/?#].*$/, '')
    .replace(/^.*@/, '')
    .replace(/:\d*$/, '')
    .replace(/\.+$/, '');
}

function readFolders(entry: unknown): InvalidEntry['folders'] {
  const { wordpressDir, muPluginsDir } = siteEntry.shape;
  const moved = muPluginsDir.safeParse(readKey(entry, 'muPluginsDir')).data;
  return {
    wordpressDir: wordpressDir.safeParse(readKey(entry, 'wordpressDir')).data ?? null,
    ...(moved !== undefined && { muPluginsDir: moved }),
  };
}

function readKey(entry: unknown, key: string): unknown {
  return typeof entry === 'object' && entry !== null && Object.hasOwn(entry, key)
    ? (entry as Record<string, unknown>)[key]
    : undefined;
}

/** Position of the site that a mistake concerns; null for one outside single sites. */
function toEntryIndex([first, index]: readonly PropertyKey[]): number | null {
  return first === 'sites' && typeof index === 'number' ? index : null;
}

/**
 * Formats a configuration as the text of `guard.json`, which `parseConfig` parses to the same configuration. Every key
 * is written, including defaults, so that the file shows which keys exist. Invalid entries are written unchanged.
 *
 * @throws Error for a configuration that `parseConfig` would not accept
 */
export function printConfig({ invalidSites = [], ...config }: ConfigFile): string {
  const encoded = z.encode(configFile, config);
  const sites: unknown[] = [...(encoded.sites ?? [])];
  for (const { index, json } of invalidSites) sites.splice(Math.min(index, sites.length), 0, json);
  const text = `${JSON.stringify({ ...encoded, sites }, null, 2)}\n`;
  const parsed = parseConfig(text);
  const mistakes = 'mistakes' in parsed ? parsed.mistakes : findNewMistakes(parsed.config, invalidSites);
  if (mistakes.length > 0) throw new Error(`The configuration could not be read again: ${mistakes.join('; ')}`);
  return text;
}

/** The mistakes in entries that were valid. */
function findNewMistakes(config: ConfigFile, before: readonly InvalidEntry[]): readonly string[] {
  const known = new Set(before.map(({ json }) => JSON.stringify(json)));
  const added = (config.invalidSites ?? []).filter(({ json }) => !known.has(JSON.stringify(json)));
  return added.flatMap(({ mistakes }) => mistakes);
}

/**
 * Renames a key to its current name everywhere.
 * @returns mistakes: the places that contain both names
 */
function renameKey(
  json: unknown,
  at: readonly PropertyKey[],
  [part = '', ...rest]: readonly string[],
  name: string,
): readonly Mistake[] {
  if (typeof json !== 'object' || json === null) return [];
  const object = json as Record<string, unknown>;
  const key = part.replace(/\[\]$/, '');
  if (!Object.hasOwn(object, key)) return [];
  const path = [...at, key];
  if (rest.length > 0) {
    const value = object[key];
    if (!part.endsWith('[]')) return renameKey(value, path, rest, name);
    if (!Array.isArray(value)) return [];
    return value.flatMap((entry, index) => renameKey(entry, [...path, index], rest, name));
  }
  if (Object.hasOwn(object, name)) {
    return [{ path, text: `is the former name of ${name}, which is there too; remove it` }];
  }
  object[name] = object[key];
  delete object[key];
  return [];
}

function describe({ path, ...issue }: z.core.$ZodIssue): readonly Mistake[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => ({
      path: [...path, name],
      text: `unknown key; see ${guideFile('configuration.md')}`,
    }));
  }
  if (issue.code === 'invalid_type' && issue.expected === 'object') {
    return [{ path, text: `use an object with keys and values; see ${guideFile('configuration.md')}` }];
  }
  return [{ path, text: issue.message }];
}

function print({ path, text }: Mistake): string {
  return lineText(`${path.length === 0 ? 'the file' : keyName(path)}: ${text}`);
}

/** Formats a path as text, for example `sites[0].upstream`. */
function keyName(path: readonly PropertyKey[]): string {
  return path
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${String(part)}`))
    .join('');
}
