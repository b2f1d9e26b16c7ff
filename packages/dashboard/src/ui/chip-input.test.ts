import { toPlainText } from '@security-optimizer/contract/typed-text';
import { describe, expect, it } from 'vitest';
import { addChips } from './chip-input.js';

const BOTH = ['a@example.com', 'b@example.com'];

describe('entries as people type or paste them', () => {
  it.each([
    'a@example.com b@example.com',
    'a@example.com,b@example.com',
    'a@example.com\uff0cb@example.com',
    'a@example.com\u3001b@example.com',
    'a@example.com\u060c b@example.com',
    'a@example.com\u3000b@example.com',
    'a@example.com\r\nb@example.com\n',
    ',\uff0c a@example.com ,,\u3001 b@example.com\u060c',
  ])('end with a separator of any script: %j', (text) => {
    expect(addChips([], text, toPlainText)).toEqual(BOTH);
  });

  it.each([
    '\u200ea@example.com\u200b \ufeffb@example.com\u2060',
    'ａ＠ｅｘａｍｐｌｅ．ｃｏｍ b＠example．com',
    '<A@Example.com>, <B@example.com>',
    '\uff1ca@example.com\uff1e b@example.com',
  ])('are normalized and lower-cased: %j', (text) => {
    expect(addChips([], text, toPlainText)).toEqual(BOTH);
  });

  it('are unique, even if they differ only in invisible characters', () => {
    expect(addChips(['a@example.com'], 'a@example.com\u200b A@EXAMPLE.COM ａ@example.com', toPlainText)).toEqual([
      'a@example.com',
    ]);
  });

  it('are omitted if they are invisible', () => {
    expect(addChips([], '\u200b \ufeff , <> \u2060', toPlainText)).toEqual([]);
  });

  it('keep letters that only look like ASCII', () => {
    expect(addChips([], 'аdmin@example.com \u202ea@example.com', toPlainText)).toEqual([
      'аdmin@example.com',
      '\u202ea@example.com',
    ]);
  });
});
