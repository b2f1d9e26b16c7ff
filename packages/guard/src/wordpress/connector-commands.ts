import { z } from 'zod';
import { plainText } from '../lib/plain-text.js';
import type { SiteConfig } from '../site.js';
import { type CommandResponse, parseResponse } from './command-queue.js';
import type { BrowserIdentity, ConnectorClient } from './connector-client.js';

/** The plugin directory; URLs without a trailing slash. */
export interface PluginDirectory {
  readonly api: string;
  readonly downloads: string;
  readonly checksums: string;
}

/**
 * A name from a file or the database, without characters that could deceive the reader of a list. The limit exceeds the
 * longest path of PHP.
 */
const name = z.string().transform((text) => plainText(text, 4096));

const pluginsResponse = z.object({
  plugins: z.array(
    z.object({
      file: z.string().max(500),
      name,
      version: name,
      kind: z.enum(['plugin', 'must-use', 'drop-in']),
      active: z.boolean(),
      network_active: z.boolean(),
    }),
  ),
  users: z.number().int(),
  sessions: z.number().int().nullable(),
});
export type InstalledPlugins = z.output<typeof pluginsResponse>;

const reinstallResponse = z.object({
  result: z.enum(['done', 'skipped', 'failed']),
  reason: z.string().max(60),
  version: z.string(),
  unknown_files: z.array(name),
  changed_files: z.number().int(),
  /** The file of the package that failed verification. */
  refused_file: name.default(''),
});
export type Reinstalled = z.output<typeof reinstallResponse>;

/**
 * Keyed hashes of the salts that WordPress uses, by name of a key and of a scheme. Null when a plugin generates the
 * salt.
 */
const saltHashes = z.record(z.string().max(40), z.string().max(64).nullable());
export type SaltHashes = z.output<typeof saltHashes>;
const salts = z.discriminatedUnion('change', [
  z.object({ change: z.literal('kept') }),
  z.object({
    /** `nothing`: wp-config.php holds no value that could be replaced. */
    change: z.enum(['written', 'not_writable', 'nothing']),
    mark: z.string().max(64),
    before: saltHashes,
    elsewhere: z.array(z.string().max(40)).max(8),
    files: z.array(name).max(3),
  }),
]);
/** The result of a change of salts, and the salts that WordPress used before. */
export type NewSalts = z.output<typeof salts>;
const saltsResponse = z.object({ now: saltHashes });

const resetResponse = z.object({ reset_at: z.number().int(), users: z.number().int(), salts });
const mailResponse = z.object({
  last: z.number().int(),
  mailed: z.number().int(),
  failed: z.number().int(),
  left: z.number().int(),
  more: z.boolean(),
});
export type MailedLinks = z.output<typeof mailResponse>;

/**
 * A mail with placeholders that WordPress fills in: `{{site}}`, `{{login}}`, `{{link}}`, `{{until}}` and `{{date}}`.
 */
export interface ResetMail {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}
/** Mails by locale of the catalogue, for example `de_DE`. `en_US` is used for every language without a catalogue. */
export type ResetMails = Readonly<Record<string, ResetMail>>;

const logOutResponse = z.object({ users: z.number().int(), salts });

const foundFile = z.object({
  file: name,
  /** The name in base64, with all its bytes. Older connectors do not report it, nor `state` of every file. */
  path: z.string().max(8192).default(''),
  /** Time of the last change, Unix seconds. */
  at: z.number().int(),
  /** SHA-256 of the content; empty for what can't be read. */
  state: z.string().max(64).default(''),
});
export type FoundFile = z.output<typeof foundFile>;
const foundFiles = z.object({
  files: z.array(foundFile),
  count: z.number().int(),
  /** Changes when any of the files changes. */
  state: z.string(),
});
export type FoundFiles = z.output<typeof foundFiles>;
const coreResponse = z.object({
  version: z.string(),
  changed: foundFiles,
  missing: z.array(name),
  unknown: foundFiles,
  /** Logs and settings of the web server in WordPress's folders. Older connectors list them among the unknown files. */
  left: z.array(name).default([]),
});
export type CoreFiles = z.output<typeof coreResponse>;
const administratorsResponse = z.object({
  administrators: z.array(
    z.object({
      id: z.number().int(),
      login: name,
      email: name,
      registered: z.number().int(),
      last_login: z.number().int().nullable(),
      sessions: z.number().int(),
      link: z.string(),
    }),
  ),
});
export type Administrators = z.output<typeof administratorsResponse>['administrators'];
const optionsResponse = z.object({
  site_url: z.string(),
  home: z.string(),
  admin_email: z.string(),
  default_role: z.string(),
  registration: z.boolean(),
  strong_roles: z.array(name),
  settings_link: z.string(),
});
export type SiteOptions = z.output<typeof optionsResponse>;
const tasksResponse = z.object({
  tasks: z.array(z.object({ hook: name, next: z.number().int(), owner: name })),
});
export type ScheduledTasks = z.output<typeof tasksResponse>['tasks'];

