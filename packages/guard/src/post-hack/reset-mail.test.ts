import { describe, expect, it } from 'vitest';
import { english, toLanguage } from '../i18n/language.js';
import { createResetMail, createResetMails } from './reset-mail.js';

const PLACEHOLDERS = ['{{site}}', '{{login}}', '{{link}}', '{{until}}', '{{date}}'];

describe('the mail of a forced password reset', () => {
  it('names in HTML and plain text the user, the site, and how long its link works', () => {
    const mail = createResetMail(english);
    for (const placeholder of PLACEHOLDERS) {
      expect(mail.html).toContain(placeholder);
      expect(mail.text).toContain(placeholder);
    }
    expect(mail.text).toContain('The link works until: {{until}}');
    expect(mail.subject).toBe('[{{site}}] Choose a new password');
  });

  it('has the common frame: a document in its language with the link as a button, and no external resources', () => {
    const { html } = createResetMail(english);
    expect(html).toMatch(/^<!DOCTYPE html><html dir="ltr" lang="en">/);
    expect(html).toContain('href="{{link}}"');
    expect(html).not.toMatch(/<(?:img|script|link)\b|url\(/);
  });

  it('exists for every catalogue, and in English for all other languages', () => {
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
