import { z } from 'zod';
import type { SiteConfig } from '../site.js';
import type { ConnectorClient } from './connector-client.js';
import { type Answer, parseAnswer } from './connector-exchange.js';
import type { Visitor } from './sender.js';

/** Where plugins come from; addresses without a slash at the end. */
export interface PluginDirectory {
  readonly api: string;
  readonly downloads: string;
  readonly checksums: string;
}

const pluginsAnswer = z.object({
  plugins: z.array(
    z.object({
      file: z.string().max(500),
      name: z.string(),
      version: z.string(),
      kind: z.enum(['plugin', 'must-use', 'drop-in']),
      active: z.boolean(),
      network_active: z.boolean(),
    }),
  ),
  users: z.number().int(),
  sessions: z.number().int().nullable(),
});
export type InstalledPlugins = z.output<typeof pluginsAnswer>;

const reinstallAnswer = z.object({
  result: z.enum(['done', 'skipped', 'failed']),
  reason: z.string().max(60),
  version: z.string(),
  unknown_files: z.array(z.string()),
  changed_files: z.number().int(),
});
export type Reinstalled = z.output<typeof reinstallAnswer>;

const salts = z.enum(['replaced', 'kept', 'not_writable', 'not_plain']);
export type SaltsOutcome = z.output<typeof salts>;

const resetAnswer = z.object({ reset_at: z.number().int(), users: z.number().int(), salts });
const mailAnswer = z.object({
  last: z.number().int(),
  mailed: z.number().int(),
  failed: z.number().int(),
  left: z.number().int(),
  more: z.boolean(),
});
export type MailedLinks = z.output<typeof mailAnswer>;
const logOutAnswer = z.object({ users: z.number().int(), salts });

const coreAnswer = z.object({
  version: z.string(),
  changed: z.array(z.string()),
  missing: z.array(z.string()),
  unknown: z.array(z.string()),
});
export type CoreFiles = z.output<typeof coreAnswer>;
const administratorsAnswer = z.object({
  administrators: z.array(
    z.object({
      id: z.number().int(),
      login: z.string(),
      email: z.string(),
      registered: z.number().int(),
      last_login: z.number().int().nullable(),
      link: z.string(),
    }),
  ),
});
export type Administrators = z.output<typeof administratorsAnswer>['administrators'];
const optionsAnswer = z.object({
  site_url: z.string(),
  home: z.string(),
  admin_email: z.string(),
  default_role: z.string(),
  registration: z.boolean(),
  strong_roles: z.array(z.string()),
  settings_link: z.string(),
});
export type SiteOptions = z.output<typeof optionsAnswer>;
const tasksAnswer = z.object({
  tasks: z.array(z.object({ hook: z.string(), next: z.number().int(), owner: z.string() })),
});
export type ScheduledTasks = z.output<typeof tasksAnswer>['tasks'];

/** A download and its check may take long; WordPress itself gives a step five minutes. */
const REINSTALL_MS = 300_000;
const STEP_MS = 60_000;

/** The commands of docs/post-hack.md. Every method throws ConnectorError when the command was not carried out. */
export interface PostHackCommands {
  plugins(site: SiteConfig): Promise<InstalledPlugins>;
  reinstallPlugin(site: SiteConfig, file: string, directory: PluginDirectory): Promise<Reinstalled>;
  forcePasswordReset(site: SiteConfig): Promise<{ readonly users: number; readonly salts: SaltsOutcome }>;
  /** @param step users after this id, of one of the lanes that share them out and may run side by side */
  mailPasswordLinks(
    site: SiteConfig,
    step: { readonly after: number; readonly limit: number; readonly lane: number; readonly lanes: number },
  ): Promise<MailedLinks>;
  /** @param keep whose own session stays */
  logOutUsers(
    site: SiteConfig,
    keep: Visitor | null,
  ): Promise<{ readonly users: number; readonly salts: SaltsOutcome }>;
  /** Null when there are no checksums for this version. */
  core(site: SiteConfig, checksums: string): Promise<CoreFiles | null>;
  administrators(site: SiteConfig): Promise<Administrators>;
  options(site: SiteConfig): Promise<SiteOptions>;
  tasks(site: SiteConfig): Promise<ScheduledTasks>;
}

export function postHackCommands(client: Pick<ConnectorClient, 'send'>): PostHackCommands {
  const checkup = (site: SiteConfig, body: { part: string; checksums?: string }) =>
    client.send(site, 'checkup', body, { timeoutMs: STEP_MS });
  return {
    plugins: async (site) => parseAnswer(pluginsAnswer, 'plugins', await client.send(site, 'plugins', {})),
    async reinstallPlugin(site, file, directory) {
      const { api, downloads, checksums } = directory;
      const body = { file, directory: { api, downloads, checksums } };
      const answer = await client.send(site, 'reinstall-plugin', body, { timeoutMs: REINSTALL_MS });
      return parseAnswer(reinstallAnswer, 'reinstall-plugin', answer);
    },
    forcePasswordReset: async (site) =>
      parseAnswer(
        resetAnswer,
        'force-password-reset',
        await client.send(site, 'force-password-reset', {}, { timeoutMs: STEP_MS }),
      ),
    mailPasswordLinks: async (site, step) =>
      parseAnswer(
        mailAnswer,
        'mail-password-links',
        await client.send(site, 'mail-password-links', step, { timeoutMs: STEP_MS }),
      ),
    async logOutUsers(site, keep) {
      const body = keep === null ? {} : { keep_cookie: true };
      const answer = await client.send(site, 'log-out-users', body, keep === null ? {} : { visitor: keep });
      return parseAnswer(logOutAnswer, 'log-out-users', answer);
    },
    async core(site, checksums) {
      const answer = await checkup(site, { part: 'core', checksums });
      return saysNoChecksums(answer) ? null : parseAnswer(coreAnswer, 'checkup', answer);
    },
    administrators: async (site) =>
      parseAnswer(administratorsAnswer, 'checkup', await checkup(site, { part: 'administrators' })).administrators,
    options: async (site) => parseAnswer(optionsAnswer, 'checkup', await checkup(site, { part: 'options' })),
    tasks: async (site) => parseAnswer(tasksAnswer, 'checkup', await checkup(site, { part: 'tasks' })).tasks,
  };
}

function saysNoChecksums({ status, text }: Answer): boolean {
  return status === 400 && text.includes('"no_checksums"');
}
