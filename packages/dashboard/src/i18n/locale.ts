import { createI18n } from '@wordpress/i18n';

/** An object of unknown content, for example parsed JSON. */
export type UnknownRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is UnknownRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Text domain of every string of the product. */
export const TEXT_DOMAIN = 'security-optimizer';

/**
 * A separate instance. The package's default instance would add WordPress's hooks to the bundle, and with them a
 * way for other plugins to change the texts.
 */
export const i18n = createI18n();

let language = 'en';

/** Language of the page, BCP 47. */
export function getLanguage(): string {
  return language;
}

/**
 * Sets the language of the page, once before it is drawn.
 *
 * @param tag language of numbers, days and times, BCP 47
 * @param data texts: flat Jed messages (`{ "": {…}, text: [forms] }`) or a whole Jed file (`{ locale_data: { domain:
 *   {…} } }`), which a connector of another version may still print. Malformed entries are dropped. Null, and data that
 *   cannot be used at all, mean English.
 */
export function setLanguage(tag: string, data: object | null): void {
  language = tag;
  i18n.resetLocaleData({}, TEXT_DOMAIN);
  const messages = data === null ? null : findMessages(data as UnknownRecord);
  if (messages === null) return;
  i18n.setLocaleData(validEntries(messages), TEXT_DOMAIN);
  try {
    // A broken plural rule throws only when it is first used, so use it here and not in the middle of a page.
    i18n._n('%d option', '%d options', 2, TEXT_DOMAIN);
  } catch {
    i18n.resetLocaleData({}, TEXT_DOMAIN);
  }
}

function findMessages(data: UnknownRecord): UnknownRecord | null {
  const domains = data.locale_data;
  if (!isRecord(domains)) return data;
  const messages = domains[TEXT_DOMAIN] ?? domains.messages;
  return isRecord(messages) ? messages : null;
}

function validEntries(messages: UnknownRecord): Record<string, string[]> {
  const valid = Object.entries(messages).filter(([key, value]) => {
    if (key === '') return isRecord(value);
    return Array.isArray(value) && value.every((item) => typeof item === 'string');
  });
  return Object.fromEntries(valid) as Record<string, string[]>;
}

/** A number with the thousands separators of the language; unknown languages mean English. */
export function formatNumber(value: number): string {
  try {
    return value.toLocaleString(language);
  } catch {
    return value.toLocaleString('en');
  }
}
