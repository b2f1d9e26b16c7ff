import { type Phrase, type PhraseLanguage, sayPhrase } from '@security-optimizer/contract/say-phrase';
import { formatNumber } from './format-number.js';
import { localMoments } from './moments.js';
import { _n, TEXT_DOMAIN, translate } from './translate.js';

/**
 * A text of the server in the owner's language.
 * @param text the whole in English; looked up as it is when there is no phrase
 * @param locale BCP 47, for numbers
 */
export function say(text: string, phrase: Phrase | null, locale: string): string {
  if (phrase === null) return translate(text);
  const language: PhraseLanguage = {
    translate,
    plural: (one, many, count) => _n(one, many, count, TEXT_DOMAIN),
    number: (value) => formatNumber(value, locale),
  };
  return localMoments(sayPhrase(phrase, language));
}
