/** `%s`, `%1$s`, `%d`, `%(name)s` and `{name}`, and the tags that a text may have. */
const PLACEHOLDER = /%(?:\d+\$)?[sd]|%\(\w+\)[sd]|\{\w+\}|<\/?[a-z]+[^>]*>/g;

/**
 * Lists the errors of a translation.
 *
 * @param {import('./po.mjs').Entry} entry
 * @returns {string[]} empty when there are none
 */
export function checkTranslation({ text, plural, said }) {
  const forms = plural === null ? 1 : 2;
  const mistakes = [];
  for (let form = 0; form < forms; form += 1) {
    const translation = said[form] ?? '';
    if (translation === '') {
      mistakes.push(`“${text}” is not translated.`);
      break;
    }
    const original = form === 0 ? text : plural;
    const differs = placeholders(original) !== placeholders(translation);
    // The singular may omit the number, or have it where English does not.
    const leaves = form === 0 && plural !== null && placeholders(plural) === placeholders(translation);
    if (differs && !leaves) mistakes.push(`“${translation}” has other placeholders or tags than “${original}”.`);
    if (/^\s|\s$/.test(original) !== /^\s|\s$/.test(translation)) {
      mistakes.push(`“${translation}” begins or ends with another space than “${original}”.`);
    }
  }
  return mistakes;
}

function placeholders(text) {
  return (text.match(PLACEHOLDER) ?? []).sort().join(' ');
}
