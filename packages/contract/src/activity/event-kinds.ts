import { englishMessages, isServerMessage, type MessageLanguage, type ServerText } from '../server-message.js';
import { type EventLanguage, formatEventValue } from './event-values.js';

/**
 * The catalogue of activities of registered users. An entry has everything the product needs to name an event in a
 * filter and to describe it in a sentence. Ids are an interface: they are stored and exported.
 *
 * Placeholders in a sentence: `{object}` the name of the object, `{type}` its type in words, `{before}` and `{after}`.
 * `sentenceBare` is for events without an object's name or without both values.
 */
export interface ActivityKind {
  readonly id: string;
  /** Name in the filter by activity. */
  readonly label: string;
  readonly sentence: string;
  readonly sentenceBare?: string;
  /** For settings: switched on or off, set for the first time, and unset. */
  readonly settingSentences?: Readonly<Record<'on' | 'off' | 'set' | 'emptied', string>>;
  /** Sentences for certain values, by the value after the change. */
  readonly valueSentences?: Readonly<Record<string, string>>;
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
  {
    id: 'user.role',
    label: 'Role changed',
    sentence: 'Changed the role of “{object}” from {before} to {after}',
    sentenceBare: 'Changed the role of “{object}”',
    settingSentences: {
      on: 'Changed the role of “{object}”',
      off: 'Changed the role of “{object}”',
      set: 'Gave “{object}” the role {after}',
      emptied: 'Took the role {before} from “{object}”',
    },
  },
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
    valueSentences: {
      approved: 'Approved a comment on “{object}”',
      unapproved: 'Unapproved a comment on “{object}”',
      spam: 'Marked a comment on “{object}” as spam',
      trash: 'Moved a comment on “{object}” to the bin',
    },
  },
  { id: 'comment.edited', label: 'Comment edited', sentence: 'Edited a comment on “{object}”' },
  { id: 'comment.deleted', label: 'Comment deleted', sentence: 'Deleted a comment on “{object}”' },
  { id: 'menu.created', label: 'Menu created', sentence: 'Created menu “{object}”' },
  { id: 'menu.updated', label: 'Menu changed', sentence: 'Changed menu “{object}”' },
  { id: 'menu.deleted', label: 'Menu deleted', sentence: 'Deleted menu “{object}”' },
  { id: 'order.created', label: 'Order created', sentence: 'Created order {object}' },
  { id: 'order.status', label: 'Order status changed', sentence: 'Changed order {object} from {before} to {after}' },
  { id: 'order.updated', label: 'Order changed', sentence: 'Changed order {object}' },
  { id: 'order.trashed', label: 'Order moved to the bin', sentence: 'Moved order {object} to the bin' },
  { id: 'order.restored', label: 'Order restored', sentence: 'Restored order {object}' },
  { id: 'order.deleted', label: 'Order deleted', sentence: 'Deleted order {object}' },
  { id: 'order.refunded', label: 'Order refunded', sentence: 'Refunded order {object}' },
  { id: 'order.refund-deleted', label: 'Refund deleted', sentence: 'Deleted a refund of order {object}' },
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
    settingSentences: {
      on: 'Turned on the setting “{object}”',
      off: 'Turned off the setting “{object}”',
      set: 'Set “{object}” to {after}',
      emptied: 'Emptied the setting “{object}” (before: {before})',
    },
  },
  {
    id: 'product.setting',
    label: 'Security setting changed',
    sentence: 'Set “{object}” in Security Optimizer to {after} (before: {before})',
    sentenceBare: 'Changed “{object}” in Security Optimizer',
    settingSentences: {
      on: 'Turned on “{object}” in Security Optimizer',
      off: 'Turned off “{object}” in Security Optimizer',
      set: 'Set “{object}” in Security Optimizer to {after}',
      emptied: 'Turned off “{object}” in Security Optimizer',
    },
  },
  { id: 'product.blocked', label: 'Visitor blocked', sentence: 'Blocked {object}' },
  { id: 'product.block-ended', label: 'Block ended', sentence: 'Block of {object} ended' },
  { id: 'product.unblocked', label: 'Visitor unblocked', sentence: 'Unblocked {object}' },
  {
    id: 'product.checkup',
    label: 'Checkup finding',
    sentence: 'No longer keeps the finding “{object}” of the checkup',
    sentenceBare: 'Kept the finding “{object}” of the checkup',
  },
  {
    id: 'product.file-removed',
    label: 'File removed',
    sentence: 'Removed the file “{object}”, which the checkup found',
  },
  { id: 'product.file-restored', label: 'File restored', sentence: 'Restored the file “{object}”' },
  { id: 'product.action', label: 'Security action', sentence: 'Ran {object}' },
] as const satisfies readonly ActivityKind[];

export type ActivityKindId = (typeof activityKinds)[number]['id'];

