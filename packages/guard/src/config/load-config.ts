import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readTypedRanges } from '../lib/typed-ranges.js';
import { withoutByteOrderMark } from '../lib/typed-text.js';
import type { QuarantinedSite, SiteConfig, SiteId } from '../site.js';
import type { Config, SmtpServer } from './config.js';
import {
  configFile,
  databaseUrl,
  LIST_FILE,
  listenAddress,
  logLevel,
  processes,
  toConfiguredRanges,
  trustedProxy,
} from './config-file.js';
import { withoutPassword } from './database-url.js';
import { type ConfigFile, parseConfig } from './parse-config.js';
import { isSecret } from './secret-form.js';

/** All mistakes of a configuration, each with its key and what is allowed. */
export class ConfigError extends Error {
  constructor(readonly mistakes: readonly string[]) {
    super(mistakes.join('\n'));
    this.name = 'ConfigError';
  }
}

/** Location of a configuration: a folder with `guard.json`, or a file; see `loadConfig`. */
export interface ConfigSource {
  readonly dataDir?: string | undefined;
  readonly file?: string | undefined;
}

/** Name of the configuration file in the data folder. */
export const CONFIG_FILE = 'guard.json';

/** Returns the file below the data folder that contains a site's secret. */
export function secretFile(dataDir: string, site: string): string {
  return join(dataDir, 'sites', `${site}.secret`);
}

/**
 * Reads the configuration: the file, overridden by the environment, then each site's secret. Relative paths are
 * relative to the data folder, by default the folder of the file. A site whose entry has mistakes, or whose secret can't be
 * used, is quarantined, so that the others are served.
 *
 * @param options `site`: only this one is read, if the file contains it; the others may be thousands, or damaged
 * @throws ConfigError
 */
export async function loadConfig(
  options: ConfigSource & { readonly env?: NodeJS.ProcessEnv; readonly site?: SiteId },
): Promise<Config> {
  const file = toConfigPath(options);
  const dataDir = resolve(options.dataDir ?? dirname(file));
  const mistakes: string[] = [];
  const fromFile = await readConfigFile(file, mistakes);
  const fromEnv = readEnvironment(options.env ?? process.env, mistakes);
  const { invalidSites = [], ...parsed } = fromFile ?? (configFile.parse({}) as ConfigFile);
  const merged = { ...parsed, ...fromEnv };
  if (merged.proxyProtocol && merged.trustedProxies.length === 0) {
    mistakes.push(
      'proxyProtocol: name the proxies that send the header in trustedProxies; from others guard takes none',
    );
  }
  const sites: SiteConfig[] = [];
  const isWanted = ({ id }: { readonly id: SiteId }) => options.site === undefined || id === options.site;
  const quarantined: QuarantinedSite[] = invalidSites.filter(isWanted).map(({ id, hosts, mistakes: own }) => {
    const remedy = `correct it, or remove the entry with \`security-optimizer sites remove --site '${id}'\``;
    return { id, hosts, cause: 'entry', reason: `${file}: ${own.join('; ')}; ${remedy}` };
  });
  const lists = new Map<string, AddressList>();
  const proxies = (lines: readonly string[], found: string[]) => readProxies(dataDir, lines, lists, found);
  const trustedProxies = await proxies(merged.trustedProxies, mistakes);
  for (const site of merged.sites.filter(isWanted)) {
    const { id, hosts } = site;
    const secret = readSecret(dataDir, id);
    if ('reason' in secret) {
      quarantined.push({ id, hosts, cause: 'key', reason: secret.reason });
      continue;
    }
    const wordpressDir = site.wordpressDir === null ? null : resolve(dataDir, site.wordpressDir);
    const { muPluginsDir: moved, sharedConnector: shared, trustedProxies: own, ...rest } = site;
    const muPluginsDir = moved === undefined ? {} : { muPluginsDir: resolve(dataDir, moved) };
    const ownMistakes: string[] = [];
    const ownProxies = own === undefined ? {} : { trustedProxies: await proxies(own, ownMistakes) };
    if (ownMistakes.length > 0) {
      quarantined.push({ id, hosts, cause: 'entry', reason: ownMistakes.join('; ') });
      continue;
    }
    const sharedConnector = shared === undefined ? {} : { sharedConnector: shared };
    sites.push({ ...rest, wordpressDir, ...muPluginsDir, ...sharedConnector, ...ownProxies, ...secret });
  }
  const smtp = await readSmtp(dataDir, merged.mail.smtp, options.env ?? process.env, mistakes);
  const authorities = await readAuthorities(dataDir, merged.alerts.caFile, mistakes);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  const { securityLog } = merged.activity;
  const activity = {
    ...merged.activity,
    securityLog: securityLog === null ? null : resolve(dataDir, securityLog),
    monitors: toConfiguredRanges(merged.activity.monitors),
  };
  const { privateTargets, plainHttp } = merged.alerts;
  const alerts = { privateTargets: toConfiguredRanges(privateTargets), plainHttp, authorities };
  const workers = merged.processes === 'auto' ? availableParallelism() : merged.processes;
  return {
    dataDir,
    ...merged,
    processes: workers,
    trustedProxies,
    activity,
    alerts,
    sites,
    quarantined,
    mail: { smtp },
  };
}

