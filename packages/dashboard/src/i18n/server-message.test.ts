import { serverMessage } from '@security-optimizer/contract/server-messages';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setLanguage } from './locale.js';
import { translateServerMessage, translateTexts } from './server-message.js';

const german = {
  '': { domain: 'messages', lang: 'de_DE', plural_forms: 'nplurals=2; plural=(n != 1);' },
  plugins_failed: ['{count} Plugin ist fehlgeschlagen.', '{count} Plugins sind fehlgeschlagen.'],
  plugins_outdated: ['Ein Plugin ist veraltet', '{count} Plugins sind veraltet'],
  visitor_unblocked: ['{name} ist nicht mehr blockiert.'],
  report_failed_retry: ['Der Bericht an {email} ist fehlgeschlagen. {reason} Nächster Versuch: {time}.'],
  mail_server_refused: ['Der Mailserver {host} sagt: {answer}'],
  default_role: ['Neue Benutzer werden {role}'],
  Editor: ['Redakteur'],
  Two: ['Zwei'],
};

beforeEach(() => {
  setLanguage('de', german);
});
afterEach(() => {
  setLanguage('en', null);
});

/** Intl separates parts by narrow and other spaces. */
const plain = (text: string) => text.replace(/\s/g, ' ');

describe('a text of the server with values', () => {
  it.each([
    [serverMessage('plugins_failed', { count: 1 }), '1 Plugin ist fehlgeschlagen.'],
    [serverMessage('plugins_failed', { count: 1234 }), '1.234 Plugins sind fehlgeschlagen.'],
    [serverMessage('plugins_outdated', { count: { inWords: 1 } }), 'Ein Plugin ist veraltet'],
    [serverMessage('plugins_outdated', { count: { inWords: 2 } }), 'Zwei Plugins sind veraltet'],
    [serverMessage('plugins_outdated', { count: { inWords: 1234 } }), '1.234 Plugins sind veraltet'],
    [serverMessage('visitor_unblocked', { name: '192.0.2.1' }), '192.0.2.1 ist nicht mehr blockiert.'],
    [serverMessage('default_role', { role: { text: 'Editor' } }), 'Neue Benutzer werden Redakteur'],
    [serverMessage('default_role', { role: 'shop_manager' }), 'Neue Benutzer werden shop_manager'],
  ])('is written in the owner’s language: %j', (message, expected) => {
    expect(translateServerMessage(message)).toBe(expected);
  });

  it('contains values unchanged, even if they look like placeholders or patterns', () => {
    expect(translateServerMessage(serverMessage('visitor_unblocked', { name: '{count} $& Two' }))).toBe(
      '{count} $& Two ist nicht mehr blockiert.',
    );
  });

  it('translates the texts inside it, and formats times in the language', () => {
    const reason = serverMessage('mail_server_refused', { host: 'mail.example.net', answer: '550 no such user.' });
    const time = { time: '2026-11-23 06:00' };
    const message = serverMessage('report_failed_retry', { email: 'a@example.com', reason, time });
    expect(plain(translateServerMessage(message))).toBe(
      'Der Bericht an a@example.com ist fehlgeschlagen. Der Mailserver mail.example.net sagt: 550 no such user. Nächster Versuch: 23. Nov. 2026, 06:00.',
    );
  });

  it('is English without a translation, with times in the format of the country', () => {
    setLanguage('en-US', null);
    const message = serverMessage('away_until', { time: { time: '2026-11-23 18:05' } });
    expect(plain(translateServerMessage(message))).toBe('Away Mode is on until Nov 23, 2026, 6:05 PM.');
    setLanguage('en-GB', null);
    expect(plain(translateServerMessage(message))).toBe('Away Mode is on until 23 Nov 2026, 18:05.');
    const odd = serverMessage('away_until', { time: { time: 'soon' } });
    expect(translateServerMessage(odd)).toBe('Away Mode is on until soon.');
  });
});

describe('a response', () => {
  const { code, params, english } = serverMessage('visitor_unblocked', { name: '192.0.2.1' });

  it('has its texts translated at the places that it lists', () => {
    const body = {
      message: english,
      fields: { 'a/b~c': english },
      data: { items: [{ reason: english }] },
      texts: ['/message', '/fields/a~1b~0c', '/data/items/0/reason'].map((at) => ({ at, code, params })),
    };
    translateTexts(body);
    const expected = '192.0.2.1 ist nicht mehr blockiert.';
    expect(body).toMatchObject({
      message: expected,
      fields: { 'a/b~c': expected },
      data: { items: [{ reason: expected }] },
    });
  });

  it.each([
    null,
    7,
    { texts: 'none' },
    { texts: [null, 7, {}] },
    { message: english, texts: [{ at: '/nowhere/at/all', code, params }] },
    { message: english, texts: [{ at: '/__proto__/message', code, params }] },
    { message: 7, texts: [{ at: '/message', code, params }] },
    { message: english, texts: [{ at: '/message', code: 7, params: null }] },
  ])('that is malformed is not changed: %j', (body) => {
    const before = JSON.stringify(body);
    translateTexts(body);
    expect(JSON.stringify(body)).toBe(before);
  });
});
