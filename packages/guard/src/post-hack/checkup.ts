import { eventSentence } from '@security-optimizer/contract/activity-kinds';
import { sayRole } from '@security-optimizer/contract/event-values';
import type { CheckupFinding } from '@security-optimizer/contract/post-hack';
import type { EventRow } from '../activity/activity-store.js';
import type { SiteConfig } from '../site.js';
import { english } from '../texts/language.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import type {
  Administrators,
  CoreFiles,
  PostHackCommands,
  ScheduledTasks,
  SiteOptions,
} from '../wordpress/post-hack-commands.js';

/** A part of the checkup, as the contract has it. */
export interface CheckupPart {
  readonly part: 'core' | 'administrators' | 'options' | 'tasks';
  readonly title: string;
  readonly error: string;
  readonly findings: CheckupFinding[];
}

/** What the Activity Log knows; empty while it is off, or can't be read. */
export interface RememberedEvents {
  /** Latest changes of WordPress's settings, newest first. */
  readonly optionChanges: readonly Pick<
    EventRow,
    'at' | 'login' | 'kind' | 'object' | 'objectType' | 'before' | 'after'
  >[];
  /** When each user last logged in, by user id, Unix seconds. */
  readonly lastLogins: ReadonlyMap<number, number>;
}

export interface CheckupDeps {
  readonly remembered: (site: SiteConfig) => Promise<RememberedEvents>;
  readonly commands: Pick<PostHackCommands, 'core' | 'administrators' | 'options' | 'tasks'>;
  /** Address of the checksums of WordPress itself. */
  readonly coreChecksums: string;
  /** URL of a page in wp-admin. */
  readonly adminUrl: (site: SiteConfig, page: string) => string;
  readonly clock: () => number;
}

/** An administrator younger than this is worth a second look, seconds. */
const YOUNG_SECONDS = 30 * 24 * 3600;

/** Looks for traces of a break-in, changing nothing. A part that can't be looked at says why; the others go on. */
export async function runCheckup(deps: CheckupDeps, site: SiteConfig): Promise<CheckupPart[]> {
  const { commands } = deps;
  const admin = (page: string) => deps.adminUrl(site, page);
  const now = Math.floor(deps.clock() / 1000);
  const { optionChanges, lastLogins } = await deps.remembered(site);
  return [
    await look('core', async () =>
      coreFindings(await commands.core(site, deps.coreChecksums), admin('update-core.php')),
    ),
    await look('administrators', async () =>
      administratorFindings(
        await commands.administrators(site),
        now,
        admin('users.php?role=administrator'),
        lastLogins,
      ),
    ),
    await look('options', async () => [
      ...optionFindings(await commands.options(site), admin('users.php')),
      ...changeFindings(optionChanges, admin('admin.php?page=activity-log#registered')),
    ]),
    await look('tasks', async () => taskFindings(await commands.tasks(site))),
  ];
}

// What is called `title` is taken into the catalogue of texts.
const PARTS = {
  core: { title: 'WordPress files' },
  administrators: { title: 'Administrators' },
  options: { title: 'Settings' },
  tasks: { title: 'Scheduled tasks' },
} as const;

async function look(part: CheckupPart['part'], find: () => Promise<CheckupFinding[]>): Promise<CheckupPart> {
  const { title } = PARTS[part];
  try {
    return { part, title, error: '', findings: await find() };
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    return { part, title, error: 'WordPress could not look at this. Try again in a minute.', findings: [] };
  }
}

function finding(given: Partial<CheckupFinding> & Pick<CheckupFinding, 'id' | 'level' | 'title'>): CheckupFinding {
  return { text: '', link: '', link_text: '', items: [], ...given };
}

/** @param files null when there are no checksums for this version */
export function coreFindings(files: CoreFiles | null, link: string): CheckupFinding[] {
  if (files === null) {
    return [
      finding({
        id: 'core-unknown',
        level: 'note',
        title: 'The files of WordPress could not be compared',
        text: 'There are no checksums for this version, or wordpress.org does not answer.',
      }),
    ];
  }
  const fix = { link, link_text: 'Reinstall WordPress' };
  const found = [
    files.changed.length > 0 &&
      finding({
        id: 'core-changed',
        level: 'problem',
        title: 'Files of WordPress were changed',
        text: 'Their content differs from the official one. Reinstalling WordPress replaces them.',
        items: files.changed,
        ...fix,
      }),
    files.missing.length > 0 &&
      finding({
        id: 'core-missing',
        level: 'problem',
        title: 'Files of WordPress are missing',
        text: 'Reinstalling WordPress brings them back.',
        items: files.missing,
        ...fix,
      }),
    files.unknown.length > 0 &&
      finding({
        id: 'core-foreign',
        level: 'problem',
        title: 'Files that are not part of WordPress lie in its folders',
        text: 'Delete those that you don’t know, or ask your hosting provider to look at them.',
        items: files.unknown,
      }),
  ].filter((entry) => entry !== false);
  if (found.length > 0) return found;
  return [
    finding({
      id: 'core-fine',
      level: 'fine',
      title: english.translate('All files of WordPress {version} are the official ones', { version: files.version }),
    }),
  ];
}

