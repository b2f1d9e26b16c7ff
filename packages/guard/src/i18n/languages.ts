import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { packageFolder } from '../lib/files.js';
import type { Logger } from '../lib/logger.js';
import { type Catalogue, english, getEnglish, type Language, toLanguage } from './language.js';

/**
 * Returns the language of a site.
 * @param locale as WordPress names it; a locale without a translation gets English
 */
export type LanguageFor = (locale: string) => Language;

/** Returns English and the languages with a catalogue in a folder. Throws when the folder can't be read. */
export function listLanguages(languages: LanguageFor, folder: string): readonly Language[] {
  return [english, ...listLocales(folder).map((locale) => languages(locale))];
}

const NAME = /^security-optimizer-(\w+)\.json$/;

/**
 * Returns the folder of guard's catalogues, next to those that the connector installs. Throws when it is not installed.
 */
export function cataloguesFolder(): string {
  return join(packageFolder('@security-optimizer/connector'), 'dist/guard-languages');
}

/**
 * Loads guard's languages; each is read on first use and kept. A catalogue is small and is read when a site's facts are
 * updated, never by a request, so the read is synchronous. A catalogue that is missing or invalid is logged once, and
 * English is used.
 */
export function createLanguages(deps: { folder: () => string; logger: Logger }): LanguageFor {
  const { logger } = deps;
  const cached = new Map<string, Language>();
  let present: { folder: string; known: readonly string[] } | null = null;

  function readFolder(): { folder: string; known: readonly string[] } {
    try {
      const folder = deps.folder();
      return { folder, known: listLocales(folder) };
    } catch (error) {
      logger.warn({ event: 'translations-missing', err: error }, 'Translations were not found; pages are in English.');
      return { folder: '', known: [] };
    }
  }

  function read(folder: string, locale: string): Language {
    try {
      return toLanguage(readCatalogue(locale, readFileSync(join(folder, `security-optimizer-${locale}.json`), 'utf8')));
    } catch (error) {
      logger.warn(
        { event: 'translation-read-failed', locale, err: error },
        'A translation can’t be read; pages are in English.',
      );
      return english;
    }
  }

  return (locale) => {
    if (/^(?:en(?:_|$)|$)/.test(locale)) return getEnglish(locale);
    present ??= readFolder();
    const known = findLocale(locale, present.known);
    if (known === null) return english;
    const language = cached.get(known) ?? read(present.folder, known);
    cached.set(known, language);
    return language;
  };
}

function listLocales(folder: string): string[] {
  const names = readdirSync(folder).map((name) => NAME.exec(name)?.[1]);
  return names.filter((name) => name !== undefined).sort();
}

/**
 * Returns the translation for a locale: its own, or that of another variant of its language (`de_DE` for `de_AT` and
 * `de_DE_formal`), by the same rule as the connector (Security_Optimizer_Admin_Page::known_locale).
 *
 * @param locale as WordPress names it, or any other text
 * @param known locales that have a translation
 * @returns null for English
 */
export function findLocale(locale: string, known: readonly string[]): string | null {
  const language = (name: string) => name.split('_', 1)[0];
  if (known.includes(locale)) return locale;
  return known.find((name) => language(name) === language(locale)) ?? null;
}

const forms = z.array(z.string().min(1)).min(1).max(2);

const jed = z.object({ '': z.object({ lang: z.string().regex(/^[a-z]{2,3}(?:[_-]\w+)*$/i) }) }).catchall(forms);

/**
 * Parses flat Jed messages, as packages/translations compiles them.
 *
 * @param locale as WordPress names it
 * @throws SyntaxError or ZodError for any other text
 */
export function readCatalogue(locale: string, json: string): Catalogue {
  const { '': own, ...texts } = jed.parse(JSON.parse(json));
  return { locale, lang: own.lang, texts: new Map(Object.entries(texts)) };
}
