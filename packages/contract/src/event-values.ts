/**
 * Values of events that are no names: what WordPress, the connector or guard itself calls something. They are stored in
 * English and said in the reader's language. Everything else in an event (titles, logins, addresses) stays as it is.
 */

/** Marks a word for the catalogue of texts. */
const word = (text: string): string => text;

const KNOWN: ReadonlySet<string> = new Set([
  // Settings that are on or off, and how guard says what a setting of its own was.
  ...[word('on'), word('off'), word('On'), word('Off'), word('Default'), word('everyone'), word('nobody')],
  ...[word('Given'), word('Not given'), word('every address')],
  word('Capabilities of roles'),
  // Roles that every WordPress has.
  ...[word('Administrator'), word('Editor'), word('Author'), word('Contributor'), word('Subscriber')],
  // Types of content and of terms, as the connector writes those of WordPress itself.
  ...[word('post'), word('page'), word('block'), word('template'), word('template part'), word('navigation')],
  ...[word('global styles'), word('custom css'), word('category'), word('tag'), word('link category')],
  // Statuses of content and of comments.
  ...[word('Published'), word('Scheduled'), word('Draft'), word('Pending'), word('Private'), word('Trash')],
  ...[word('approved'), word('unapproved'), word('spam'), word('trash')],
  // Choices of WordPress's settings.
  ...[word('posts'), word('open'), word('closed')],
  ...[word('monday'), word('tuesday'), word('wednesday'), word('thursday'), word('friday'), word('saturday')],
  word('sunday'),
]);

/** A day and time on the site's clock. */
const MOMENT = /^\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?$/;
/** Values of the Away Mode and of a pause. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/^(\d\d:\d\d) to (\d\d:\d\d) every day$/, word('{from} to {to} every day')],
  [/^(\d{4}-\d\d-\d\d) to (\d{4}-\d\d-\d\d)$/, word('{from} to {to}')],
  [/^On until ()(\d{4}-\d\d-\d\d \d\d:\d\d)$/, word('On until {to}')],
];

/** A role in the reader's language; one that a plugin made as it is. @param role as WordPress stores it: `editor` */
export function sayRole(role: string, translate: (text: string) => string): string {
  const name = role.charAt(0).toUpperCase() + role.slice(1);
  return KNOWN.has(name) ? translate(name) : role;
}

/**
 * A value, or values with commas between, in the reader's language; unchanged where nothing of it is known.
 * @param translate is also given days and times
 */
export function sayEventValue(value: string, translate: (text: string) => string): string {
  for (const [shape, template] of SHAPES) {
    const [, from = '', to = ''] = shape.exec(value) ?? [];
    if (to === '') continue;
    return translate(template)
      .replace('{from}', () => (from === '' ? '' : translate(from)))
      .replace('{to}', () => translate(to));
  }
  if (MOMENT.test(value)) return translate(value);
  return value
    .split(', ')
    .map((one) => (KNOWN.has(one) ? translate(one) : one))
    .join(', ');
}
