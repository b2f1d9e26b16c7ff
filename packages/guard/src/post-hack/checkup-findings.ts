import { getRoleName } from '@security-optimizer/contract/activity/event-values';
import type { CheckOutcome, CheckupFinding, CheckupNote } from '@security-optimizer/contract/post-hack/checkup';
import type { MessageParam, ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { EventRow } from '../activity/index.js';
import type {
  Administrators,
  CoreFiles,
  FoundFile,
  FoundFiles,
  ScriptsInUploads,
  SiteOptions,
} from '../wordpress/connector-commands.js';

/** Texts of the server: a constant, or a message with values. */
type Texts<Part> = Omit<Part, 'title' | 'text' | 'fact' | 'items'> & {
  readonly [Name in keyof Part & ('title' | 'text' | 'fact')]: ServerText;
} & (Part extends { items: unknown } ? { readonly items: readonly ServerText[] } : unknown);

/** What can be removed to fix a finding. */
export type Removal =
  | {
      readonly kind: 'files';
      readonly files: readonly Pick<FoundFile, 'file' | 'path' | 'state'>[];
    }
  | { readonly kind: 'administrator'; readonly id: number; readonly registered: number };

/** A finding as it is stored; `removal` is null when another fix is needed. */
export type Finding = Readonly<Texts<Omit<CheckupFinding, 'remove' | 'files'>>> & { readonly removal: Removal | null };
export type Outcome = Readonly<Texts<CheckOutcome>>;
export type Note = Readonly<Texts<CheckupNote>>;

/** Formats a time as the parameter of a message. */
export type ToTime = (seconds: number) => { readonly time: string };

export function createFinding(fields: Partial<Finding> & Pick<Finding, 'key' | 'check' | 'title'>): Finding {
  return { text: '', fact: '', items: [], is_new: 0, link: '', link_text: '', plugin: '', removal: null, ...fields };
}

const COPY_KEPT = 'A copy is kept for 30 days';

/** Files that the connector can remove: all except those that it can't read. Older connectors can remove none. */
function removeFiles(files: readonly FoundFile[]): Pick<Finding, 'removal' | 'fact'> {
  const targets = files.flatMap(({ file, path, state }) =>
    path === '' || state === '' ? [] : [{ file, path, state }],
  );
  return targets.length === 0
    ? { removal: null, fact: 'Delete by SFTP, or ask your hosting provider to' }
    : { removal: { kind: 'files', files: targets }, fact: COPY_KEPT };
}

/** Lists files with their times; files beyond the list are counted. */
export function listFiles({ files, count }: FoundFiles, time: ToTime): ServerText[] {
  const items: ServerText[] = files.map(({ file, at }) => serverMessage('file_changed', { file, time: time(at) }));
  return count > files.length ? [...items, serverMessage('more_files', { count: count - files.length })] : items;
}

/**
 * Documentation, samples and pictures, without which WordPress works. Translated packages have such files under other
 * names.
 */
const HARMLESS_WITHOUT = /^(?:[^/]+\.(?:txt|html?)|wp-config-sample\.php|.+\.(?:png|jpe?g|gif|svg|ico|webp|txt|md))$/i;

/** Whether WordPress works without one of its files. */
export function isHarmlessWithout(file: string): boolean {
  return HARMLESS_WITHOUT.test(file);
}

export function coreFindings(files: CoreFiles, time: ToTime, link: string): Finding[] {
  const { changed, unknown } = files;
  const missing = files.missing.filter((file) => !isHarmlessWithout(file));
  const fix = { check: 'core' as const, link, link_text: 'Reinstall WordPress' };
  const found: Finding[] = [];
  if (changed.count > 0) {
    found.push(
      createFinding({
        ...fix,
        key: `core-changed:${changed.state}`,
        title: serverMessage('core_files_changed', { count: changed.count }),
        text: 'Their content differs from the official one. Reinstalling WordPress replaces them.',
        items: listFiles(changed, time),
      }),
    );
  }
  if (missing.length > 0) {
    found.push(
      createFinding({
        ...fix,
        key: `core-missing:${missing.join(',').slice(0, 250)}`,
        title: serverMessage('core_files_missing', { count: missing.length }),
        text: 'Reinstalling WordPress brings them back.',
        items: missing,
      }),
    );
  }
  if (unknown.count > 0) {
    found.push(
      createFinding({
        check: 'core',
        key: `core-unknown:${unknown.state}`,
        title: serverMessage('core_files_unknown', { count: unknown.count }),
        text: 'Remove those that you don’t know, or ask your hosting provider to look at them.',
        items: listFiles(unknown, time),
        ...removeFiles(unknown.files),
      }),
    );
  }
  return found;
}

/** Scripts that are separate findings; a larger number is one finding. */
const SINGLE_SCRIPTS = 5;

export function uploadFindings({ scripts, count }: ScriptsInUploads, time: ToTime, locked: boolean): Finding[] {
  if (count > SINGLE_SCRIPTS) {
    const files: FoundFiles = { files: scripts, count, state: '' };
    return [
      createFinding({
        check: 'uploads',
        key: `scripts:${scripts
          .map(({ state }) => state.slice(0, 8))
          .join('')
          .slice(0, 250)}`,
        title: serverMessage('scripts_in_uploads', { count }),
        text: 'No script belongs there. Remove those that you don’t know, or ask your hosting provider to look at them.',
        items: listFiles(files, time),
        ...removeFiles(scripts),
      }),
    ];
  }
  return scripts.map((script) =>
    createFinding({
      check: 'uploads',
      key: `script:${script.state}:${script.file.slice(-200)}`,
      title: 'A script in uploads',
      text: serverMessage(locked ? 'script_changed' : 'script_changed_unlocked', { time: time(script.at) }),
      items: [script.file],
      ...removeFiles([script]),
    }),
  );
}

/** An event that gave a user another role. */
export type PromotionEvent = Pick<EventRow, 'at' | 'login' | 'address' | 'kind' | 'object' | 'after' | 'origin'>;

const DAY_SECONDS = 24 * 3600;
/** Administrators who are newer than this are labelled "New". */
const NEW_SECONDS = 7 * DAY_SECONDS;
/** At the first checkup, administrators who are newer than this are findings. */
const YOUNG_SECONDS = 30 * DAY_SECONDS;

export interface AdministratorContext {
  /** Unix seconds. */
  readonly now: number;
  readonly time: ToTime;
  /** Returns the URL of a page in wp-admin. */
  readonly admin: (page: string) => string;
  /** Administrators of the previous checkup who were no finding; null at the first one. */
  readonly before: readonly number[] | null;
  /** Newest first. */
  readonly promotions: readonly PromotionEvent[];
}

/**
 * Returns administrators who were not listed at the previous checkup; at the first one, recently created ones. The
 * oldest account is omitted, since the site was set up with it.
 */
export function administratorFindings(
  all: Administrators,
  { now, time, admin, before, promotions }: AdministratorContext,
): Finding[] {
  const oldest = all.reduce((first, user) => Math.min(first, user.registered), Number.POSITIVE_INFINITY);
  return all.flatMap((user) => {
    const promotion = promotions.find(
      ({ object, after }) => object === user.login && /\bAdministrator\b/.test(after ?? ''),
    );
    const since = Math.max(promotion?.at ?? 0, user.registered);
    const isKnown =
      before === null ? now - since >= YOUNG_SECONDS || user.registered === oldest : before.includes(user.id);
    if (isKnown) return [];
    return createFinding({
      key: `administrator:${user.id}:${user.login}`,
      check: 'administrators',
      title: serverMessage('new_administrator', { login: user.login }),
      text:
        promotion === undefined
          ? describeUnknown(user, time, before !== null, now)
          : describePromotion(promotion, time),
      fact: user.sessions > 0 ? serverMessage('removing_ends_sessions', { count: user.sessions }) : '',
      is_new: now - since < NEW_SECONDS ? 1 : 0,
      link: admin(`user-edit.php?user_id=${user.id}`),
      link_text: 'Open the user',
      removal: { kind: 'administrator', id: user.id, registered: user.registered },
    });
  });
}

function describeUnknown(user: Administrators[number], time: ToTime, hasBefore: boolean, now: number): ServerText {
  const wasThere = hasBefore && now - user.registered > YOUNG_SECONDS;
  return serverMessage(wasThere ? 'administrator_promoted' : 'administrator_created', { time: time(user.registered) });
}

function describePromotion({ kind, at, login, address, origin }: PromotionEvent, time: ToTime): ServerText {
  const isNew = kind === 'user.created';
  if (origin === 'cli')
    return serverMessage(isNew ? 'administrator_created_cli' : 'administrator_promoted_cli', { time: time(at) });
  if (origin === 'cron')
    return serverMessage(isNew ? 'administrator_created_task' : 'administrator_promoted_task', { time: time(at) });
  if (login === '') return describeByVisitor(isNew, at, address, time);
  const params = { user: login, time: time(at) };
  if (address === '') return serverMessage(isNew ? 'administrator_created_by' : 'administrator_promoted_by', params);
  return serverMessage(isNew ? 'administrator_created_from' : 'administrator_promoted_from', { ...params, address });
}

/** Nobody was logged in: a plugin has a hole, or a registration gives the role. */
function describeByVisitor(isNew: boolean, at: number, address: string, time: ToTime): ServerText {
  if (address === '')
    return serverMessage(isNew ? 'administrator_created' : 'administrator_promoted', { time: time(at) });
  const params = { time: time(at), address };
  return serverMessage(isNew ? 'administrator_created_visitor' : 'administrator_promoted_visitor', params);
}

const STRONG_ROLES: ReadonlySet<string> = new Set(['administrator', 'editor', 'author', 'shop_manager']);

/** Whether new users get a role that can change the site. */
export function isStrong({ default_role, strong_roles }: SiteOptions): boolean {
  return STRONG_ROLES.has(default_role) || strong_roles.includes(default_role);
}

/** Returns a role by its display name in WordPress; a plugin's role by its slug. */
export function toRoleParam(role: string): MessageParam {
  const name = getRoleName(role);
  return name === null ? role : { text: name };
}

/** Returns a finding when anyone can register and gets a strong role. */
export function optionFindings(options: SiteOptions): Finding[] {
  if (!options.registration || !isStrong(options)) return [];
  return [
    createFinding({
      key: `default-role:${options.default_role}`,
      check: 'administrators',
      title: serverMessage('default_role', { role: toRoleParam(options.default_role) }),
      text: 'Anyone can register. Choose a role that can change nothing, such as Subscriber.',
      link: options.settings_link,
      link_text: 'Open settings',
    }),
  ];
}