/** Changes of WordPress's settings that the Activity Log still holds. */
export function changeFindings(changes: RememberedEvents['optionChanges'], link: string): CheckupFinding[] {
  if (changes.length === 0) return [];
  const words = (change: (typeof changes)[number]) =>
    `${day(change.at)}, ${change.login === '' ? 'WordPress' : change.login}: ${eventSentence(change)}`;
  return [
    finding({
      id: 'settings-changed',
      level: 'note',
      title: 'Settings were changed in the days that the log keeps',
      text: 'Put back what you did not change yourself.',
      items: changes.map(words),
      link,
      link_text: 'Open the log',
    }),
  ];
}

function day(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

/**
 * @param now Unix seconds
 * @param lastLogins by user id, as the Activity Log knows them; an open session may be younger
 */
export function administratorFindings(
  all: Administrators,
  now: number,
  link: string,
  lastLogins: RememberedEvents['lastLogins'] = new Map(),
): CheckupFinding[] {
  const words = ({ id, login, email, registered, last_login: open }: Administrators[number]) => {
    const last = Math.max(open ?? 0, lastLogins.get(id) ?? 0);
    const since = { login, email, since: day(registered) };
    return last === 0
      ? english.translate('{login} ({email}), since {since}, no log-in known', since)
      : english.translate('{login} ({email}), since {since}, last log-in {last}', { ...since, last: day(last) });
  };
  const young = all.filter(({ registered }) => now - registered < YOUNG_SECONDS);
  return [
    finding({
      id: 'administrators',
      level: young.length > 0 && young.length < all.length ? 'problem' : 'note',
      title:
        young.length > 0 && young.length < all.length
          ? 'Administrators were added in the last 30 days'
          : 'Check that you know every administrator',
      text: 'Delete or demote whoever should not be one.',
      items: [...all].sort((a, b) => b.registered - a.registered).map(words),
      link,
      link_text: 'Review administrators',
    }),
  ];
}

const inEnglish = (role: string): string => sayRole(role, (name) => name);
const STRONG_ROLES: ReadonlySet<string> = new Set(['administrator', 'editor', 'author', 'shop_manager']);

export function optionFindings(options: SiteOptions, usersLink: string): CheckupFinding[] {
  const fix = { link: options.settings_link, link_text: 'Open settings' };
  const strong = STRONG_ROLES.has(options.default_role) || options.strong_roles.includes(options.default_role);
  const found: CheckupFinding[] = [];
  if (strong) {
    found.push(
      finding({
        id: 'default-role',
        level: options.registration ? 'problem' : 'note',
        title: english.translate('New users become {role}', { role: inEnglish(options.default_role) }),
        text: 'Choose a role that can change nothing, such as Subscriber.',
        ...fix,
      }),
    );
  }
  if (options.registration && !strong) {
    found.push(
      finding({
        id: 'registration',
        level: 'note',
        title: 'Anyone can register',
        text: 'Turn it off if you don’t need it.',
        ...fix,
      }),
    );
  }
  if (options.strong_roles.length > 0) {
    found.push(
      finding({
        id: 'strong-roles',
        level: 'note',
        title: 'Roles other than Administrator may install plugins or change settings',
        text: 'A break-in may leave such a role behind.',
        items: options.strong_roles.map(inEnglish),
        link: usersLink,
        link_text: 'Review users',
      }),
    );
  }
  found.push(
    finding({
      id: 'addresses',
      level: 'note',
      title: 'Check the addresses of the site',
      items: [
        english.translate('Site address: {url}', { url: options.home }),
        english.translate('WordPress address: {url}', { url: options.site_url }),
        english.translate('Administration e-mail: {email}', { email: options.admin_email }),
      ],
      ...fix,
    }),
  );
  return found;
}

export function taskFindings(tasks: ScheduledTasks): CheckupFinding[] {
  const unknown = tasks.filter(({ owner }) => owner === '');
  if (unknown.length === 0) {
    return [
      finding({
        id: 'tasks-fine',
        level: 'fine',
        title: 'Every scheduled task belongs to WordPress, a plugin or the theme',
      }),
    ];
  }
  return [
    finding({
      id: 'tasks-unknown',
      level: 'note',
      title: 'Scheduled tasks that no plugin or theme waits for',
      text: 'Often left behind by a plugin that was removed. They do nothing unless code for them comes back.',
      items: unknown.map(({ hook }) => hook),
    }),
  ];
}
