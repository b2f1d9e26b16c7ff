import { describe, expect, it } from 'vitest';
import { createRequestIds, toReference } from './request-id.js';

describe('request ids', () => {
  it('are 16 hexadecimal digits and never repeat', () => {
    const next = createRequestIds();
    const ids = Array.from({ length: 20_000 }, next);
    expect(ids.every((id) => /^[0-9a-f]{16}$/.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('of two processes have different prefixes', () => {
    const prefixes = new Set(Array.from({ length: 50 }, () => createRequestIds()().slice(0, 6)));
    expect(prefixes.size).toBeGreaterThan(45);
  });

  it('have references that can be read aloud: no letters that look alike, and a different one for each request', () => {
    const next = createRequestIds();
    const references = Array.from({ length: 5000 }, () => toReference(next()));
    expect(references.every((text) => /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/.test(text))).toBe(true);
    expect(new Set(references).size).toBe(references.length);
  });

  it('keep their last 40 bits in the reference', () => {
    expect(toReference('0000000000000000')).toBe('0000-0000');
    expect(toReference('abcdefffffffffff')).toBe('ZZZZ-ZZZZ');
    expect(toReference('0000000000000021')).toBe('0000-0011');
  });
});
