import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readQuery } from './request.js';

it.each([
  ['', {}],
  ['page=2&list=unknown', { page: '2', list: 'unknown' }],
  ['page=1&page=2', { page: '2' }],
  ['a=b+c%2Bd', { a: 'b c+d' }],
  ['a[0][b]=1&a[0][c]=2&a[3][b]=4', { a: { 0: { b: '1', c: '2' }, 3: { b: '4' } } }],
  ['a%5B0%5D%5Bb%5D=1', { a: { 0: { b: '1' } } }],
  ['a[]=1&a[]=2', { a: { 0: '1', 1: '2' } }],
  ['a=1&a[b]=2', { a: { b: '2' } }],
  ['a[b]=2&a=1', { a: '1' }],
  ['a[b=1', { 'a[b': '1' }],
  ['a[b]c=1', { 'a[b]c': '1' }],
  ['[a]=1', { '[a]': '1' }],
])('parses %j as PHP does', (query, value) => {
  expect(readQuery(query)).toEqual(value);
});

it('gives no name a meaning in JavaScript', () => {
  const read = readQuery('__proto__[page]=7&constructor[prototype][page]=7&a[__proto__][page]=7');
  expect(read.page).toBeUndefined();
  expect(({} as { page?: string }).page).toBeUndefined();
  expect(Object.keys(read)).toEqual(['__proto__', 'constructor', 'a']);
});

it('limits the depth to that of filters, whatever the query is', () => {
  const name = `a${'[b]'.repeat(2000)}`;
  expect(readQuery(`${name}=1`)).toEqual({ [name]: '1' });
});

it('never throws', () => {
  const part = fc.constantFrom('a', '[', ']', '[]', '[0]', '=', '&', '%', '%5B', '%ff', '__proto__', '\0');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      expect(typeof readQuery(parts.join(''))).toBe('object');
    }),
  );
});
