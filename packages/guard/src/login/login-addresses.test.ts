import { describe, expect, it } from 'vitest';
import { createLoginAddresses } from './login-addresses.js';

const { isNamedIn, redact } = createLoginAddresses(['My-Door', 'come/in', '', 'old_door', 'my-door']);

describe('a login address', () => {
  it.each([
    '/my-door',
    '/my-door/',
    '/MY-DOOR',
    '/blog/my-door',
    '/blog/index.php/my-door/',
    '/index.php/my-door',
    '//my-door',
    '/./my-door',
    '/x/../my-door',
    '/my%2ddoor',
    '/%6d%79-%64oor',
    '/my-door?x=1',
    '/my-door;x',
    '/my-door/x',
    '/\u00ef\u00bd\u008dy-door',
    '/%EF%BD%8Dy-door',
    '/come/in',
    '/come//in/',
    '/come/./in',
    '/come%2fin',
    '/old_door',
    '/wp-login.php?redirect_to=https%3A%2F%2Fexample.com%2Fmy-door%2F',
    '/?x=https%253A%252F%252Fexample.com%252Fmy-door',
    '/?my-door',
    '/%ff/my-door',
    'my-door',
  ])('is found in %s', (target) => {
    expect(isNamedIn(target)).toBe(true);
  });

  it.each(['/', '/my-doors', '/not-my-door', '/come', '/come-in', '/in/come', '/shop/', '/?x=%', '/old-door'])(
    'is not found in %s',
    (target) => {
      expect(isNamedIn(target)).toBe(false);
    },
  );

  it('is redacted in a text, while equal words of the text are not', () => {
    expect(redact('Changed Custom Login URL from Default to /my-door')).toBe(
      'Changed Custom Login URL from Default to (login address)',
    );
    expect(redact('https://example.com/blog/MY-door/?a and /come/in.')).toBe(
      'https://example.com/blog(login address)/?a and (login address).',
    );
    expect(redact('Paint my-door green, /my-doors')).toBe('Paint my-door green, /my-doors');
  });

  it('is never found for a site that never had one', () => {
    const none = createLoginAddresses(['', '/']);
    expect([none.isNamedIn('/'), none.isNamedIn('//x'), none.redact('/ //')]).toEqual([false, false, '/ //']);
  });
});
