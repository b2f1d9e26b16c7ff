import { type Fields, isFields } from '../data/fields.js';
import { i18n } from './i18n.js';
import { TEXT_DOMAIN } from './translate.js';

/**
 * Gives Jed locale data to @wordpress/i18n. Takes the whole Jed file (`{ locale_data: { domain: {…} } }`) or the
 * messages alone. Entries of another form are dropped, and data that cannot be used at all means English.
 */
export function loadLocale(data: object | null): void {
  i18n.resetLocaleData({}, TEXT_DOMAIN);
  const messages = data === null ? null : findMessages(data as Fields);
  if (messages === null) return;
  i18n.setLocaleData(usable(messages), TEXT_DOMAIN);
  try {
    // A broken plural rule shows only when it is first used; better here than in the middle of a page.
    i18n._n('%d option', '%d options', 2, TEXT_DOMAIN);
  } catch {
    i18n.resetLocaleData({}, TEXT_DOMAIN);
  }
}

function findMessages(data: Fields): Fields | null {
  const domains = data.locale_data;
  if (!isFields(domains)) return data;
  const messages = domains[TEXT_DOMAIN] ?? domains.messages;
  return isFields(messages) ? messages : null;
}

function usable(messages: Fields): Record<string, string[]> {
  const kept = Object.entries(messages).filter(([key, value]) => {
    if (key === '') return isFields(value);
    return Array.isArray(value) && value.every((item) => typeof item === 'string');
  });
  return Object.fromEntries(kept) as Record<string, string[]>;
}
