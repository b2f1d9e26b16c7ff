import type { ActivityFilter } from '@security-optimizer/contract/activity';
import { translate } from '../../../i18n/translate.js';
import { type Applied, type Choice, withChoice } from './applied.js';

/**
 * What is applied, with the visitor or user of a row in the filter for such.
 *
 * @param filters those of the list, which know the id and the name of that filter
 * @param name of the filter where they don't
 */
export function withSubject(
  applied: Applied,
  filters: readonly ActivityFilter[],
  group: 'ip' | 'user',
  name: string,
  subject: Pick<Choice, 'value' | 'text'>,
): Applied {
  const child = filters.find(({ wp_name }) => wp_name === group)?.children[0];
  const field = { group, child: child?.id ?? group };
  const choice = { ...field, ...subject, name: child === undefined ? name : translate(child.label) };
  return { ...applied, choices: withChoice(applied.choices, field, choice) };
}