const uploadsResponse = z.object({
  complete: z.boolean(),
  scripts: z.array(foundFile),
  count: z.number().int(),
});
export type ScriptsInUploads = z.output<typeof uploadsResponse>;
const pluginResponse = z.object({
  result: z.enum(['compared', 'not_listed', 'unreachable', 'gone']),
  found: foundFiles,
});
export type ComparedPlugin = z.output<typeof pluginResponse>;

/** A file of a finding, as the checkup has found it. */
export interface FileTarget {
  readonly check: 'core' | 'uploads';
  readonly path: string;
  readonly state: string;
}

const readFindingResponse = z.object({
  /** Why it can't be read; empty when it was. Then the others are set. */
  reason: z.string().max(60),
  /** At most 128 KB, in base64. */
  content: z.string().default(''),
  size: z.number().int().default(0),
  mode: z.number().int().default(0),
  at: z.number().int().default(0),
});
/** A part of a file, with facts about it. */
export type ReadFinding = z.output<typeof readFindingResponse>;

/** Why nothing was done; empty when it was. */
const outcomeResponse = z.object({ reason: z.string().max(60) });

/** A part of a removed file, with the facts that are restored. */
export interface FilePart {
  readonly offset: number;
  /** In base64. */
  readonly content: string;
  readonly size: number;
  readonly mode: number;
  readonly at: number;
}

/** Downloading and verifying a package may take long; WordPress itself allows five minutes for a step. */
const REINSTALL_MS = 300_000;
const STEP_MS = 60_000;

/**
 * The commands of docs/developer/post-hack.md.
 * @throws ConnectorError when a command was not carried out
 */
export interface PostHackCommands {
  plugins(site: SiteConfig): Promise<InstalledPlugins>;
  reinstallPlugin(site: SiteConfig, file: string, directory: PluginDirectory): Promise<Reinstalled>;
  forcePasswordReset(site: SiteConfig): Promise<{ readonly users: number; readonly salts: NewSalts }>;
  /**
   * Hashes of the salts that WordPress uses now.
   * @param mark of the response with which this one is compared
   */
  salts(site: SiteConfig, mark: string): Promise<SaltHashes>;
  /**
   * Mails links to a part of the users.
   * @param step users with a higher ID, in one of the partitions (`partition` of `partitions`), which may run in
   *   parallel
   */
  mailPasswordLinks(
    site: SiteConfig,
    step: {
      readonly after: number;
      readonly limit: number;
      readonly partition: number;
      readonly partitions: number;
      readonly mails: ResetMails;
    },
  ): Promise<MailedLinks>;
  /** @param keep the browser whose session is kept */
  logOutUsers(
    site: SiteConfig,
    keep: BrowserIdentity | null,
  ): Promise<{ readonly users: number; readonly salts: NewSalts }>;
  core(site: SiteConfig, checksums: string): Promise<CoreFiles | 'no_checksums' | 'checksums_unreachable'>;
  administrators(site: SiteConfig): Promise<Administrators>;
  options(site: SiteConfig): Promise<SiteOptions>;
  tasks(site: SiteConfig): Promise<ScheduledTasks>;
  uploads(site: SiteConfig): Promise<ScriptsInUploads>;
  /**
   * Compares the files of a plugin with checksums.
   * @param file the plugin's name in WordPress; `checksums`: URL of the checksums in the plugin directory
   */
  comparePlugin(site: SiteConfig, file: string, checksums: string): Promise<ComparedPlugin>;
  /** Reads a part of a file, beginning at a byte. */
  readFinding(site: SiteConfig, file: FileTarget, offset: number): Promise<ReadFinding>;
  /** Deletes a file if it is still the one that was found. Returns why not, or ''. */
  removeFinding(site: SiteConfig, file: FileTarget): Promise<string>;
  /** Writes a part of a removed file; the last part completes it. Returns why not, or ''. */
  restoreFinding(site: SiteConfig, file: FileTarget, part: FilePart): Promise<string>;
  /**
   * Deletes an administrator, whose content goes to another one (`heir`, a user ID). Returns why not, or ''.
   * @param user `registered`: Unix seconds
   */
  removeAdministrator(
    site: SiteConfig,
    user: { readonly id: number; readonly registered: number },
    heir: number,
  ): Promise<string>;
}

