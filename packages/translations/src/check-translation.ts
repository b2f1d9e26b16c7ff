import type { Entry } from './catalogue.js';

/** `%s`, `%1$s`, `%d`, `%(name)s` and `{name}`, and the tags that a text may have. */
const PLACEHOLDER = /%(?:\d+\$)?[sd]|%\(\w+\)[sd]|\{\w+\}|<\/?[a-z]+[^>]*>/g;

/**
 * Lists the errors of a translation: texts that are not translated, and placeholders, tags or spaces that differ.
 *
 * @returns empty when there are none
 */
export function checkTranslation({ text, plural, forms }: Entry): string[] {
  const mistakes: string[] = [];
  for (const [form, original] of [text, ...(plural === null ? [] : [plural])].entries()) {
    const translation = forms[form] ?? '';
    if (translation === '') {
      mistakes.push(`“${text}” is not translated.`);
      break;
    }
    const differs = placeholders(original) !== placeholders(translation);
    // The singular may omit the number, or have it where English does not.
    const isPluralWithNumber = form === 0 && plural !== null && placeholders(plural) === placeholders(translation);
    if (differs && !isPluralWithNumber) {
      mistakes.push(`“${translation}” has other placeholders or tags than “${original}”.`);
    }
    if (/^\s|\s$/.test(original) !== /^\s|\s$/.test(translation)) {
      mistakes.push(`“${translation}” begins or ends with another space than “${original}”.`);
    }
  }
  return mistakes;
}

function placeholders(text: string): string {
  return (text.match(PLACEHOLDER) ?? []).sort().join(' ');
}
