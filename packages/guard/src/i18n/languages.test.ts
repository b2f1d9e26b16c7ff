import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatClockTime, formatDayAndTime } from '../i18n/time-labels.js';
import { createLogger } from '../lib/logger.js';
import { english, type Language } from './language.js';
import { cataloguesFolder, createLanguages, findLocale } from './languages.js';

const jed = (lang: string, messages: Record<string, unknown>) => JSON.stringify({ '': { lang }, ...messages });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'languages-'));
  const german = {
    'Try again in {time}.': ['Versuchen Sie es in {time} erneut.'],
    '{count} visit': ['{count} Besuch', '{count} Besuche'],
  };
  await writeFile(join(folder, 'security-optimizer-de_DE.json'), jed('de_DE', german));
  await writeFile(join(folder, 'security-optimizer-ar.json'), jed('ar', {}));
  await writeFile(join(folder, 'security-optimizer-es_ES.json'), 'half a fi');
  await writeFile(join(folder, 'security-optimizer-it_IT.json'), jed('it_IT', { 'Log in': 'Accedi' }));
});
afterAll(() => rm(folder, { recursive: true }));

function setUp(where = () => folder): { of: (locale: string) => Language; logged: () => string[] } {
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line: string) => void lines.push(JSON.parse(line).event) });
  return { of: createLanguages({ folder: where, logger }), logged: () => lines };
}

describe('a language', () => {
  it('translates a text and fills in its values; a text without a translation is English', () => {
    const { of } = setUp();
    const german = of('de_DE');
    expect(german.translate('Try again in {time}.', { time: '3 Minuten' })).toBe(
      'Versuchen Sie es in 3 Minuten erneut.',
    );
    expect(german.translate('Nobody has translated {what}.', { what: 'this' })).toBe('Nobody has translated this.');
  });

  it('keeps a placeholder without a value, and never fills in twice', () => {
    expect(english.translate('{a} and {toString}', { a: '{toString}' })).toBe('{toString} and {toString}');
  });

  it('has its own rules for plurals and numbers', () => {
    const german = setUp().of('de_DE');
    expect(german.counted('{count} visit', '{count} visits', 1)).toBe('1 Besuch');
    expect(german.counted('{count} visit', '{count} visits', 1234)).toBe('1.234 Besuche');
    expect(english.counted('{count} visit', '{count} visits', 1234)).toBe('1,234 visits');
  });

  it('has a tag, a format of dates, and a writing direction', () => {
    const { of } = setUp();
    expect(of('de_DE')).toMatchObject({ locale: 'de_DE', tag: 'de-DE', dates: 'de-DE', direction: 'ltr' });
    expect(of('ar')).toMatchObject({ tag: 'ar', direction: 'rtl' });
    expect(english).toMatchObject({ tag: 'en', dates: 'en-GB', direction: 'ltr' });
  });
});

describe('the language of a site', () => {
  it.each([
    ['de_DE', 'de_DE'],
    ['de_AT', 'de_DE'],
    ['de_DE_formal', 'de_DE'],
    ['es_MX', 'es_ES'],
    ['den', null],
    ['fr_FR', null],
    ['', null],
    ['../../etc', null],
  ])('for %j is that of the translation %j', (locale, known) => {
    expect(findLocale(locale, ['de_DE', 'es_ES', 'it_IT'])).toBe(known);
  });

  it.each(['', 'en', 'en_', 'en_us', 'fr_FR', '__proto__'])('is English for %j, without a log line', (locale) => {
    const { of, logged } = setUp();
    expect(of(locale)).toBe(english);
    expect(logged()).toEqual([]);
  });

  it.each([
    ['en_US', 'Monday, November 23, 6:05 PM', '6:05 PM'],
    ['en_GB', 'Monday 23 November, 18:05', '18:05'],
    ['en_NZ', 'Monday, 23 November, 6:05 pm', '6:05 pm'],
    ['de_DE', 'Montag, 23. November, 18:05', '18:05'],
    ['es_ES', 'lunes, 23 de noviembre, 18:05', '18:05'],
    ['it_IT', 'lunedì 23 novembre, 18:05', '18:05'],
  ])('for %s has the dates and the clock of its country', (locale, day, time) => {
    const language = setUp(cataloguesFolder).of(locale);
    const at = Date.UTC(2026, 10, 23, 18, 5);
    const plain = (text: string) => text.replace(/\s/g, ' ');
    expect(plain(formatDayAndTime(language, 'UTC', at))).toContain(day);
    expect(plain(formatClockTime(language, 'UTC', at))).toBe(time);
  });

  it('is read once for all its variants', () => {
    const { of } = setUp();
    expect(of('de_AT')).toBe(of('de_CH'));
    expect(of('en_US')).toBe(of('en_US'));
  });

  it.each([
    ['truncated', 'es_ES'],
    ['of another format', 'it_IT'],
  ])('is English when its catalogue is %s, which is logged once', (_, locale) => {
    const { of, logged } = setUp();
    expect([of(locale), of(locale)]).toEqual([english, english]);
    expect(logged()).toEqual(['translation-read-failed']);
  });

  it('is English when there is no catalogue, which is logged once', () => {
    const { of, logged } = setUp(() => join(folder, 'nowhere'));
    expect([of('de_DE'), of('it_IT')]).toEqual([english, english]);
    expect(logged()).toEqual(['translations-missing']);
  });

  it('is read from the built package', () => {
    const { of } = setUp(cataloguesFolder);
    expect(['de_DE', 'es_ES', 'it_IT'].map((locale) => of(locale).locale)).toEqual(['de_DE', 'es_ES', 'it_IT']);
  });
});
