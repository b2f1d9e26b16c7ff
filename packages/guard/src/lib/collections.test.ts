import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSameData } from './collections.js';

const data = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

it('a copy is equal, and two values compare as in Node’s own comparison', () => {
  fc.assert(fc.property(data, (value) => isSameData(value, structuredClone(value))));
  fc.assert(fc.property(data, data, (one, other) => isSameData(one, other) === isDeepStrictEqual(one, other)));
});

it.each([
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: undefined }, { b: undefined }, false],
  [['a'], { 0: 'a' }, false],
  [[], null, false],
  [['a', 'b'], ['b', 'a'], false],
])('%j and %j: %s', (one, other, same) => {
  expect([isSameData(one, other), isSameData(other, one)]).toEqual([same, same]);
});
