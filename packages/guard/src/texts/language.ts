import { type PhraseLanguage, english as phrases } from '@security-optimizer/contract/say-phrase';

/** What stands in a text as `{name}`. A number is written as the language writes numbers. */
export type Values = Readonly<Record<string, string | number>>;

/** The translated texts of one language, as the build compiles them. */
export interface Catalogue {
  /** Locale as WordPress names it, for example `de_DE`. */
  readonly locale: string;
  /** Language as the catalogue names it: the locale, or what a test speaks. */
  readonly lang: string;
  /** By the English text: one form, or the form for one and the form for other numbers. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
}

/** A language that guard's own pages and mails are written in. Also says the contract's phrases. */
export interface Language extends PhraseLanguage {
  /** Locale of its catalogue as WordPress names it, for example `de_DE`. */
  readonly locale: string;
  /** BCP 47, for the attribute `lang`. */
  readonly tag: string;
  /** The locale by which `Intl` writes dates and times. */
  readonly dates: string;
  readonly direction: 'ltr' | 'rtl';
  /** A text with its values. Without a translation it is said in English. */
  translate(text: string, values?: Values): string;
  /** A text that depends on a number, with `{count}` and its other values filled in. */
  counted(one: string, many: string, count: number, values?: Values): string;
}

/** Languages that are written from right to left. */
const RIGHT_TO_LEFT = new Set([
  'ar',
  'arc',
  'ary',
  'azb',
  'ckb',
  'dv',
  'fa',
  'he',
  'ps',
  'sd',
  'skr',
  'ug',
  'ur',
  'yi',
]);

/**
 * What guard's sources are written in. Its dates are British: day, month and 24 hours, as in the design, and as most
 * of the languages have them that there is no translation for.
 */
export const english: Language = {
  ...phrases,
  locale: 'en_US',
  tag: 'en',
  dates: 'en-GB',
  direction: 'ltr',
  translate: (text, values) => filled(text, values, phrases.number),
  counted: (one, many, count, values) => filled(count === 1 ? one : many, { ...values, count }, phrases.number),
};

/** More than WordPress has forms of English. */
const COUNTRIES_KEPT = 20;
const englishByLocale = new Map<string, Language>();

/**
 * English with the dates and the clock of a country.
 * @param locale as WordPress names it: `en_US` has twelve hours, `en_GB` twenty-four; without a country as `english`
 */
export function englishOf(locale: string): Language {
  const [, country] = /^en_([A-Z]{2})$/.exec(locale) ?? [];
  if (country === undefined) return english;
  const own = englishByLocale.get(country) ?? { ...english, locale, dates: `en-${country}` };
  if (englishByLocale.size < COUNTRIES_KEPT) englishByLocale.set(country, own);
  return own;
}

/** The language of a catalogue. Its texts have two forms: for the numbers that the language counts as one, and others. */
export function languageOf({ locale, lang, texts }: Catalogue): Language {
  const tag = lang.replaceAll('_', '-');
  const rules = new Intl.PluralRules(tag);
  const numbers = new Intl.NumberFormat(tag);
  const number = (value: number) => numbers.format(value);
  const form = (text: string, at: number) => texts.get(text)?.[at] ?? null;
  const plural = (one: string, many: string, count: number) => {
    const isOne = rules.select(count) === 'one';
    return form(one, isOne ? 0 : 1) ?? (count === 1 ? one : many);
  };
  return {
    locale,
    tag,
    dates: tag,
    direction: RIGHT_TO_LEFT.has(tag.split('-')[0] as string) ? 'rtl' : 'ltr',
    translate: (text, values) => filled(form(text, 0) ?? text, values, number),
    counted: (one, many, count, values) => filled(plural(one, many, count), { ...values, count }, number),
    plural,
    number,
  };
}

function filled(text: string, values: Values | undefined, number: (value: number) => string): string {
  if (values === undefined) return text;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) return whole;
    return typeof value === 'number' ? number(value) : value;
  });
}