export function createPostHackCommands(client: Pick<ConnectorClient, 'send'>): PostHackCommands {
  const checkup = (site: SiteConfig, body: { part: string; file?: string; checksums?: string }) =>
    client.send(site, 'checkup', body, { timeoutMs: STEP_MS });
  const change = async (site: SiteConfig, command: string, body: object) =>
    parseResponse(outcomeResponse, command, await client.send(site, command, body, { timeoutMs: STEP_MS })).reason;
  return {
    plugins: async (site) => parseResponse(pluginsResponse, 'plugins', await client.send(site, 'plugins', {})),
    async reinstallPlugin(site, file, directory) {
      const { api, downloads, checksums } = directory;
      const body = { file, directory: { api, downloads, checksums } };
      const response = await client.send(site, 'reinstall-plugin', body, { timeoutMs: REINSTALL_MS });
      return parseResponse(reinstallResponse, 'reinstall-plugin', response);
    },
    forcePasswordReset: async (site) =>
      parseResponse(
        resetResponse,
        'force-password-reset',
        await client.send(site, 'force-password-reset', {}, { timeoutMs: STEP_MS }),
      ),
    salts: async (site, mark) => parseResponse(saltsResponse, 'salts', await client.send(site, 'salts', { mark })).now,
    mailPasswordLinks: async (site, step) =>
      parseResponse(
        mailResponse,
        'mail-password-links',
        await client.send(site, 'mail-password-links', step, { timeoutMs: STEP_MS }),
      ),
    async logOutUsers(site, keep) {
      const body = keep === null ? {} : { keep_cookie: true };
      const response = await client.send(site, 'log-out-users', body, keep === null ? {} : { visitor: keep });
      return parseResponse(logOutResponse, 'log-out-users', response);
    },
    async core(site, checksums) {
      const response = await checkup(site, { part: 'core', checksums });
      return getMissing(response) ?? parseResponse(coreResponse, 'checkup', response);
    },
    administrators: async (site) =>
      parseResponse(administratorsResponse, 'checkup', await checkup(site, { part: 'administrators' })).administrators,
    options: async (site) => parseResponse(optionsResponse, 'checkup', await checkup(site, { part: 'options' })),
    tasks: async (site) => parseResponse(tasksResponse, 'checkup', await checkup(site, { part: 'tasks' })).tasks,
    uploads: async (site) => parseResponse(uploadsResponse, 'checkup', await checkup(site, { part: 'uploads' })),
    comparePlugin: async (site, file, checksums) =>
      parseResponse(pluginResponse, 'checkup', await checkup(site, { part: 'plugin', file, checksums })),
    async readFinding(site, { check, path, state }, offset) {
      const response = await client.send(site, 'read-finding', { check, path, state, offset });
      return parseResponse(readFindingResponse, 'read-finding', response);
    },
    removeFinding: (site, { check, path, state }) => change(site, 'remove-finding', { check, path, state }),
    restoreFinding: (site, { check, path, state }, part) =>
      change(site, 'restore-finding', { check, path, state, ...part }),
    removeAdministrator: (site, { id, registered }, heir) =>
      change(site, 'remove-administrator', { user: id, registered, heir }),
  };
}

/** Why no checksums are available, or null when they are. */
function getMissing({ status, text }: CommandResponse): 'no_checksums' | 'checksums_unreachable' | null {
  const reasons = ['no_checksums', 'checksums_unreachable'] as const;
  return status === 400 ? (reasons.find((reason) => text.includes(`"${reason}"`)) ?? null) : null;
}

const overviewResponse = z.object({
  core_update: z.string().max(40).nullable(),
  plugin_updates: z.number().int(),
  theme_updates: z.number().int(),
  salts: z.enum(['set', 'in-database', 'default']),
  shows_errors: z.boolean(),
  can_edit_files: z.boolean(),
  administrators: z.array(z.object({ id: z.number().int(), login: z.string() })).max(200),
  default_role: z.string(),
  registration: z.boolean(),
  https: z.boolean(),
});
/** The state of WordPress for the Security Dashboard. */
export type WordPressOverview = z.output<typeof overviewResponse>;

/** Fetches the state of WordPress. Throws ConnectorError. */
export async function fetchOverview(
  client: Pick<ConnectorClient, 'send'>,
  site: SiteConfig,
): Promise<WordPressOverview> {
  return parseResponse(overviewResponse, 'overview', await client.send(site, 'overview', {}));
}
