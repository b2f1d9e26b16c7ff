import { CHECKS, type CheckName } from '@security-optimizer/contract/post-hack/checkup';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { ActivityStore, EventRow } from '../activity/index.js';
import { toLocalTimestamp } from '../lib/time-zone.js';
import type { SiteConfig, SiteId } from '../site.js';
import { StorageError } from '../storage/storage-error.js';
import type { PostHackCommands } from '../wordpress/connector-commands.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import {
  administratorFindings,
  coreFindings,
  createFinding,
  type Finding,
  listFiles,
  type Note,
  type Outcome,
  optionFindings,
  type PromotionEvent,
  type ToTime,
  uploadFindings,
} from './checkup-findings.js';
import { administratorNotes, changeNotes, coreNotes, notListedNotes, optionNotes, taskNotes } from './checkup-notes.js';

/** The result of a checkup, kept findings included. */
export interface Findings {
  readonly checks: readonly Outcome[];
  readonly findings: readonly Finding[];
  readonly notes: readonly Note[];
  /** Ids of the administrators who are no finding; every later one is. Null when they were not listed. */
  readonly administrators: readonly number[] | null;
}

/** Events from the Activity Log; empty while it is off or can't be read. */
export interface RecentEvents {
  /** Latest changes of WordPress's settings, newest first. */
  readonly optionChanges: readonly Pick<
    EventRow,
    'at' | 'login' | 'kind' | 'object' | 'objectType' | 'before' | 'after'
  >[];
  /** When each user last logged in, by user id, Unix seconds. */
  readonly lastLogins: ReadonlyMap<number, number>;
  /** New users and changed roles, newest first. */
  readonly promotions: readonly PromotionEvent[];
}

export interface CheckupContext {
  readonly remembered: (site: SiteConfig) => Promise<RecentEvents>;
  readonly commands: Pick<
    PostHackCommands,
    'core' | 'administrators' | 'options' | 'tasks' | 'uploads' | 'plugins' | 'comparePlugin'
  >;
  /** URL of the checksums of WordPress itself. */
  readonly coreChecksums: string;
  /** URL of the checksums of the plugin directory. */
  readonly pluginChecksums: string;
  /** Returns the URL of a page in wp-admin. */
  readonly adminUrl: (site: SiteConfig, page: string) => string;
  readonly timeZone: (site: SiteId) => string;
  /** Whether the gateway refuses scripts in uploads. */
  readonly foldersLocked: (site: SiteId) => boolean;
  /** Whether the setting that deletes WordPress's readme is on. */
  readonly deletesReadme: (site: SiteId) => boolean;
  readonly clock: () => number;
}

/** The outcome of one check, with its findings and notes. */
export interface Part {
  readonly outcome: Outcome;
  readonly findings: readonly Finding[];
  readonly notes: readonly Note[];
  /** As in `Findings`; only of the check of administrators. */
  readonly administrators?: readonly number[];
}

/**
 * Searches for traces of a break-in. Read-only. A check that fails says so; the others continue.
 * @param before administrators of the previous checkup, or null
 * @param onCheck called when a check has ended
 */
export async function runCheckup(
  deps: CheckupContext,
  site: SiteConfig,
  before: Findings['administrators'],
  onCheck: () => void,
): Promise<Findings> {
  const parts: Part[] = [];
  for (const check of CHECKS) {
    parts.push(await runCheck(deps, site, before, check));
    onCheck();
  }
  return {
    checks: parts.map(({ outcome }) => outcome),
    findings: parts.flatMap(({ findings }) => findings),
    notes: parts.flatMap(({ notes }) => notes),
    administrators: parts.find(({ administrators }) => administrators !== undefined)?.administrators ?? null,
  };
}

/**
 * Runs one check. If it fails, the outcome says so.
 * @param before administrators of the previous checkup, or null
 */
export async function runCheck(
  deps: CheckupContext,
  site: SiteConfig,
  before: Findings['administrators'],
  check: CheckName,
): Promise<Part> {
  const time = toTime(deps.timeZone(site.id));
  switch (check) {
    case 'core':
      return runPart(check, () => compareCore(deps, site, time));
    case 'administrators':
      return runPart(check, () => listAdministrators(deps, site, time, before));
    case 'uploads':
      return runPart(check, () => searchUploads(deps, site, time));
    case 'plugins':
      return runPart(check, () => comparePlugins(deps, site, time));
  }
}

async function compareCore(deps: CheckupContext, site: SiteConfig, time: ToTime): Promise<Found> {
  const files = await deps.commands.core(site, deps.coreChecksums);
  if (files === 'no_checksums' || files === 'checksums_unreachable') return notRun('core', CORE_REASONS[files]);
  const link = deps.adminUrl(site, 'update-core.php');
  return { findings: coreFindings(files, time, link), notes: coreNotes(files, deps.deletesReadme(site.id), link) };
}

