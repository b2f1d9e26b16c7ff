import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventSentence } from '@security-optimizer/contract/activity/event-kinds';
import { formatRole, toEventValue } from '@security-optimizer/contract/activity/event-values';
import { fillMessage, type MessageParams } from '@security-optimizer/contract/server-message';
import { type MessageCode, serverMessage, serverMessages } from '@security-optimizer/contract/server-messages';
import { afterEach, expect, it } from 'vitest';
import { compileJed } from '../../../scripts/lib/texts/compile.mjs';
import { readLanguages } from '../../../scripts/lib/texts/languages.mjs';
import { readMessageCodes } from '../../../scripts/lib/texts/message-codes.mjs';
import { loadLocale } from '../src/i18n/locale.js';
import { ownersLanguage, setTimeLocale, translateServerMessage } from '../src/i18n/server-message.js';
import { translate } from '../src/i18n/translate.js';

const root = join(fileURLToPath(import.meta.url), '../../../..');
const languages = await readLanguages(root);
const codes = await readMessageCodes(root);

afterEach(() => {
  loadLocale(null);
  setTimeLocale('en');
});

function speak(locale: string): void {
  loadLocale(JSON.parse(compileJed(locale, languages.get(locale), 'dashboard', codes)));
  setTimeLocale(locale.replace('_', '-'));
}

/** Intl puts narrow and other blanks between its parts. */
const plain = (text: string) => text.replace(/\s/g, ' ');

it.each([...languages.keys()])('every text of guard with values is translated by its code in %s', (locale) => {
  speak(locale);
  const translations = new Map<string, string[]>(
    languages.get(locale).entries.map(({ text, said }: { text: string; said: string[] }) => [text, said]),
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
])('a time in a text of the server has 24 hours in %s', (locale, said) => {
  speak(locale);
  expect(plain(translateServerMessage(serverMessage('away_until', { time: { time: '2026-11-23 18:05' } })))).toBe(said);
});

it('an event tells its days and times as the language writes them', () => {
  speak('de_DE');
  const words = { kind: 'product.setting', object: 'Away Mode', objectType: '', before: 'Off' };
  const format = (after: string) => plain(eventSentence({ ...words, after }, ownersLanguage));
  expect(format(toEventValue('away.period', '2026-11-23', '2026-12-01'))).toContain('23. Nov. 2026 – 1. Dez. 2026');
  setTimeLocale('en-US');
  expect(format(toEventValue('away.daily', '22:00', '06:00'))).toMatch(/10:00 PM.*6:00 AM/);
});

it('roles are said as WordPress says them, and those of plugins as they are', () => {
  speak('it_IT');
  expect(formatRole('administrator', translate)).toBe('Amministratore');
  expect(formatRole('shop_manager', translate)).toBe('shop_manager');
});