/**
 * Replaces each `file:PATH` by the addresses and ranges in the file: one per line, `#` begins a comment. An empty file
 * is a mistake, since all visitors would then have the address of the proxy.
 *
 * @param lists the files that were read already; thousands of sites may refer to the same one
 */
async function readProxies(
  dataDir: string,
  lines: readonly string[],
  lists: Map<string, AddressList>,
  mistakes: string[],
): Promise<readonly string[]> {
  const all: string[] = [];
  for (const line of lines) {
    if (!line.startsWith(LIST_FILE)) {
      all.push(...toConfiguredRanges([line]));
      continue;
    }
    const file = resolve(dataDir, line.slice(LIST_FILE.length));
    const list = lists.get(file) ?? (await readAddressList(file));
    lists.set(file, list);
    all.push(...list.addresses);
    mistakes.push(...list.mistakes);
  }
  return all;
}

/** A file of addresses and ranges. */
interface AddressList {
  readonly addresses: readonly string[];
  readonly mistakes: readonly string[];
}

async function readAddressList(file: string): Promise<AddressList> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { addresses: [], mistakes: [`${file}: can’t be read (${code}); trustedProxies names it`] };
  }
  const list: string[] = [];
  const mistakes: string[] = [];
  const lines = withoutByteOrderMark(text).split(/\r\n?|\n/);
  for (const [at, line] of lines.entries()) {
    if (line.replace(/(?:#|\/\/).*$/, '').trim() === '') continue;
    const read = readTypedRanges(line);
    if ('texts' in read) list.push(...read.texts);
    else mistakes.push(`${file}: line ${at + 1} is no address or range; check “${read.fault.params.name}”`);
  }
  if (list.length === 0 && mistakes.length === 0) {
    mistakes.push(`${file}: holds no address; all visitors would have the address of the proxy`);
  }
  return { addresses: list, mistakes };
}

function toConfigPath({ dataDir, file }: ConfigSource): string {
  return resolve(file ?? join(dataDir ?? '.', CONFIG_FILE));
}

/**
 * Returns when the configuration file was written, nanoseconds since the Unix epoch, in decimal digits.
 * @throws ConfigError when it can't be read
 */
export async function configWrittenAt(source: ConfigSource): Promise<string> {
  const file = toConfigPath(source);
  try {
    return String((await stat(file, { bigint: true })).mtimeNs);
  } catch (error) {
    throw new ConfigError([missingFile(file, error)]);
  }
}

/** Reads and validates only the file. Mistakes outside single sites are appended to the list; then the result is null. */
export async function readConfigFile(file: string, mistakes: string[]): Promise<ConfigFile | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    mistakes.push(missingFile(file, error));
    return null;
  }
  const parsed = parseConfig(text);
  if ('config' in parsed) return parsed.config;
  mistakes.push(...parsed.mistakes.map((mistake) => `${file}: ${mistake}`));
  return null;
}

/** Why the configuration file can't be read, with the remedy. */
export function missingFile(file: string, error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  return `${file}: can’t be read (${code}); ${READ_REMEDIES[code] ?? 'it must be a file that guard can read'}`;
}

