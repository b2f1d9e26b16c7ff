import { describe, expect, it } from 'vitest';
import { readOptions, UsageError } from './options.js';

const known = ['p1', 'p2'];

describe('the options', () => {
  it('have defaults', () =>
    expect(readOptions([], known)).toEqual({ rounds: 5, seconds: 2, only: null, keep: true, json: false }));
  it('name measures in any case', () => expect(readOptions(['--only', 'P2,p1'], known).only).toEqual(['p2', 'p1']));
  it.each([[['--rounds', '0']], [['--seconds', '1.5']], [['--only', 'p9']], [['--fast']]])('refuse %j', (args) => {
    expect(() => readOptions(args, known)).toThrow(UsageError);
  });
});
