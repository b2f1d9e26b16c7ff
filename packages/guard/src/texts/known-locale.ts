/**
 * The translation that serves a locale: its own, or that of another form of its language (`de_DE` for `de_AT` and
 * `de_DE_formal`), as the connector chooses it (Security_Optimizer_Admin_Page::known_locale).
 *
 * @param locale as WordPress names it, or anything else
 * @param known locales that there are translations for
 * @returns null for English
 */
export function knownLocale(locale: string, known: readonly string[]): string | null {
  const language = (name: string) => name.split('_', 1)[0];
  if (known.includes(locale)) return locale;
  return known.find((name) => language(name) === language(locale)) ?? null;
}