async function listAdministrators(
  { commands, remembered, adminUrl, clock }: CheckupContext,
  site: SiteConfig,
  time: ToTime,
  before: Findings['administrators'],
): Promise<Found> {
  const admin = (page: string) => adminUrl(site, page);
  const { optionChanges, lastLogins, promotions } = await remembered(site);
  const [all, options] = [await commands.administrators(site), await commands.options(site)];
  const now = Math.floor(clock() / 1000);
  const found = administratorFindings(all, { now, time, admin, before, promotions });
  return {
    administrators: all.map(({ id }) => id).filter((id) => !found.some((finding) => isAbout(finding, id))),
    findings: [...found, ...optionFindings(options)],
    notes: [
      ...administratorNotes(all, lastLogins, time, admin('users.php?role=administrator')),
      ...optionNotes(options, admin('users.php')),
      ...changeNotes(optionChanges, time, admin('admin.php?page=activity-log#registered')),
    ],
  };
}

function isAbout({ removal }: Finding, user: number): boolean {
  return removal?.kind === 'administrator' && removal.id === user;
}

async function searchUploads(deps: CheckupContext, site: SiteConfig, time: ToTime): Promise<Found> {
  const scripts = await deps.commands.uploads(site);
  const findings = uploadFindings(scripts, time, deps.foldersLocked(site.id));
  if (scripts.complete) return { findings, notes: [] };
  return { ...notRun('uploads', 'There are too many files to search all of them at once.'), findings };
}

// Objects with `title`, so that the extraction of texts finds them.
const NOT_RUN = {
  core: { title: 'Core files could not be compared' },
  administrators: { title: 'Administrators could not be listed' },
  uploads: { title: 'Uploads could not be searched' },
  plugins: { title: 'Plugins could not be compared' },
} as const satisfies Readonly<Record<CheckName, object>>;

const CORE_REASONS = {
  checksums_unreachable: serverMessage('core_not_compared', { server: 'wordpress.org' }),
  no_checksums: 'There are no checksums for this version of WordPress, so nothing is known about them.',
} as const;

function toTime(timeZone: string): ToTime {
  return (seconds) => ({ time: toLocalTimestamp(timeZone, seconds) });
}

function notRun(check: CheckName, text: ServerText): Outcome {
  return { check, ran: 0, title: NOT_RUN[check].title, text };
}

type Found = Omit<Part, 'outcome'> | Outcome | (Outcome & { readonly findings: readonly Finding[] });

async function runPart(check: CheckName, find: () => Promise<Found>): Promise<Part> {
  try {
    const found = await find();
    if (!('check' in found)) return { outcome: { check, ran: 1, title: '', text: '' }, ...found };
    const { findings = [], ...outcome } = { findings: undefined, ...found };
    return { outcome, findings, notes: [] };
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    const outcome = notRun(check, 'WordPress could not look at this. Try again in a minute.');
    return { outcome, findings: [], notes: [] };
  }
}

/** Compares each plugin with the plugin directory. Once it does not respond, it is not queried for the others. */
async function comparePlugins(deps: CheckupContext, site: SiteConfig, time: ToTime): Promise<Found> {
  const { commands } = deps;
  const plugins = (await commands.plugins(site)).plugins.filter(({ kind }) => kind === 'plugin');
  const findings: Finding[] = [];
  let notListed = 0;
  for (const [index, { file, name, version }] of plugins.entries()) {
    const { result, found } = await commands.comparePlugin(site, file, deps.pluginChecksums);
    if (result === 'unreachable') {
      return {
        ...notRun('plugins', serverMessage('plugins_not_compared', { count: plugins.length - index })),
        findings,
      };
    }
    if (result === 'not_listed') notListed += 1;
    if (found.count === 0) continue;
    const latest = Math.max(...found.files.map(({ at }) => at));
    findings.push(
      createFinding({
        check: 'plugins',
        key: `plugin:${file.slice(0, 200)}:${found.state}`,
        title: serverMessage('plugin_changed', { name, count: found.count }),
        text: serverMessage('plugin_changed_at', { version, time: time(latest) }),
        fact: 'Settings and content stay',
        items: listFiles(found, time),
        plugin: file,
      }),
    );
  }
  return { findings, notes: [...notListedNotes(notListed), ...taskNotes(await commands.tasks(site))] };
}

const CHANGES = 50;
const LOGINS = 1000;
const PROMOTIONS = 200;

/** Reads the events for the checkup; none when the log can't be read. */
export async function readRecentEvents(log: Pick<ActivityStore, 'listEvents'>, site: SiteId): Promise<RecentEvents> {
  const list = (activity: string, limit: number): Promise<readonly EventRow[]> =>
    log.listEvents({
      site,
      filter: { from: null, to: null, activity },
      anchor: null,
      before: null,
      skip: 0,
      limit,
    });
  try {
    const [optionChanges, logins, created, roles] = await Promise.all([
      list('option.changed', CHANGES),
      list('login', LOGINS),
      list('user.created', PROMOTIONS),
      list('user.role', PROMOTIONS),
    ]);
    const lastLogins = new Map<number, number>();
    for (const { userId, at } of logins) lastLogins.set(userId, Math.max(at, lastLogins.get(userId) ?? 0));
    return { optionChanges, lastLogins, promotions: [...created, ...roles].sort((a, b) => b.at - a.at) };
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return { optionChanges: [], lastLogins: new Map(), promotions: [] };
  }
}
