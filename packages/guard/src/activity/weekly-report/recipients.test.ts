import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../lib/api-error.js';
import { normalEmail, readRecipients, recipientId } from './recipients.js';

function refusal(entries: readonly string[], most = 5): unknown {
  try {
    return readRecipients(entries, most);
  } catch (error) {
    return (error as ApiError).fields;
  }
}

describe('the recipients of weekly reports', () => {
  it.each([
    ['owner@example.com', 'owner@example.com'],
    ['  Owner+Reports@Example.COM ', 'owner+reports@example.com'],
    ["o'neil@mail.example.com", "o'neil@mail.example.com"],
    ['owner@bücher.example', 'owner@xn--bcher-kva.example'],
  ])('%s is taken as %s', (text, email) => {
    expect(normalEmail(text)).toBe(email);
  });

  it.each([
    'owner',
    'owner@',
    '@example.com',
    'owner@example',
    'owner@192.0.2.1',
    'owner@[192.0.2.1]',
    'owner..x@example.com',
    '.owner@example.com',
    'owner@-example.com',
    'owner@exa_mple.com',
    'owner@example.com\r\nBcc: other@example.com',
    'owner@example.com, other@example.com',
    'Owner <owner@example.com>',
    '"owner"@example.com',
    `${'a'.repeat(65)}@example.com`,
    `owner@${'a'.repeat(60)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.example`,
    'owner@other@example.com',
  ])('%j is no address', (text) => {
    expect(normalEmail(text)).toBeNull();
  });

  it('each bad row is named by its position, with the text of the specification', () => {
    expect(refusal(['a@example.com', '', 'x', 'A@EXAMPLE.com'])).toEqual({
      1: 'This field is required.',
      2: 'Invalid email address.',
    });
  });

  it('count once when they are named twice, in whatever case', () => {
    const twice = ['a@example.com', 'B@example.com', ' A@EXAMPLE.com', 'b@example.com'];
    expect(refusal(twice, 2)).toEqual(['a@example.com', 'b@example.com']);
  });

  it('are as many as allowed', () => {
    const many = ['a', 'b', 'c'].map((name) => `${name}@example.com`);
    expect(refusal(many, 3)).toEqual(many);
    expect(refusal(many, 2)).toEqual({ entries: 'Enter at most 2 e-mail addresses.' });
    expect(refusal([], 2)).toEqual([]);
  });

  it('what is stored is safe in a header, and the same again when it is sent back', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.emailAddress(), fc.string({ unit: 'binary' })), (text) => {
        const email = normalEmail(text);
        if (email === null) return;
        expect(email).toMatch(/^[\x21-\x7e]{3,254}$/);
        expect(email).not.toMatch(/[<>,;:"()[\]\\ ]/);
        expect(normalEmail(email)).toBe(email);
      }),
    );
  });

  it('have ids that stay, whatever list they are in', () => {
    const id = recipientId('owner@example.com');
    expect(id).toBe(recipientId('owner@example.com'));
    expect(Number.isSafeInteger(id)).toBe(true);
    expect(recipientId('other@example.com')).not.toBe(id);
  });
});
