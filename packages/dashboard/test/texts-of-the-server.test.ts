import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventSentence } from '@security-optimizer/contract/activity-kinds';
import { sayRole } from '@security-optimizer/contract/event-values';
import { afterEach, describe, expect, it } from 'vitest';
import { compileJed } from '../../../scripts/lib/texts/compile.mjs';
import { readLanguages } from '../../../scripts/lib/texts/languages.mjs';
import { readersOf } from '../../../scripts/lib/texts/readers.mjs';
import { loadLocale } from '../src/i18n/load-locale.js';
import { tellMomentsIn } from '../src/i18n/moments.js';
import { say } from '../src/i18n/say.js';
import { translate } from '../src/i18n/translate.js';

const languages = await readLanguages(join(fileURLToPath(import.meta.url), '../../../..'));

afterEach(() => {
  loadLocale(null);
  tellMomentsIn('en');
});

function speak(locale: string): void {
  loadLocale(JSON.parse(compileJed(locale, languages.get(locale), 'dashboard')));
  tellMomentsIn(locale.replace('_', '-'));
}

/** Intl puts narrow and other blanks between its parts. */
const plain = (text: string) => text.replace(/\s/g, ' ');

const fill = (text: string, values: (name: string) => string) => text.replace(/\{(\w+)\}/g, (_, name) => values(name));

it.each([...languages.keys()])('every sentence of guard is found again with its values in %s', (locale) => {
  speak(locale);
  const { entries } = languages.get(locale);
  const sentences = entries.filter(
    ({ text, files }: { text: string; files: string[] }) =>
      text.includes('{') && readersOf(files).has('dashboard') && files.some((file) => file.includes('/guard/')),
  );
  expect(sentences.length).toBeGreaterThan(40);
  const count = (1234).toLocaleString(locale.replace('_', '-'));
  const lost = sentences.filter(({ text, plural, said }: { text: string; plural: string | null; said: string[] }) => {
    const told = translate(fill(plural ?? text, (name) => (name === 'count' ? '1,234' : `some-${name}`)));
    return told !== fill(said.at(-1) as string, (name) => (name === 'count' ? count : `some-${name}`));
  });
  expect(lost).toEqual([]);
});

describe('a moment in a text of the server', () => {
  const away = 'Away Mode is on until 2026-11-23 18:05.';

  it.each([
    ['de_DE', 'Der Abwesenheitsmodus ist bis 23. Nov. 2026, 18:05 eingeschaltet.'],
    ['es_ES', 'El modo ausente está activado hasta el 23 nov 2026, 18:05.'],
    ['it_IT', 'La modalità assenza è attiva fino al 23 nov 2026, 18:05.'],
  ])('is told with 24 hours in %s', (locale, said) => {
    speak(locale);
    expect(plain(translate(away))).toBe(said);
  });

  it('is told by the two English clocks', () => {
    tellMomentsIn('en-US');
    expect(plain(translate(away))).toBe('Away Mode is on until Nov 23, 2026, 6:05 PM.');
    tellMomentsIn('en-GB');
    expect(plain(translate(away))).toBe('Away Mode is on until 23 Nov 2026, 18:05.');
  });

  it('is left alone in what is no moment', () => {
    tellMomentsIn('en-US');
    for (const text of [
      'backup-2026-11-23.zip is a file.',
      'Version 10:05:30-a',
      '2026-11-23-notes',
      '2001:db8::10:05',
    ]) {
      expect(translate(text)).toBe(text);
    }
  });
});

it('an event tells its days and times as the language writes them', () => {
  speak('de_DE');
  const words = { kind: 'product.setting', object: 'Away Mode', objectType: '', before: 'Off' };
  const told = (after: string) => plain(eventSentence({ ...words, after }, translate));
  expect(told('2026-11-23 to 2026-12-01')).toContain('23. Nov. 2026 bis 1. Dez. 2026');
  tellMomentsIn('en-US');
  expect(told('22:00 to 06:00 every day')).toMatch(/10:00 PM.*6:00 AM/);
});

it('the reason inside a sentence is said in the same language, down to what the mail server answered', () => {
  speak('de_DE');
  const reason = 'The mail server mail.example.net did not take it: 550 no such user.';
  const whole = `The report to a@example.com failed. ${reason} We try again at 2026-11-23 06:00.`;
  const said =
    'Der Bericht an a@example.com ist fehlgeschlagen. Der Mailserver mail.example.net hat sie nicht angenommen: 550 no such user. Nächster Versuch: 23. Nov. 2026, 06:00.';
  expect(translate(whole)).toBe(said);
  const text = 'It was tried several times. The reason: {reason}';
  expect(say('', { text, plural: null, count: null, words: { reason: whole } }, 'de-DE')).toContain(said);
});

it('roles are said as WordPress says them, and those of plugins as they are', () => {
  speak('it_IT');
  expect(sayRole('administrator', translate)).toBe('Amministratore');
  expect(sayRole('shop_manager', translate)).toBe('shop_manager');
  expect(translate('New users become Editor')).toContain('Editore');
});
