import { sayEventValue } from './event-values.js';

/**
 * The catalogue of what registered users do. One entry is everything that the rest of the product needs to name an
 * event in a filter and to tell it in a sentence. Ids are an interface: they are stored, and stand in exports.
 *
 * Places in a sentence: `{object}` the name of what was touched, `{type}` its type in words, `{before}` and `{after}`.
 * `sentenceBare` is for events without an object's name or without both values.
 */
export interface ActivityKind {
  readonly id: string;
  /** In the filter by activity. */
  readonly label: string;
  readonly sentence: string;
  readonly sentenceBare?: string;
}

export const activityKinds = [
  { id: 'login', label: 'Logged in', sentence: 'Logged in' },
  { id: 'login.failed', label: 'Failed login', sentence: 'Failed login' },
  { id: 'logout', label: 'Logged out', sentence: 'Logged out' },
  { id: 'login.locked', label: 'Locked out', sentence: 'Locked out until {after} after too many failed logins' },
  { id: 'login.unlocked', label: 'Lock ended', sentence: 'Ended the lock of {object}' },
  { id: 'factor.set-up', label: 'Second factor set up', sentence: 'Set up a second factor' },
  { id: 'factor.failed', label: 'Wrong code', sentence: 'Entered a wrong code of the second factor' },
  { id: 'factor.back-up-code', label: 'Back-up code used', sentence: 'Logged in with a back-up code' },
  { id: 'factor.reset', label: 'Second factor reset', sentence: 'Reset the second factor of {object}' },
  {
    id: 'user.created',
    label: 'User created',
    sentence: 'Created user “{object}” with the role {after}',
    sentenceBare: 'Created user “{object}”',
  },
  {
    id: 'user.renamed',
    label: 'User renamed',
    sentence: 'Renamed user “{before}” to “{after}”',
    sentenceBare: 'Renamed user “{object}”',
  },
  { id: 'user.deleted', label: 'User deleted', sentence: 'Deleted user “{object}”' },
  { id: 'user.role', label: 'Role changed', sentence: 'Changed the role of “{object}” from {before} to {after}' },
  { id: 'user.profile', label: 'Profile changed', sentence: 'Changed the profile of “{object}”' },
  { id: 'user.email', label: 'User e-mail changed', sentence: 'Changed the e-mail address of “{object}”' },
  { id: 'user.password', label: 'Password changed', sentence: 'Changed the password of “{object}”' },
  {
    id: 'user.application-password',
    label: 'Application password',
    sentence: 'Made the application password “{after}” for “{object}”',
    sentenceBare: 'Made an application password for “{object}”',
  },
  {
    id: 'user.application-password-removed',
    label: 'Application password removed',
    sentence: 'Removed the application password “{before}” of “{object}”',
    sentenceBare: 'Removed an application password of “{object}”',
  },
  { id: 'post.created', label: 'Content created', sentence: 'Created {type} “{object}”' },
  { id: 'post.published', label: 'Content published', sentence: 'Published {type} “{object}”' },
  {
    id: 'post.scheduled',
    label: 'Content scheduled',
    sentence: 'Scheduled {type} “{object}” for {after}',
  },
  {
    id: 'post.status',
    label: 'Content status changed',
    sentence: 'Changed {type} “{object}” from {before} to {after}',
  },
  { id: 'post.updated', label: 'Content updated', sentence: 'Updated {type} “{object}”' },
  { id: 'post.trashed', label: 'Content moved to the bin', sentence: 'Moved {type} “{object}” to the bin' },
  { id: 'post.restored', label: 'Content restored', sentence: 'Restored {type} “{object}”' },
  { id: 'post.deleted', label: 'Content deleted', sentence: 'Deleted {type} “{object}”' },
  { id: 'media.uploaded', label: 'File uploaded', sentence: 'Uploaded “{object}”' },
  { id: 'media.updated', label: 'File changed', sentence: 'Changed the file “{object}”' },
  { id: 'media.deleted', label: 'File deleted', sentence: 'Deleted the file “{object}”' },
  { id: 'term.created', label: 'Term created', sentence: 'Created {type} “{object}”' },
  { id: 'term.updated', label: 'Term changed', sentence: 'Changed {type} “{object}”' },
  { id: 'term.deleted', label: 'Term deleted', sentence: 'Deleted {type} “{object}”' },
  { id: 'comment.created', label: 'Comment written', sentence: 'Commented on “{object}”' },
  {
    id: 'comment.status',
    label: 'Comment moderated',
    sentence: 'Changed a comment on “{object}” from {before} to {after}',
  },
  { id: 'comment.edited', label: 'Comment edited', sentence: 'Edited a comment on “{object}”' },
  { id: 'comment.deleted', label: 'Comment deleted', sentence: 'Deleted a comment on “{object}”' },
  { id: 'menu.created', label: 'Menu created', sentence: 'Created menu “{object}”' },
  { id: 'menu.updated', label: 'Menu changed', sentence: 'Changed menu “{object}”' },
  { id: 'menu.deleted', label: 'Menu deleted', sentence: 'Deleted menu “{object}”' },
  { id: 'widgets.changed', label: 'Widgets changed', sentence: 'Changed the widgets' },
  { id: 'plugin.installed', label: 'Plugin installed', sentence: 'Installed plugin “{object}”' },
  { id: 'plugin.activated', label: 'Plugin activated', sentence: 'Activated plugin “{object}”' },
  { id: 'plugin.deactivated', label: 'Plugin deactivated', sentence: 'Deactivated plugin “{object}”' },
  {
    id: 'plugin.updated',
    label: 'Plugin updated',
    sentence: 'Updated plugin “{object}” from {before} to {after}',
    sentenceBare: 'Updated plugin “{object}”',
  },
  { id: 'plugin.deleted', label: 'Plugin deleted', sentence: 'Deleted plugin “{object}”' },
  { id: 'theme.installed', label: 'Theme installed', sentence: 'Installed theme “{object}”' },
  {
    id: 'theme.switched',
    label: 'Theme switched',
    sentence: 'Switched the theme from {before} to {after}',
    sentenceBare: 'Switched to theme “{object}”',
  },
  {
    id: 'theme.updated',
    label: 'Theme updated',
    sentence: 'Updated theme “{object}” from {before} to {after}',
    sentenceBare: 'Updated theme “{object}”',
  },
  { id: 'theme.deleted', label: 'Theme deleted', sentence: 'Deleted theme “{object}”' },
  { id: 'theme.customized', label: 'Appearance changed', sentence: 'Changed the appearance of theme “{object}”' },
  {
    id: 'core.updated',
    label: 'WordPress updated',
    sentence: 'Updated WordPress from {before} to {after}',
    sentenceBare: 'Updated WordPress',
  },
  { id: 'file.edited', label: 'File edited', sentence: 'Edited the file “{object}” of a plugin or theme' },
  { id: 'site.created', label: 'Site created', sentence: 'Created the site “{object}” of the network' },
  { id: 'site.deleted', label: 'Site deleted', sentence: 'Deleted the site “{object}” of the network' },
  { id: 'export.downloaded', label: 'Content exported', sentence: 'Downloaded an export of the content' },
  { id: 'import.run', label: 'Content imported', sentence: 'Imported content' },
  {
    id: 'option.changed',
    label: 'Setting changed',
    sentence: 'Changed the setting “{object}” from {before} to {after}',
    sentenceBare: 'Changed the setting “{object}”',
  },
  {
    id: 'product.setting',
    label: 'Security setting changed',
    sentence: 'Changed “{object}” in Security Optimizer from {before} to {after}',
    sentenceBare: 'Changed “{object}” in Security Optimizer',
  },
  { id: 'product.blocked', label: 'Visitor blocked', sentence: 'Blocked {object}' },
  { id: 'product.unblocked', label: 'Visitor unblocked', sentence: 'Unblocked {object}' },
  { id: 'product.action', label: 'Security action', sentence: 'Ran {object}' },
] as const satisfies readonly ActivityKind[];

