import { flag } from '@security-optimizer/contract/shapes';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { readItems, readKnown, tolerant } from './tolerant-schemas.js';

const entry = z.object({ name: z.string(), state: z.enum(['on', 'off']) });
const responseSchema = z.object({
  title: z.string(),
  count: z.int(),
  until: z.nullable(z.string()),
  blocked: flag,
  level: z.enum(['high', 'low']),
  fix: z.enum(['', 'update']),
  entries: z.array(entry),
});

describe('a tolerant schema', () => {
  const schema = tolerant(responseSchema, { level: 'low' });

  it('returns valid data unchanged, without unknown fields', () => {
    const sent = {
      title: 'A',
      count: 2,
      until: 'today',
      blocked: 1,
      level: 'high',
      fix: 'update',
      entries: [{ name: 'x', state: 'on' }],
    };
    expect(z.parse(schema, { ...sent, more: 1 })).toEqual(sent);
  });

  it.each([
    ['is missing', {}],
    [
      'has the wrong type',
      { title: [], count: 'many', until: [], blocked: 'yes', level: 'middle', fix: 'other', entries: {} },
    ],
  ])('uses an empty value if a field %s', (_, sent) => {
    expect(z.parse(schema, sent)).toEqual({
      title: '',
      count: 0,
      until: null,
      blocked: 0,
      level: 'low',
      fix: '',
      entries: [],
    });
  });

  it('converts numbers, texts and switches of another type', () => {
    const sent = { title: 404, count: '12', until: null, blocked: true, level: 'low', entries: [] };
    expect(z.parse(schema, sent)).toMatchObject({ title: '404', count: 12, blocked: 1 });
  });

  it('drops items with an unknown state, and completes the others', () => {
    const { entries } = z.parse(schema, { entries: [{ state: 'off' }, { name: 'x', state: 'half' }, null, 'x'] });
    expect(entries).toEqual([{ name: '', state: 'off' }]);
  });

  it.each([null, 'text', [], 7])('does not accept %j as an object', (sent) => {
    expect(z.safeParse(schema, sent).success).toBe(false);
  });
});

describe('readKnown', () => {
  it('returns the valid fields and drops the others', () => {
    expect(readKnown(responseSchema, { title: 'A', count: 'x', blocked: '1', entries: [{}], more: 1 })).toEqual({
      title: 'A',
      blocked: 1,
    });
    expect(readKnown(responseSchema, null)).toEqual({});
    expect(readKnown(responseSchema, [responseSchema])).toEqual({});
  });
});

describe('readItems', () => {
  it('returns the valid items, and an empty list for anything else', () => {
    expect(readItems(entry, [{ name: 'x', state: 'on' }, null, { name: 'y' }])).toEqual([{ name: 'x', state: 'on' }]);
    expect(readItems(entry, { 0: { name: 'x', state: 'on' } })).toEqual([]);
  });
});
