import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { collectTexts } from '@security-optimizer/translations/collect-texts';
import { pseudoLocale } from '@security-optimizer/translations/pseudo-locale';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Language, toLanguage } from '../i18n/language.js';
import { cataloguesFolder, createLanguages, readCatalogue } from '../i18n/languages.js';
import { formatWait } from '../i18n/time-labels.js';
import { silentLogger } from '../lib/logger.js';
import { awayPage, lockedPage } from '../pages/login-closed-pages.js';
import { type PageName, visitorPage, visitorPages } from '../pages/visitor-pages.js';
import { noticePage, notices } from './notices.js';
import { challengePage, codesAgainPage, codesPage, enrolPage } from './pages.js';

const root = join(fileURLToPath(import.meta.url), '../../../../..');
const NOW = Date.UTC(2026, 10, 21, 13, 33);
const HOUR = 3600_000;

/** Every page that guard itself shows, in this language. */
function pagesIn(language: Language): Record<string, string> {
  const visit = { host: 'h.example', address: '192.0.2.1', time: new Date(NOW), reference: '7K2M-94QX' };
  const closed = { host: 'h.example', home: '/', now: NOW, timeZone: 'Europe/Berlin' };
  const facts = { host: 'h.example', language, nonce: 'n' };
  const form = { action: '/l', token: '1' };
  const who = { form, login: 'LOGIN', cancelUrl: '/l' };
  const request = { ...facts, ...who, otherMethodUrl: '/o', trust: false };
  const key = { ...facts, ...who, qr: { size: 1, path: 'M0 0' }, secret: 'K2' };
  const texts = [
    notices.ended('/l'),
    notices.tooMany('/l', null),
    notices.tooMany('/l', formatWait(language, 600)),
    notices.keyProblem('7K2M-94QX'),
    notices.failed('/l', '7K2M-94QX'),
    notices.unavailable('/l', '7K2M-94QX'),
    notices.alreadySetUp('/l'),
    notices.logInFirst('/l'),
    notices.interimSuccess(),
  ];
  return {
    ...Object.fromEntries(
      Object.keys(visitorPages).map((name) => [name, visitorPage(language, name as PageName, visit)]),
    ),
    'locked for minutes': lockedPage(language, { ...closed, until: NOW + HOUR / 2 }, 1),
    'locked for hours': lockedPage(language, { ...closed, until: NOW + 23 * HOUR }, 2),
    'locked for days': lockedPage(language, { ...closed, until: NOW + 167 * HOUR }, 3),
    away: awayPage(language, { ...closed, until: null }),
    'away until': awayPage(language, { ...closed, until: NOW + 33.5 * HOUR }),
    'code of the app': challengePage({ ...request, signedIn: null, method: 'app' }),
    'back-up code': challengePage({ ...request, signedIn: null, method: 'backup' }),
    'code for another account': challengePage({ ...request, signedIn: { login: 'LOGIN', url: '/a' }, method: 'app' }),
    'set up at login': enrolPage({ ...key, purpose: 'login' }),
    'set up by choice': enrolPage({ ...key, purpose: 'setup' }),
    codes: codesPage({ ...facts, form, login: 'LOGIN', codes: ['1234 5678'] }),
    'codes again': codesAgainPage({ ...facts, form, missingTick: true }),
    ...Object.fromEntries(texts.map((notice, at) => [`notice ${at}`, noticePage(facts, notice)])),
  };
}

/** Visible and spoken text, including the file that users download. */
function toText(html: string): string {
  const visible = html.replace(/<(style|script)[^>]*>.*?<\/\1>/gs, '');
  const named = [...visible.matchAll(/(?:aria-label|data-copied|data-copy|download)="([^"]*)"/g)].map(
    ([, text]) => text,
  );
  return [visible.replace(/<[^>]*>/g, ' '), ...named].join(' ');
}

/** Removes the marked translations, the innermost first, and returns the remaining text. */
function toUntranslated(text: string): string {
  const without = text.replace(/\u202e[^\u202e\u202c]*\u202c/g, '');
  return without === text ? text : toUntranslated(without);
}

/** Values that no language translates. */
const VALUES = /h\.example|192\.0\.2\.1|7K2M-94QX|LOGIN|\bK2\b|\bUTC\b|\.txt\b|^H\b|\bH\b/g;

describe('every page, in a pseudo-language', () => {
  let pages: Record<string, string>;
  beforeAll(async () => {
    pages = pagesIn(toLanguage(readCatalogue('ar', pseudoLocale(await collectTexts(root)))));
  });

  it('takes all its texts from the catalogue', () => {
    const untranslated = Object.entries(pages).map(([name, html]) => [
      name,
      toUntranslated(toText(html)).replace(VALUES, ''),
    ]);
    expect(untranslated.filter(([, text]) => /[a-z]{2}/i.test(text as string))).toEqual([]);
    expect(Object.keys(pages).length).toBeGreaterThan(30);
  });

  it('has the direction right to left', () => {
    for (const [name, html] of Object.entries(pages)) {
      expect(html, name).toMatch(/^<!DOCTYPE html><html class="so-fronthtml" lang="ar" dir="rtl">/);
      expect(html, name).toContain('.so-dl dd{text-align:left}');
    }
  });
});

describe.each(['de_DE', 'es_ES', 'it_IT'])('every page in %s', (locale) => {
  const language = createLanguages({ folder: cataloguesFolder, logger: silentLogger() })(locale);
  const pages = pagesIn(language);

  it('declares its language and has no unfilled placeholder', () => {
    for (const [name, html] of Object.entries(pages)) {
      expect(html, name).toContain(` lang="${locale.replace('_', '-')}">`);
      expect(toText(html), name).not.toMatch(/[{}]|%%|undefined/);
    }
  });

  it('has no heading in English', () => {
    const english = pagesIn(toLanguage({ locale: 'en_US', lang: 'en', texts: new Map() }));
    for (const name of Object.keys(pages)) {
      const sentences = (html: string) => /<main.*?<h1>(.*?)<\/h1>/s.exec(html)?.[1];
      expect(sentences(pages[name] as string), name).not.toBe(sentences(english[name] as string));
    }
  });
});

describe('the texts of a time', () => {
  const texts = (locale: string) => {
    const language = createLanguages({ folder: cataloguesFolder, logger: silentLogger() })(locale);
    const closed = { host: 'h.example', home: '/', now: NOW, timeZone: 'Europe/Berlin' };
    const page = (until: number) => toText(lockedPage(language, { ...closed, until }, 1)).replace(/\s+/g, ' ');
    return [page(NOW + HOUR - 120_000), page(NOW + 33.5 * HOUR)];
  };

  it.each([
    ['de_DE', '58 Min. bis zum nächsten Versuch um 15:31 Uhr.', 'am Montag, 23. November, 00:03 Uhr.'],
    ['es_ES', '58 min hasta el próximo intento, a las 15:31.', 'el lunes, 23 de noviembre, 00:03.'],
    ['it_IT', '58 min al prossimo tentativo, alle 15:31.', 'lunedì 23 novembre, 00:03.'],
  ])('are those of %s', (locale, today, later) => {
    const [soon, then] = texts(locale);
    expect(soon).toContain(today);
    expect(then).toContain(later);
  });
});
