import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { collectTexts } from '@security-optimizer/translations/collect-texts';
import { pseudoLocale } from '@security-optimizer/translations/pseudo-locale';
import { beforeAll, describe, expect, it } from 'vitest';
import { mailElements } from '../../test/support/mail-elements.js';
import { longestFacts, REPORT_AT, REPORT_ZONE, reportFacts, reportSite } from '../../test/support/report-facts.js';
import { english, type Language, toLanguage } from '../i18n/language.js';
import { cataloguesFolder, createLanguages, readCatalogue } from '../i18n/languages.js';
import { silentLogger } from '../lib/logger.js';
import { buildReport, formatPeriod } from './build-report.js';
import { reportText } from './make-report.js';
import { renderReport } from './render-report.js';
import { getLastWeek, getWeekToDate } from './report-facts.js';

const root = join(fileURLToPath(import.meta.url), '../../../../..');
const languages = createLanguages({ folder: cataloguesFolder, logger: silentLogger() });
const reportIn = (language: Language, facts = reportFacts) => buildReport(facts, { ...reportSite, language });

describe('a report in German', () => {
  const report = reportIn(languages('de_DE'));

  it('is in German, with its numbers, dates and names of settings', () => {
    expect(report.subject).toBe('Wochenbericht für example.com, 9. – 15. November');
    expect(report.figures[0]).toEqual({
      label: 'Besuche von Menschen',
      value: '4.292',
      compared: '6\u00a0% mehr als letzte Woche',
      link: expect.stringContaining('log_show=humans'),
    });
    expect(report.days[0]?.words).toBe('Mo: 100 Menschen, 50 Bots, 10 blockiert');
    expect(report.lists.map(({ rows }) => rows[0]?.value)).toEqual(['41 Fehlversuche', '300 Besuche', '7']);
    expect(report.tasks).toMatchObject([
      { title: '2 von 3 wichtigen Optionen sind noch aus', text: 'Eigene Anmeldeadresse, XML-RPC abschalten' },
    ]);
  });

  it('uses singular forms for one', () => {
    const one = { ...reportFacts.now, refused: 1 };
    const logins = { attempts: 1, addresses: 1, locked: 1, succeeded: [] };
    const alone = reportIn(languages('de_DE'), { ...reportFacts, now: one, logins });
    expect(alone.summary).toContain('1 Besuch oder Anmeldeversuch wurde blockiert.');
    expect(alone.summary).toContain('1 Versuch von 1 Adresse, 1 gesperrt, niemand kam hinein.');
  });

  it('declares its language for screen readers, also where clients remove the root of the page', () => {
    const tags = mailElements(renderReport(report)).map(({ tag, attributes }) => [
      tag,
      attributes.lang,
      attributes.dir,
    ]);
    expect(tags.filter(([, lang]) => lang !== undefined)).toEqual([
      ['html', 'de-DE', 'ltr'],
      ['table', 'de-DE', 'ltr'],
    ]);
  });
});

describe('in a language whose translations are marked', () => {
  let pseudo: Language;
  beforeAll(async () => {
    pseudo = toLanguage(readCatalogue('ar', pseudoLocale(await collectTexts(root))));
  }, 120_000);

  it('every text is translated', () => {
    for (const facts of [reportFacts, longestFacts, { ...reportFacts, before: null }]) {
      const report = reportIn(pseudo, facts);
      const own = new Set([
        ...['Security Optimizer', '■', '·', '\u00a0', report.period],
        ...report.days.map(({ name }) => name),
        ...report.lists.flatMap(({ rows }) => rows.flatMap(({ name, value }) => [name, value])),
        ...report.figures.map(({ value }) => value),
      ]);
      const elements = mailElements(renderReport(report));
      const texts = elements.flatMap(({ tag, texts }) => (tag === 'style' ? [] : texts.map((text) => text.trim())));
      // The padding of the preview consists of invisible characters.
      const english = texts.filter((text) => /\w/.test(text) && !own.has(text) && !text.startsWith('\u202e['));
      expect(english).toEqual([]);
      for (const { rows } of report.lists.filter(({ mono }) => mono)) {
        for (const { value } of rows) expect(value).toMatch(/^\u202e\[/);
      }
      for (const line of reportText(report).split('\n')) {
        const link = line.replace(/: https:\/\/example\.com\/\S*$/, '');
        expect(link === '' || /\u202e\[|^- /.test(line) || own.has(line), line).toBe(true);
      }
    }
  });

  it('lines are written from right to left, and addresses from left to right', () => {
    const elements = mailElements(renderReport(reportIn(pseudo)));
    expect(elements[0]?.attributes).toMatchObject({ dir: 'rtl', lang: 'ar' });
    expect(new Set(elements.map(({ attributes }) => attributes.align))).not.toContain('right');
    const address = elements.find(({ texts }) => texts.includes('203.0.113.24'));
    expect(address?.attributes.dir).toBe('ltr');
  });
});

it.each([
  ['en', '9 – 15 November', '28 December 2026 – 3 January 2027'],
  ['de-DE', '9. – 15. November', '28. Dezember 2026 – 3. Januar 2027'],
  ['es-ES', '9 – 15 de noviembre', '28 de diciembre de 2026 – 3 de enero de 2027'],
  ['it-IT', '9 – 15 novembre', '28 dicembre 2026 – 3 gennaio 2027'],
])('the days of a week have the usual format in %s', (tag, within, across) => {
  const language = { ...english, dates: tag === 'en' ? english.dates : tag };
  expect(formatPeriod(language, getLastWeek(REPORT_ZONE, REPORT_AT), REPORT_ZONE)).toBe(within);
  const newYear = Date.UTC(2027, 0, 4, 8) / 1000;
  expect(formatPeriod(language, getLastWeek(REPORT_ZONE, newYear), REPORT_ZONE)).toBe(across);
  expect(formatPeriod(language, getWeekToDate(REPORT_ZONE, REPORT_AT - 86_400), REPORT_ZONE)).toBe(`${within} so far`);
});
