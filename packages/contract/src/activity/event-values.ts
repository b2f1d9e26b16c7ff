/**
 * Values of events that are not names but terms of WordPress, the connector or guard. They are stored in English and
 * shown in the reader's language. Everything else in an event (titles, logins, addresses) is not translated.
 */

/** Marks a label for the catalogue of texts. */
const word = (text: string): string => text;

const KNOWN: ReadonlySet<string> = new Set([
  // On and off, and former values of guard's settings.
  ...[word('on'), word('off'), word('On'), word('Off'), word('Default'), word('everyone'), word('nobody')],
  ...[word('Given'), word('Not given'), word('every address')],
  // In place of a stored value that could not be used.
  word('unusable value'),
  word('Capabilities of roles'),
  // The standard roles of WordPress.
  ...[word('Administrator'), word('Editor'), word('Author'), word('Contributor'), word('Subscriber')],
  // Types of content and terms of WordPress, as the connector writes them.
  ...[word('post'), word('page'), word('block'), word('template'), word('template part'), word('navigation')],
  ...[word('global styles'), word('custom css'), word('category'), word('tag'), word('link category')],
  // Statuses of content and of comments.
  ...[word('Published'), word('Scheduled'), word('Draft'), word('Pending'), word('Private'), word('Trash')],
  ...[word('approved'), word('unapproved'), word('spam'), word('trash')],
  // Choices in settings of WordPress.
  ...[word('posts'), word('your latest posts'), word('a static page'), word('Plain')],
  ...[word('user accounts'), word('sites'), word('user accounts and sites')],
]);

/** Weekdays as they are stored, and their names. */
const WEEKDAYS: ReadonlyMap<string, string> = new Map([
  ['monday', word('Monday')],
  ['tuesday', word('Tuesday')],
  ['wednesday', word('Wednesday')],
  ['thursday', word('Thursday')],
  ['friday', word('Friday')],
  ['saturday', word('Saturday')],
  ['sunday', word('Sunday')],
]);
const EVERY_WEEK = word('every {days}');
const AND = word('{list} and {last}');
const MORE = word('{list} and {count} more');

/** Values with parts, as stored: a code and its parameters, separated by spaces. */
const FORMS: ReadonlyMap<string, string> = new Map([
  ['away.daily', word('{from} – {to} every day')],
  ['away.period', word('{from} – {to}')],
]);
/** Local day and time at the site in ISO 8601 format, separated by a space. */
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?$/;

/**
 * @param role as WordPress stores it: `editor`
 * @returns the English name of a standard role of WordPress; null for a role of a plugin
 */
export function getRoleName(role: string): string | null {
  const name = role.charAt(0).toUpperCase() + role.slice(1);
  return KNOWN.has(name) ? name : null;
}

/**
 * Formats a role in the reader's language. Roles of plugins are not translated.
 *
 * @param role as WordPress stores it: `editor`
 */
export function formatRole(role: string, translate: (text: string) => string): string {
  const name = getRoleName(role);
  return name === null ? role : translate(name);
}

/** Writes values in the reader's language. */
export interface EventLanguage {
  translate(text: string): string;
  /** @param time `YYYY-MM-DD`, `HH:MM`, or both separated by a space */
  time(time: string): string;
}

/** Formats a value with parts for storage. */
export function toEventValue(code: 'away.daily' | 'away.period' | 'paused.until', ...params: string[]): string {
  return [code, ...params].join(' ');
}

const LIST = 'list.more';

/** Formats a list that is too long for a sentence for storage: its first values, and the number of the others. */
export function toShortList(first: readonly string[], more: number): string {
  const list = first.join(', ');
  return more === 0 ? list : `${LIST} ${more} ${list}`;
}

/** Formats a value, or values separated by commas, in the reader's language. Unknown values are returned unchanged. */
export function formatEventValue(value: string, { translate, time }: EventLanguage): string {
  const [code = '', ...params] = value.split(' ');
  if (code === 'paused.until') return time(params.join(' '));
  const form = FORMS.get(code);
  if (form !== undefined) {
    if (code === 'away.period' && params[0] === params[1]) return time(params[0] ?? '');
    return fill(translate(form), { from: time(params[0] ?? ''), to: time(params.slice(1).join(' ')) });
  }
  if (TIME.test(value)) return time(value);
  if (code === LIST) {
    return fill(translate(MORE), { list: formatList(params.slice(1).join(' '), translate), count: params[0] ?? '' });
  }
  const days = value.split(', ').map((one) => WEEKDAYS.get(one));
  if (days.every((day) => day !== undefined)) {
    const names = days.map(translate);
    const last = names.pop() ?? '';
    const list = names.join(', ');
    const joined = list === '' ? last : fill(translate(AND), { list, last });
    return fill(translate(EVERY_WEEK), { days: joined });
  }
  return formatList(value, translate);
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}

function formatList(value: string, translate: EventLanguage['translate']): string {
  return value
    .split(', ')
    .map((one) => (KNOWN.has(one) ? translate(one) : one))
    .join(', ');
}
