import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadLocale } from './load-locale.js';
import { translate } from './translate.js';

const messages = {
  '': { domain: 'messages', lang: 'de_DE', plural_forms: 'nplurals=2; plural=(n != 1);' },
  '{count} plugin failed.': ['{count} Plugin ist fehlgeschlagen.', '{count} Plugins sind fehlgeschlagen.'],
  '{count} plugins failed.': ['{count} Plugin ist fehlgeschlagen.', '{count} Plugins sind fehlgeschlagen.'],
  '{name} is not blocked any more.': ['{name} ist nicht mehr blockiert.'],
  '{name} is blocked.': ['{name} ist blockiert.'],
  'From {from} to {to} it is closed.': ['Bis {to} ist ab {from} geschlossen.'],
  'An entry for %(name)s exists.': ['Es gibt einen Eintrag für %(name)s.'],
  '{from} to {to}': ['{from} bis {to}'],
  'It is saved.': ['Es ist gespeichert.'],
};

beforeEach(() => loadLocale(messages));
afterEach(() => loadLocale(null));

it.each([
  ['It is saved.', 'Es ist gespeichert.'],
  ['1 plugin failed.', '1 Plugin ist fehlgeschlagen.'],
  ['1,234 plugins failed.', '1.234 Plugins sind fehlgeschlagen.'],
  ['192.0.2.1 is not blocked any more.', '192.0.2.1 ist nicht mehr blockiert.'],
  ['From 09:00 to 17:00 it is closed.', 'Bis 17:00 ist ab 09:00 geschlossen.'],
  ['An entry for a@example.com exists.', 'Es gibt einen Eintrag für a@example.com.'],
])('says %j of the server, whose values are filled in, in the owner’s language', (text, said) => {
  expect(translate(text)).toBe(said);
});

it('puts values in as they are, also when they look like places or patterns', () => {
  expect(translate('{to} $& is blocked.')).toBe('{to} $& ist blockiert.');
});

it('leaves alone what has too little of a template, and what fits none', () => {
  expect(translate('Sunday to Monday')).toBe('Sunday to Monday');
  expect(translate('Something else')).toBe('Something else');
});

it('says it in English without a translation, also after one', () => {
  expect(translate('1 plugin failed.')).toBe('1 Plugin ist fehlgeschlagen.');
  loadLocale(null);
  expect(translate('1 plugin failed.')).toBe('1 plugin failed.');
});
