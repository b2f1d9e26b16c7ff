import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { z } from 'zod';
import type { Config } from './config.js';
import { type ConfigFile, configFile, databaseUrl, listenAddress, logLevel, trustedProxy } from './config-file.js';
import type { SmtpServer } from './mail/smtp-mailer.js';

/** Every mistake of a configuration together, each naming the key and what is allowed. */
export class ConfigError extends Error {
  constructor(readonly mistakes: readonly string[]) {
    super(mistakes.join('\n'));
    this.name = 'ConfigError';
  }
}

/** Name of the configuration file in the data folder. */
export const CONFIG_FILE = 'guard.json';

/** File below the data folder that holds a site's secret. */
export function secretFile(dataDir: string, site: string): string {
  return join(dataDir, 'sites', `${site}.secret`);
}

/**
 * Reads the configuration: the file, then the environment over it, then each site's secret. Relative paths are
 * relative to the data folder, which is the folder of the file unless given.
 *
 * @throws ConfigError
 */
export async function loadConfig(options: {
  readonly dataDir?: string | undefined;
  readonly file?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
}): Promise<Config> {
  const file = resolve(options.file ?? join(options.dataDir ?? '.', CONFIG_FILE));
  const dataDir = resolve(options.dataDir ?? dirname(file));
  const mistakes: string[] = [];
  const fromFile = await readConfigFile(file, mistakes);
  const fromEnv = readEnvironment(options.env ?? process.env, mistakes);
  const merged = { ...(fromFile ?? configFile.parse({})), ...fromEnv };
  if (fromFile) mistakes.push(...siteMistakes(fromFile.sites));
  const sites = [];
  for (const site of merged.sites) {
    const secret = await readSecret(dataDir, site.id, mistakes);
    const wordpressDir = site.wordpressDir === null ? null : resolve(dataDir, site.wordpressDir);
    const { muPluginsDir: moved, ...rest } = site;
    const muPluginsDir = moved === undefined ? {} : { muPluginsDir: resolve(dataDir, moved) };
    sites.push({ ...rest, wordpressDir, ...muPluginsDir, secret });
  }
  const smtp = await readSmtp(dataDir, merged.mail.smtp, options.env ?? process.env, mistakes);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return { dataDir, ...merged, sites, mail: { smtp } };
}

/** Reads and checks the file alone; mistakes are added to the list, and null is given when there are any. */
export async function readConfigFile(file: string, mistakes: string[]): Promise<ConfigFile | null> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    mistakes.push(
      error instanceof SyntaxError
        ? `${file}: is not valid JSON (${error.message})`
        : `${file}: can’t be read (${(error as NodeJS.ErrnoException).code}); \`security-optimizer attach\` writes it`,
    );
    return null;
  }
  const result = configFile.safeParse(json);
  if (result.success) return result.data;
  mistakes.push(...result.error.issues.flatMap((issue) => describe(issue).map((text) => `${file}: ${text}`)));
  return null;
}

function describe(issue: z.core.$ZodIssue): string[] {
  const key = keyName(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => `${key === '' ? name : `${key}.${name}`}: unknown key; see docs/configuration.md`);
  }
  return [`${key === '' ? 'the file' : key}: ${issue.message}`];
}

/** `sites[0].upstream` rather than a list of parts. */
function keyName(path: readonly PropertyKey[]): string {
  return path
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${String(part)}`))
    .join('');
}

function siteMistakes(sites: ConfigFile['sites']): string[] {
  const mistakes: string[] = [];
  if (sites.length === 0) mistakes.push('sites: name at least one site; `security-optimizer attach` adds one');
  const ids = new Set<string>();
  const hosts = new Set<string>();
  for (const [at, site] of sites.entries()) {
    if (ids.has(site.id)) mistakes.push(`sites[${at}].id: ${site.id} is used twice; each site needs its own`);
    ids.add(site.id);
    for (const host of site.hosts) {
      if (hosts.has(host)) mistakes.push(`sites[${at}].hosts: ${host} is named twice; a host belongs to one site`);
      hosts.add(host);
    }
  }
  return mistakes;
}

const variables = {
  SECURITY_OPTIMIZER_LISTEN: { key: 'listen', read: (text: string) => listenAddress.safeParse(text) },
  SECURITY_OPTIMIZER_DATABASE: { key: 'database', read: (text: string) => databaseUrl.safeParse(text) },
  SECURITY_OPTIMIZER_TRUSTED_PROXIES: {
    key: 'trustedProxies',
    read: (text: string) => trustedProxy.array().safeParse(text.split(/[\s,]+/).filter((part) => part !== '')),
  },
  SECURITY_OPTIMIZER_LOG_LEVEL: { key: 'logLevel', read: (text: string) => logLevel.safeParse(text) },
} as const;

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

/** The mail server with its password: from the environment, else from the file. */
async function readSmtp(
  dataDir: string,
  smtp: ConfigFile['mail']['smtp'],
  env: NodeJS.ProcessEnv,
  mistakes: string[],
): Promise<SmtpServer | null> {
  if (smtp === null) return null;
  const { user, passwordFile, ...server } = smtp;
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
    const password = (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
    if (password === '') mistakes.push(`${file}: must hold the password of the mail server`);
    await refuseReadableByOthers(file, mistakes);
    return password;
  } catch (error) {
    mistakes.push(`${file}: can’t be read (${(error as NodeJS.ErrnoException).code})`);
    return '';
  }
}

async function refuseReadableByOthers(file: string, mistakes: string[]): Promise<void> {
  if (process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0) {
    mistakes.push(`${file}: others may read it; run chmod 600 on it`);
  }
}

async function readSecret(dataDir: string, site: string, mistakes: string[]): Promise<string> {
  const file = secretFile(dataDir, site);
  try {
    const secret = (await readFile(file, 'utf8')).trim();
    if (!/^[0-9a-f]{64}$/.test(secret)) mistakes.push(`${file}: must hold 64 lower-case hexadecimal digits`);
    await refuseReadableByOthers(file, mistakes);
    return secret;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    mistakes.push(`${file}: can’t be read (${code}); \`security-optimizer attach\` writes it`);
    return '';
  }
}
