import { afterEach, describe, expect, it } from 'vitest';
import { setLanguage, TEXT_DOMAIN } from './locale.js';
import { _n, translate } from './translate.js';

afterEach(() => setLanguage('en', null));

describe('setLanguage', () => {
  const german = { '': { plural_forms: 'nplurals=2; plural=(n != 1);' }, 'Try again': ['Noch einmal'] };

  it('accepts messages alone', () => {
    setLanguage('en', german);
    expect(translate('Try again')).toBe('Noch einmal');
    expect(translate('Log in')).toBe('Log in');
  });

  it.each([TEXT_DOMAIN, 'messages'])('accepts a complete Jed file with the domain %s', (domain) => {
    setLanguage('en', { domain: 'messages', locale_data: { [domain]: german } });
    expect(translate('Try again')).toBe('Noch einmal');
  });

  it.each([
    ['a missing file', null],
    ['an empty object', {}],
    ['a header without entries', { '': { lang: 'en', plural_forms: 'nplurals=2; plural=(n != 1);' } }],
    ['a Jed file of another domain', { locale_data: { other: german } }],
    ['entries of the wrong type', { 'Try again': 'Noch einmal', 'Log in': [7] }],
  ])('falls back to English for %s', (_name, data) => {
    setLanguage('en', german);
    setLanguage('en', data);
    expect(translate('Try again')).toBe('Try again');
    expect(translate('Log in')).toBe('Log in');
  });

  it('falls back to English for an invalid plural rule', () => {
    setLanguage('en', { ...german, '': { plural_forms: 'nonsense' } });
    expect(_n('%d option', '%d options', 2, TEXT_DOMAIN)).toBe('%d options');
    expect(translate('Try again')).toBe('Try again');
  });
});
