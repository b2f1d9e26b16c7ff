import { describe, expect, it } from 'vitest';
import { english, toLanguage } from '../i18n/language.js';
import { createResetMail, createResetMails } from './reset-mail.js';

const PLACES = ['{{site}}', '{{login}}', '{{link}}', '{{until}}', '{{date}}'];

describe('the mail of a forced password reset', () => {
  it('says in HTML and in plain text for whom and for which site it is, and until when its link works', () => {
    const mail = createResetMail(english);
    for (const place of PLACES) {
      expect(mail.html).toContain(place);
      expect(mail.text).toContain(place);
    }
    expect(mail.text).toContain('The link works until: {{until}}');
    expect(mail.subject).toBe('[{{site}}] Choose a new password');
  });

  it('has its frame: a document of the language with the link as a button, and nothing from elsewhere', () => {
    const { html } = createResetMail(english);
    expect(html).toMatch(/^<!DOCTYPE html><html dir="ltr" lang="en">/);
    expect(html).toContain('href="{{link}}"');
    expect(html).not.toMatch(/<(?:img|script|link)\b|url\(/);
  });

  it('is there for every catalogue and in English, which is for all other languages', () => {
    const german = toLanguage({
      locale: 'de_DE',
      lang: 'de',
      texts: new Map([['The link works until', ['Der Link gilt bis']]]),
    });
    expect(createResetMail(german).text).toContain('Der Link gilt bis: {{until}}');
    const missing = () => {
      throw new Error('No catalogues.');
    };
    expect(Object.keys(createResetMails(() => english, missing))).toEqual(['en_US']);
  });
});