export type ActivityKindId = (typeof activityKinds)[number]['id'];

/** Object of an unlock of all at once. */
export const EVERY_ADDRESS = 'every address';
/** Kinds whose object is what WordPress's screens or guard call a setting. */
const NAMED_OBJECTS: ReadonlySet<string> = new Set(['option.changed', 'product.setting']);

/** What an action came to is told in sentences, each of which has its own translation. */
function objectOf({ kind, object }: EventWords, translate: (text: string) => string): string {
  if (kind !== 'product.action') return object;
  // A sentence ends with a full stop and a blank; the name of the action is looked up without its full stop.
  const [action = '', ...outcome] = object.split(/\. (?=[^a-z])/);
  const sentences = outcome.map((text, at) => translate(at + 1 < outcome.length ? `${text}.` : text));
  return [outcome.length > 0 ? `${translate(action)}.` : translate(action), ...sentences].join(' ');
}

function isNamed(kind: string, object: string): boolean {
  return NAMED_OBJECTS.has(kind) || (kind === 'login.unlocked' && object === EVERY_ADDRESS);
}

/** Kinds whose values are no names. */
const SAID_VALUES: ReadonlySet<string> = new Set([
  ...['option.changed', 'product.setting', 'user.created', 'user.role', 'post.status', 'comment.status'],
  'post.scheduled',
]);

/** Words of an event. */
export interface EventWords {
  readonly kind: string;
  readonly object: string;
  readonly objectType: string;
  readonly before: string | null;
  readonly after: string | null;
}

const byId = new Map<string, ActivityKind>(activityKinds.map((kind) => [kind.id, kind]));

export function activityKind(id: string): ActivityKind | null {
  return byId.get(id) ?? null;
}

/**
 * An event in one sentence. An empty value reads as “nothing”: from nothing to Administrator.
 * @param translate turns a template of the catalogue, or a word that is no name, into the reader's language
 * @returns plain text; whoever shows it must treat it as text, since names come from users
 */
export function eventSentence(words: EventWords, translate: (text: string) => string = (text) => text): string {
  const kind = activityKind(words.kind);
  if (kind === null) return [words.kind, words.object].filter(Boolean).join(': ');
  const valuesMissing = words.before === null || words.after === null;
  const template = valuesMissing && kind.sentenceBare !== undefined ? kind.sentenceBare : kind.sentence;
  const value = (text: string | null) => {
    if (!text) return translate('nothing');
    return SAID_VALUES.has(kind.id) ? sayEventValue(text, translate) : text;
  };
  const values: Readonly<Record<string, string>> = {
    object: isNamed(kind.id, words.object) ? translate(words.object) : objectOf(words, translate),
    type: translate(words.objectType),
    before: value(words.before),
    after: value(words.after),
  };
  return translate(template).replace(/\{(object|type|before|after)\}/g, (_place, name: string) => values[name] ?? '');
}