const READ_REMEDIES: Readonly<Record<string, string>> = {
  ENOENT: '`security-optimizer attach` writes it',
  EACCES: 'run the command as root, or as the user who owns the data folder',
  ENOTDIR: '--data-dir must name a folder',
};

/**
 * Splits a variable into the words `unix` and `file:PATH`, and the rest as one entry, since a range or a mask may
 * contain spaces.
 */
function splitProxies(text: string): readonly string[] {
  const texts: string[] = [];
  const rest = text.replace(/(^|[\s,;])(unix|file:[^\s,;]+)(?=[\s,;]|$)/g, (_, before: string, word: string) => {
    texts.push(word);
    return before;
  });
  return /[^\s,;]/.test(rest) ? [...texts, rest] : texts;
}

/** Names the database instead of the file. */
export const DATABASE = 'SECURITY_OPTIMIZER_DATABASE';
const TRUSTED_PROXIES = 'SECURITY_OPTIMIZER_TRUSTED_PROXIES';

const variables = {
  SECURITY_OPTIMIZER_LISTEN: { key: 'listen', read: (text: string) => listenAddress.safeParse(text) },
  [DATABASE]: { key: 'database', read: (text: string) => databaseUrl.safeParse(text) },
  [TRUSTED_PROXIES]: {
    key: 'trustedProxies',
    read: (text: string) => trustedProxy.array().safeParse(splitProxies(text)),
  },
  SECURITY_OPTIMIZER_PROCESSES: {
    key: 'processes',
    read: (text: string) => processes.safeParse(/^\d+$/.test(text) ? Number(text) : text),
  },
  SECURITY_OPTIMIZER_LOG_LEVEL: { key: 'logLevel', read: (text: string) => logLevel.safeParse(text) },
} as const;

/**
 * Returns the database that guard uses with this file. The environment overrides the file.
 * @throws ConfigError
 */
export function getDatabaseUrl({ database }: Pick<ConfigFile, 'database'>, env = process.env): string {
  const mistakes: string[] = [];
  const { database: named } = readEnvironment({ [DATABASE]: env[DATABASE] }, mistakes);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return named ?? database;
}

function readEnvironment(env: NodeJS.ProcessEnv, mistakes: string[]): Partial<ConfigFile> {
  const values: Record<string, unknown> = {};
  for (const [name, { key, read }] of Object.entries(variables)) {
    const text = env[name];
    if (text === undefined || text === '') continue;
    const result = read(text);
    if (result.success) values[key] = result.data;
    else mistakes.push(`${name}: ${result.error.issues[0]?.message}`);
  }
  return values as Partial<ConfigFile>;
}

const SMTP_PASSWORD = 'SECURITY_OPTIMIZER_SMTP_PASSWORD';

/** A setting that stands in the environment, and perhaps nowhere else. */
export interface EnvironmentSetting {
  /** Name of the variable. */
  readonly name: string;
  /** Without a password in it. Null for a secret, and for a value that can't be used. */
  readonly value: string | null;
}

/** The variables of an environment that guard reads. Never contains a secret. */
export function listEnvironment(env: NodeJS.ProcessEnv): readonly EnvironmentSetting[] {
  const plain = Object.entries(variables).map(([name, { read }]) => ({ name, isPlain: read(env[name] ?? '').success }));
  const toPlain = (name: string, text: string) => (name === DATABASE ? withoutPassword(text) : text);
  return [...plain, { name: SMTP_PASSWORD, isPlain: false }]
    .filter(({ name }) => (env[name] ?? '') !== '')
    .map(({ name, isPlain }) => ({ name, value: isPlain ? toPlain(name, env[name] as string) : null }));
}

/** The database that the environment names, without its password; null if it names none. */
export function findDatabaseInEnvironment(settings: readonly EnvironmentSetting[]): string | null {
  return settings.find(({ name }) => name === DATABASE)?.value ?? null;
}

/** The files of addresses that the environment names, as it names them. */
export function listFilesInEnvironment(settings: readonly EnvironmentSetting[]): readonly NamedByVariable[] {
  const { value } = settings.find(({ name }) => name === TRUSTED_PROXIES) ?? { value: null };
  return splitProxies(value ?? '')
    .filter((entry) => entry.startsWith(LIST_FILE))
    .map((entry) => ({ key: TRUSTED_PROXIES, path: entry.slice(LIST_FILE.length) }));
}

