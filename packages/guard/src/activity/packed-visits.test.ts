import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOT_FOLDED, PackedVisitBuilder, packVisits, unpackVisits } from './packed-visits.js';

const character = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
const text = (maxLength: number, minLength = 0) =>
  fc.string({ unit: character, minLength: minLength, maxLength: maxLength });
const visit = fc.record({
  at: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  address: text(45),
  target: text(500),
  status: fc.integer({ min: 100, max: 999 }),
  rule: fc.option(text(40, 1)),
  agent: fc.option(text(300)),
  count: fc.integer({ min: 1, max: 1_000_000_000 }),
  number: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  repeats: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  more: fc.integer({ min: 0, max: 1_000_000 }),
  moreBits: fc.option(fc.constantFrom(0, 24, 48, 64)),
  others: fc.uint8Array({ maxLength: 500 }),
  method: fc.constantFrom('', 'GET', 'POST', 'REPORT'),
  failedLogins: fc.integer({ min: 0, max: 2 ** 16 - 1 }),
  tried: text(255),
  referer: text(300),
  origin: text(200),
  reference: fc.integer({ min: 0, max: 2 ** 40 - 1 }),
  lastReference: fc.integer({ min: 0, max: 2 ** 40 - 1 }),
});

const FACTS = { at: 1, agent: null, count: 1, number: 0, repeats: 0, ...NOT_FOLDED };

describe('packed visits', () => {
  it('are unpacked as they were packed, also after a copy between threads', () => {
    fc.assert(
      fc.property(fc.array(visit, { maxLength: 30 }), (visits) => {
        const packed = structuredClone(packVisits(visits));
        const unpacked = [...unpackVisits(packed)].map((out) => ({ ...out, others: new Uint8Array(out.others) }));
        expect(unpacked).toEqual(visits);
        const hits = visits.reduce((sum, { count, more, moreBits }) => sum + count + (moreBits === null ? 0 : more), 0);
        expect([packed.rows, packed.hits]).toEqual([visits.length, hits]);
      }),
    );
  });

  it('have a larger weight when they contain many other addresses', () => {
    const others = new Uint8Array(20_000);
    expect(packVisits([{ ...createVisit('/'), ...FACTS, others }]).weight).toBe(101);
  });

  it('occupy no more memory than needed when they are closed', () => {
    const { bytes } = packVisits([{ ...createVisit('/'), ...FACTS }]);
    expect(bytes.buffer.byteLength).toBe(bytes.byteLength);
  });

  it('are found at their offset, and only by their complete key', () => {
    const pack = new PackedVisitBuilder('site');
    const keys = Array.from({ length: 100 }, (_, index) => pack.append(createVisit(`/${index}`), FACTS));
    expect(keys.map((position, index) => pack.isAt(position, createVisit(`/${index}`)))).not.toContain(false);
    const position = pack.append(
      { address: '192.0.2.1', status: 403, rule: 'ab', target: '/c' },
      { ...FACTS, agent: 'agent' },
    );
    const isThere = (more: object) =>
      pack.isAt(position, { address: '192.0.2.1', status: 403, rule: 'ab', target: '/c', ...more });
    expect(isThere({})).toBe(true);
    expect(isThere({ address: '192.0.2.2' })).toBe(false);
    expect(isThere({ status: 404 })).toBe(false);
    expect(isThere({ rule: 'ac' })).toBe(false);
    expect(isThere({ rule: 'a', target: 'b/c' })).toBe(false);
    expect(isThere({ rule: null, target: 'ab/c' })).toBe(false);
    expect(isThere({ target: '/cagent' })).toBe(false);
  });

  it('count their repeats in place', () => {
    const pack = new PackedVisitBuilder('site');
    const first = pack.append(createVisit('/first'), { ...FACTS, number: 7 });
    pack.append(createVisit('/second'), FACTS);
    pack.addHit(first);
    pack.addHit(first);
    const packed = pack.close();
    expect([...unpackVisits(packed)].map(({ target, count }) => [target, count])).toEqual([
      ['/first', 3],
      ['/second', 1],
    ]);
    expect([packed.rows, packed.hits, pack.isOpen, pack.numberAt(first)]).toEqual([2, 4, false, 7]);
  });
});

function createVisit(target: string) {
  return { address: '192.0.2.7', status: 200, rule: null, target };
}
