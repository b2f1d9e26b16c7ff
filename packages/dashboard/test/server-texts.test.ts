import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventSentence } from '@security-optimizer/contract/activity/event-kinds';
import { formatRole, toEventValue } from '@security-optimizer/contract/activity/event-values';
import { fillMessage, type MessageParams } from '@security-optimizer/contract/server-message';
import { type MessageCode, serverMessage, serverMessages } from '@security-optimizer/contract/server-messages';
import { type Catalogue, readLanguages } from '@security-optimizer/translations/catalogue';
import { codedTexts } from '@security-optimizer/translations/coded-texts';
import { collectTexts } from '@security-optimizer/translations/collect-texts';
import { compileJed } from '@security-optimizer/translations/compile';
import { pseudoLocale } from '@security-optimizer/translations/pseudo-locale';
import { afterEach, expect, it } from 'vitest';
import { setLanguage, TEXT_DOMAIN } from '../src/i18n/locale.js';
import { ownersLanguage, translateServerMessage } from '../src/i18n/server-message.js';
import { _n, translate } from '../src/i18n/translate.js';

const root = join(fileURLToPath(import.meta.url), '../../../..');
const languages = await readLanguages(root);

afterEach(() => {
  setLanguage('en', null);
});

function speak(locale: string): void {
  const texts = compileJed(locale, languages.get(locale) as Catalogue, 'dashboard', codedTexts);
  setLanguage(locale.replace('_', '-'), JSON.parse(texts));
}

/** Intl separates parts by narrow and other spaces. */
const plain = (text: string) => text.replace(/\s/g, ' ');

it.each([...languages.keys()])('every text of guard with values is translated by its code in %s', (locale) => {
  speak(locale);
  const translations = new Map<string, readonly string[]>(
    languages.get(locale)?.entries.map(({ text, forms }) => [text, forms]),
  );
  for (const [code, entry] of Object.entries(serverMessages)) {
    const [text, template] = typeof entry === 'string' ? [entry, entry] : [entry.one, entry.other];
    const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
    const params: MessageParams = Object.fromEntries(
      names.map((name) => [name, name === 'count' ? 1234 : `some-${name}`]),
    );
    const expected = fillMessage(translations.get(text)?.at(-1) ?? '', params, ownersLanguage);
    expect(expected).not.toBe('');
    expect(translateServerMessage(serverMessage(code as MessageCode, params as never))).toBe(expected);
  }
});

it.each([
  ['de_DE', 'Der Abwesenheitsmodus ist bis 23. Nov. 2026, 18:05 eingeschaltet.'],
  ['es_ES', 'El modo ausente está activado hasta el 23 nov 2026, 18:05.'],
  ['it_IT', 'La modalità assenza è attiva fino al 23 nov 2026, 18:05.'],
])('a time in a text of the server has the 24-hour format in %s', (locale, expected) => {
  speak(locale);
  expect(plain(translateServerMessage(serverMessage('away_until', { time: { time: '2026-11-23 18:05' } })))).toBe(
    expected,
  );
});

it('an event formats days and times in the language', () => {
  speak('de_DE');
  const event = { kind: 'product.setting', object: 'Away Mode', objectType: '', before: 'Off' };
  const format = (after: string) => plain(eventSentence({ ...event, after }, ownersLanguage));
  expect(format(toEventValue('away.period', '2026-11-23', '2026-12-01'))).toContain('23. Nov. 2026 – 1. Dez. 2026');
  setLanguage('en-US', null);
  expect(format(toEventValue('away.daily', '22:00', '06:00'))).toMatch(/10:00 PM.*6:00 AM/);
});

it('WordPress’s roles are translated, and those of plugins are unchanged', () => {
  speak('it_IT');
  expect(formatRole('administrator', translate)).toBe('Amministratore');
  expect(formatRole('shop_manager', translate)).toBe('shop_manager');
});

it('a compiled catalogue translates a plural by its number', () => {
  const header = { 'Plural-Forms': 'nplurals=2; plural=(n != 1);' };
  const days = { text: '%d day', plural: '%d days', files: ['a.tsx'], forms: ['%d Tag', '%d Tage'] };
  setLanguage('de', JSON.parse(compileJed('de_DE', { header, entries: [days] }, 'dashboard')));
  expect(_n('%d day', '%d days', 2, TEXT_DOMAIN)).toBe('%d Tage');
  expect(_n('%d day', '%d days', 1, TEXT_DOMAIN)).toBe('%d Tag');
});

it('the pseudo-locale changes every text of the dashboard', async () => {
  const texts = await collectTexts(root);
  setLanguage('en', JSON.parse(pseudoLocale(texts)));
  expect(texts.filter(({ text }) => translate(text) === text)).toEqual([]);
});
