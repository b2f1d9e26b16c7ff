import { afterEach, describe, expect, it } from 'vitest';
import { loadLocale } from './load-locale.js';
import { say } from './say.js';

afterEach(() => loadLocale(null));

const plugins = (count: number) => ({
  text: 'One plugin is out of date',
  plural: '{count} plugins are out of date',
  count,
  words: {},
});
const german = {
  '': { plural_forms: 'nplurals=2; plural=(n != 1);' },
  'One plugin is out of date': ['Ein Plugin ist veraltet', '{count} Plugins sind veraltet'],
  'Anyone can register as {role}': ['Jeder kann sich als {role} registrieren'],
  Two: ['Zwei'],
  Open: ['Öffnen'],
};

describe('a text of the server', () => {
  it('is said in English with its words and numbers', () => {
    expect(say('', plugins(1), 'en')).toBe('One plugin is out of date');
    expect(say('', plugins(2), 'en')).toBe('Two plugins are out of date');
    expect(say('', plugins(1234), 'en')).toBe('1,234 plugins are out of date');
  });

  it('is said in the language of the owner', () => {
    loadLocale(german);
    expect(say('', plugins(1), 'de')).toBe('Ein Plugin ist veraltet');
    expect(say('', plugins(2), 'de')).toBe('Zwei Plugins sind veraltet');
    expect(say('', plugins(1234), 'de')).toBe('1.234 Plugins sind veraltet');
    expect(say('Open', null, 'de')).toBe('Öffnen');
  });

  it('keeps a word as it is, whatever stands in it', () => {
    loadLocale(german);
    const phrase = {
      text: 'Anyone can register as {role}',
      plural: null,
      count: null,
      words: { role: '{count} $& Two' },
    };
    expect(say('', phrase, 'de')).toBe('Jeder kann sich als {count} $& Two registrieren');
  });
});
