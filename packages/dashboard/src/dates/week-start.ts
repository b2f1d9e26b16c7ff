/** Regions whose week does not start on Monday, by the Unicode CLDR (supplemental data, weekData). */
const SUNDAY =
  /^(?:AG|AS|AU|BD|BR|BS|BT|BW|BZ|CA|CO|DM|DO|ET|GT|GU|HK|HN|ID|IL|IN|JM|JP|KE|KH|KR|LA|MH|MM|MO|MT|MX|MZ|NI|NP|PA|PE|PH|PK|PR|PT|PY|SA|SG|SV|TH|TT|TW|UM|US|VE|VI|WS|YE|ZA|ZW)$/;
const SATURDAY = /^(?:AE|AF|BH|DJ|DZ|EG|IQ|IR|JO|KW|LY|OM|QA|SD|SY)$/;
/** Languages without a region in the locale: the region where most of their speakers are. */
const REGION: Readonly<Record<string, string>> = {
  ar: 'EG',
  bn: 'BD',
  en: 'US',
  fa: 'IR',
  he: 'IL',
  hi: 'IN',
  id: 'ID',
  ja: 'JP',
  ko: 'KR',
  th: 'TH',
  ur: 'PK',
  zh: 'CN',
};

/** First day of the week, 0 is Sunday. */
export function weekStartOf(locale: string): number {
  const [language = '', ...rest] = locale.split('-');
  const region = rest.find((part) => /^[A-Z]{2}$/i.test(part))?.toUpperCase() ?? REGION[language.toLowerCase()] ?? '';
  if (SUNDAY.test(region)) return 0;
  return SATURDAY.test(region) ? 6 : 1;
}