interface NamedByVariable {
  /** Name of the variable. */
  readonly key: string;
  readonly path: string;
}

/** Reads the mail server with its password: from the environment, else from the file. */
async function readSmtp(
  dataDir: string,
  smtp: ConfigFile['mail']['smtp'],
  env: NodeJS.ProcessEnv,
  mistakes: string[],
): Promise<SmtpServer | null> {
  if (smtp === null) return null;
  const { user, passwordFile, ...rest } = smtp;
  // Port 465 is implicit TLS (RFC 8314).
  const server = { ...rest, secure: rest.secure ?? rest.port === 465 };
  if (user === null) return { ...server, login: null };
  const password = env[SMTP_PASSWORD] || (await readPassword(dataDir, passwordFile, mistakes));
  return { ...server, login: { user, password } };
}

async function readPassword(dataDir: string, name: string | null, mistakes: string[]): Promise<string> {
  if (name === null) {
    mistakes.push(`mail.smtp: \`user\` needs a password; name \`passwordFile\` or set ${SMTP_PASSWORD}`);
    return '';
  }
  const file = resolve(dataDir, name);
  try {
    const password = withoutByteOrderMark(await readFile(file, 'utf8')).replace(/\r?\n$/, '');
    if (password === '') mistakes.push(`${file}: must hold the password of the mail server`);
    await refuseReadableByOthers(file, mistakes);
    return password;
  } catch (error) {
    mistakes.push(`${file}: can’t be read (${(error as NodeJS.ErrnoException).code})`);
    return '';
  }
}

const CERTIFICATE = '-----BEGIN CERTIFICATE-----';
const CERTIFICATE_END = '-----END CERTIFICATE-----';

/** Reads further certificate authorities. Text between the certificates of a PEM file is a comment (RFC 7468). */
async function readAuthorities(dataDir: string, name: string | null, mistakes: string[]): Promise<readonly string[]> {
  if (name === null) return [];
  const file = resolve(dataDir, name);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    mistakes.push(`${file}: can’t be read (${(error as NodeJS.ErrnoException).code}); alerts.caFile names it`);
    return [];
  }
  const [, ...parts] = text.split(CERTIFICATE);
  const certificates = parts.map((part) => `${CERTIFICATE}${part.split(CERTIFICATE_END)[0]}${CERTIFICATE_END}\n`);
  if (certificates.length === 0) {
    mistakes.push(`${file}: holds no certificate in PEM format (${CERTIFICATE}); alerts.caFile names it`);
  }
  for (const [at, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch {
      mistakes.push(`${file}: certificate ${at + 1} is damaged; alerts.caFile names it`);
    }
  }
  return certificates;
}

async function refuseReadableByOthers(file: string, mistakes: string[]): Promise<void> {
  if (isReadableByOthers(await stat(file))) mistakes.push(`${file}: others may read it; run chmod 600 on it`);
}

function isReadableByOthers({ mode }: { readonly mode: number }): boolean {
  return process.platform !== 'win32' && (mode & 0o077) !== 0;
}

/**
 * Reads the secret of a site, or returns why it can't be used and how to fix that. Synchronous: with ten thousand sites
 * that takes a third of the time, and nothing else waits for it, either at the start or in the thread of
 * `loadConfigInThread`.
 */
function readSecret(dataDir: string, site: SiteId): { readonly secret: string } | { readonly reason: string } {
  const file = secretFile(dataDir, site);
  try {
    const secret = readFileSync(file, 'utf8').trim();
    if (!isSecret(secret)) {
      return { reason: `${file}: must hold 64 lower-case hexadecimal digits; remove it and attach the site again` };
    }
    if (isReadableByOthers(statSync(file))) return { reason: `${file}: others may read it; run chmod 600 on it` };
    return { secret };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const remedy = code === 'ENOENT' ? '`security-optimizer attach` writes it' : 'guard must be able to read it';
    return { reason: `${file}: can’t be read (${code}); ${remedy}` };
  }
}
