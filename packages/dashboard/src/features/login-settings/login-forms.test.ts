import { describe, expect, it } from 'vitest';
import { getRenameErrors, toLoginPath } from './login-forms.js';

const HOME = 'https://example.com';

describe('the login path as people type or paste it', () => {
  it.each([
    ['my-door', 'my-door'],
    [' /my-door/ ', 'my-door'],
    ['https://example.com/my-door', 'my-door'],
    ['HTTPS://Example.com/my-door/', 'my-door'],
    ['\u200bhttps://example.com/my-door\ufeff', 'my-door'],
    ['\u200e/my-door\u200f', 'my-door'],
    ['／ｍｙ－ｄｏｏｒ／', 'my-door'],
    ['my\u2011door', 'my-door'],
    ['ｈｔｔｐｓ：／／ｅｘａｍｐｌｅ．ｃｏｍ／my-door', 'my-door'],
    ['door٢', 'door2'],
    ['\u2060', ''],
  ])('%j is sent as %j', (typed, path) => {
    expect(toLoginPath(typed, HOME)).toBe(path);
  });

  it('keeps characters that only look like ASCII, so that the server refuses them', () => {
    for (const typed of ['dооr', 'door²', 'do\u202eor']) expect(toLoginPath(typed, HOME)).toBe(typed);
  });
});

describe('new usernames', () => {
  it('are compared without invisible characters', () => {
    const names = [
      ['1', 'writer'],
      ['2', '\u200bwriter\ufeff '],
      ['3', '\u2060'],
    ] as const;
    const errors = getRenameErrors(names, []);
    expect(Object.keys(errors)).toEqual(['2', '3']);
    expect(getRenameErrors([['1', 'writer\u200b']], [])).toEqual({});
  });
});
