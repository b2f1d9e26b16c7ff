import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../lib/logger.js';
import { packageFolder } from '../lib/package-folder.js';
import { knownLocale } from './known-locale.js';
import { english, englishOf, type Language, languageOf } from './language.js';
import { readCatalogue } from './read-catalogue.js';

/** The language of a site. @param locale as WordPress names it; one without a translation is English */
export type LanguageFor = (locale: string) => Language;

const NAME = /^security-optimizer-(\w+)\.json$/;

/** Where the build puts guard's catalogues: beside those that the connector installs. Throws when it is not installed. */
export function cataloguesFolder(): string {
  return join(packageFolder('@security-optimizer/connector'), 'dist/guard-languages');
}

/**
 * The languages that guard has, each read when a site first wants it and kept. A translation is small and is asked for
 * when a site's facts are taken over, never by a request, so it is read at once. A catalogue that is missing or broken
 * is told of once, and is English.
 */
export function createLanguages(deps: { folder: () => string; logger: Logger }): LanguageFor {
  const { logger } = deps;
  const kept = new Map<string, Language>();
  let present: { folder: string; known: readonly string[] } | null = null;

  function look(): { folder: string; known: readonly string[] } {
    try {
      const folder = deps.folder();
      const names = readdirSync(folder).map((name) => NAME.exec(name)?.[1]);
      return { folder, known: names.filter((name) => name !== undefined).sort() };
    } catch (error) {
      logger.warn({ event: 'translations-missing', err: error }, 'Translations were not found; pages are in English.');
      return { folder: '', known: [] };
    }
  }

  function read(folder: string, locale: string): Language {
    try {
      return languageOf(readCatalogue(locale, readFileSync(join(folder, `security-optimizer-${locale}.json`), 'utf8')));
    } catch (error) {
      logger.warn(
        { event: 'translation-not-read', locale, err: error },
        'A translation can’t be read; pages are in English.',
      );
      return english;
    }
  }

  return (locale) => {
    if (/^(?:en(?:_|$)|$)/.test(locale)) return englishOf(locale);
    present ??= look();
    const known = knownLocale(locale, present.known);
    if (known === null) return english;
    const language = kept.get(known) ?? read(present.folder, known);
    kept.set(known, language);
    return language;
  };
}
