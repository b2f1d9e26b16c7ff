/** Values for the placeholders `{name}` of a text. A number is formatted as the language writes numbers. */
export type Values = Readonly<Record<string, string | number>>;

/** The translated texts of one language, as the build compiles them. */
export interface Catalogue {
  /** Locale as WordPress names it, for example `de_DE`. */
  readonly locale: string;
  /** Language as the catalogue names it: the locale, or the invented language of a test. */
  readonly lang: string;
  /** By the English text: one form, or the singular and the plural form. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
}

/** A language of guard's own pages and mails. */
export interface Language {
  /** Locale of its catalogue as WordPress names it, for example `de_DE`. */
  readonly locale: string;
  /** BCP 47, for the attribute `lang`. */
  readonly tag: string;
  /** The locale for dates and times of `Intl`. */
  readonly dates: string;
  readonly direction: 'ltr' | 'rtl';
  /** Translates a text and fills in its values. Without a translation the text stays English. */
  translate(text: string, values?: Values): string;
  number(value: number): string;
  /** Translates a text that depends on a number, and fills in `{count}` and its other values. */
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

/** Formats a number in English. */
const englishNumber = (value: number): string => value.toLocaleString('en-US');

/**
 * The language of guard's sources. Its dates are British (day before month, 24 hours), as in the design and as in most
 * of the languages without a translation.
 */
export const english: Language = {
  locale: 'en_US',
  tag: 'en',
  dates: 'en-GB',
  direction: 'ltr',
  translate: (text, values) => filled(text, values, englishNumber),
  number: englishNumber,
  counted: (one, many, count, values) => filled(count === 1 ? one : many, { ...values, count }, englishNumber),
};

/** Limit of cached variants; WordPress has fewer variants of English. */
const COUNTRIES_CACHED = 20;
const englishByLocale = new Map<string, Language>();

/**
 * Returns English with the dates and the clock of a country.
 * @param locale as WordPress names it: `en_US` has a 12-hour clock, `en_GB` a 24-hour one; `english` without a country
 */
export function getEnglish(locale: string): Language {
  const [, country] = /^en_([A-Z]{2})$/.exec(locale) ?? [];
  if (country === undefined) return english;
  const own = englishByLocale.get(country) ?? { ...english, locale, dates: `en-${country}` };
  if (englishByLocale.size < COUNTRIES_CACHED) englishByLocale.set(country, own);
  return own;
}

/**
 * Creates the language of a catalogue. Its texts have two forms: for numbers that the language counts as one, and
 * others.
 */
export function toLanguage({ locale, lang, texts }: Catalogue): Language {
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
    number,
  };
}

function filled(text: string, values: Values | undefined, number: (value: number) => string): string {
  if (values === undefined) return text;
  return text.replace(/\{(\w+)\}/g, (match, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) return match;
    return typeof value === 'number' ? number(value) : value;
  });
}

/** Caches one value per language, created on first use. There are as many values as translations. */
export function perLanguage<Made>(make: (language: Language) => Made): (language: Language) => Made {
  const cache = new WeakMap<Language, Made>();
  return (language) => {
    let own = cache.get(language);
    if (own === undefined) {
      own = make(language);
      cache.set(language, own);
    }
    return own;
  };
}