/** Object of an event that ends all lockouts. */
export const EVERY_ADDRESS = 'every address';
/** Kinds whose object is the display name of a setting in WordPress or guard. */
const NAMED_OBJECTS: ReadonlySet<string> = new Set(['option.changed', 'product.setting']);

/** Kinds whose object is the name of an action, and `after` its result: texts as JSON. */
function describeAction({ object, after }: EventValues, language: Language): string {
  const outcome = parseOutcome(after).map((text) =>
    typeof text === 'string' ? language.translate(text) : language.message(text),
  );
  const name = language.translate(object);
  return outcome.length > 0 ? [`${name}.`, ...outcome].join(' ') : name;
}

function parseOutcome(stored: string | null): ServerText[] {
  try {
    const parsed: unknown = JSON.parse(stored ?? '[]');
    return Array.isArray(parsed) ? parsed.filter((text) => typeof text === 'string' || isServerMessage(text)) : [];
  } catch {
    return [];
  }
}

function isNamed(kind: string, object: string): boolean {
  return NAMED_OBJECTS.has(kind) || (kind === 'login.unlocked' && object === EVERY_ADDRESS);
}

/** Kinds whose values are terms, not names. */
const SPOKEN_VALUES: ReadonlySet<string> = new Set([
  ...['option.changed', 'product.setting', 'user.created', 'user.role', 'post.status', 'comment.status'],
  ...['post.scheduled', 'login.locked'],
]);

/** Settings of WordPress, by the connector's names, whose values are free text or titles. */
const TYPED_SETTINGS: ReadonlySet<string> = new Set([
  ...['Site Title', 'Tagline', 'Network Title', 'Site Icon', 'Homepage', 'Posts page', 'Privacy Policy page'],
  ...['WordPress Address', 'Site Address', 'Category base', 'Tag base'],
  ...['Store uploads in this folder', 'Full URL path to files', 'Administration Email Address'],
]);

/** Whether the values are free text, in which "on" and "Monday" are not terms to translate. */
function isTyped({ kind, object }: EventValues): boolean {
  return kind === 'option.changed' && TYPED_SETTINGS.has(object);
}

/** The owner's consent is stored as a setting. */
const CONSENT_ANSWERED = 'Answered the questions about data and e-mails';
const PAUSED = 'Paused all protections until {after}';
const RESUMED = 'Ended the pause of all protections';
/** WordPress stores that comments and updates are on as `open` and `enabled`. */
const ON: ReadonlySet<string | null> = new Set(['On', 'on', 'open', 'enabled']);
const OFF: ReadonlySet<string | null> = new Set(['Off', 'off', 'closed', 'disabled', 'unset', '']);

/** Selects the sentence for an event: switched, set, unset or changed. */
function chooseSentence(
  { sentence, sentenceBare = sentence, settingSentences, valueSentences }: ActivityKind,
  values: EventValues,
): string {
  const { kind, object, before, after } = values;
  if (before === null || after === null) return sentenceBare;
  const own = valueSentences?.[after];
  if (own !== undefined) return own;
  if (settingSentences === undefined) return sentence;
  if (before === after) return sentenceBare;
  if (kind === 'product.setting' && after === 'Given') return CONSENT_ANSWERED;
  if (kind === 'product.setting' && object === 'Pause') return OFF.has(after) ? RESUMED : PAUSED;
  if (isTyped(values)) {
    if (after === '') return settingSentences.emptied;
    return before === '' ? settingSentences.set : sentence;
  }
  if (ON.has(after) && OFF.has(before)) return settingSentences.on;
  if (OFF.has(after)) return after === '' && !ON.has(before) ? settingSentences.emptied : settingSentences.off;
  if (OFF.has(before)) return settingSentences.set;
  return sentence;
}

/** Labels of an event. */
export interface EventValues {
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

type Language = EventLanguage & Pick<MessageLanguage, 'message'>;

/**
 * Describes an event in one sentence.
 * @returns plain text; it must be shown as text, because names come from users
 */
export function eventSentence(words: EventValues, language: Language = englishMessages): string {
  const { translate } = language;
  const kind = activityKind(words.kind);
  if (kind === null) return [words.kind, words.object].filter(Boolean).join(': ');
  const isAction = kind.id === 'product.action';
  const template = chooseSentence(kind, words);
  const value = (text: string | null) => {
    if (!text) return translate('nothing');
    return SPOKEN_VALUES.has(kind.id) && !isTyped(words) ? formatEventValue(text, language) : text;
  };
  const object = isNamed(kind.id, words.object) ? translate(words.object) : words.object;
  const values: Readonly<Record<string, string>> = {
    object: isAction ? describeAction(words, language) : object,
    type: translate(words.objectType),
    before: value(words.before),
    after: value(words.after),
  };
  return translate(template).replace(/\{(object|type|before|after)\}/g, (_place, name: string) => values[name] ?? '');
}
