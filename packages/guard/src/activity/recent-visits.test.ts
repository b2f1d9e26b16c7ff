import { describe, expect, it } from 'vitest';
import { NOT_FOLDED, PackedVisitBuilder, RecentVisits, visitHash } from './packed-visits.js';

const SEED = 0x5eed;
const FACTS = { at: 1, agent: null, count: 1, number: 0, repeats: 0, ...NOT_FOLDED };

function visit(target: string, status = 200) {
  return { address: '192.0.2.7', status, rule: null, target };
}

/** Packs a visit and stores where. */
function remember(
  recent: RecentVisits,
  pack: PackedVisitBuilder,
  key: ReturnType<typeof visit>,
  hash = visitHash(key, SEED),
) {
  recent.put(hash, pack, pack.append(key, FACTS));
}

function isKnown(recent: RecentVisits, key: ReturnType<typeof visit>, site = 'site', hash = visitHash(key, SEED)) {
  return recent.find(hash, site, key) !== -1;
}

describe('recent visits', () => {
  it('are found where they were packed', () => {
    const recent = new RecentVisits();
    const pack = new PackedVisitBuilder('site');
    for (let i = 0; i < 5000; i++) remember(recent, pack, visit(`/${i}`));
    let found = 0;
    for (let i = 0; i < 5000; i++) {
      const position = recent.find(visitHash(visit(`/${i}`), SEED), 'site', visit(`/${i}`));
      if (position !== -1 && recent.packAt(position).isAt(recent.offsetAt(position), visit(`/${i}`))) found++;
    }
    // A few of so many find no free slot.
    expect(found).toBeGreaterThan(4950);
    expect(isKnown(recent, visit('/5000'))).toBe(false);
  });

  it('are not found for another site', () => {
    const recent = new RecentVisits();
    remember(recent, new PackedVisitBuilder('site'), visit('/'));
    expect([isKnown(recent, visit('/')), isKnown(recent, visit('/'), 'other')]).toEqual([true, false]);
  });

  it('with the same hash are distinguished by their key', () => {
    const recent = new RecentVisits();
    const pack = new PackedVisitBuilder('site');
    remember(recent, pack, visit('/a'), 7);
    remember(recent, pack, visit('/b'), 7);
    expect(isKnown(recent, visit('/a'), 'site', 7)).toBe(true);
    expect(isKnown(recent, visit('/b'), 'site', 7)).toBe(true);
    expect(isKnown(recent, visit('/c'), 'site', 7)).toBe(false);
    expect(isKnown(recent, visit('/a', 404), 'site', 7)).toBe(false);
  });

  it('with the same hash do not slow down a search, even thousands of them', () => {
    const recent = new RecentVisits();
    const pack = new PackedVisitBuilder('site');
    for (let i = 0; i < 5000; i++) remember(recent, pack, visit(`/${i}`), 7);
    let known = 0;
    for (let i = 0; i < 5000; i++) if (isKnown(recent, visit(`/${i}`), 'site', 7)) known++;
    expect(known).toBeLessThanOrEqual(8);
  });

  it('are found for one more rotation, and longer when they are found again', () => {
    const recent = new RecentVisits();
    const pack = new PackedVisitBuilder('site');
    remember(recent, pack, visit('/once'));
    remember(recent, pack, visit('/again'));
    recent.rotate();
    expect(isKnown(recent, visit('/again'))).toBe(true);
    recent.rotate();
    expect([isKnown(recent, visit('/once')), isKnown(recent, visit('/again'))]).toEqual([false, true]);
  });

  it('are found where they were packed last, not where they were before', () => {
    const recent = new RecentVisits();
    const first = new PackedVisitBuilder('site');
    const second = new PackedVisitBuilder('site');
    remember(recent, first, visit('/'));
    const hash = visitHash(visit('/'), SEED);
    const position = recent.find(hash, 'site', visit('/'));
    recent.move(position, second, second.append(visit('/'), FACTS));
    expect(recent.packAt(recent.find(hash, 'site', visit('/')))).toBe(second);
  });

  it('are dropped when there are too many, so that searches remain short', () => {
    const recent = new RecentVisits();
    const pack = new PackedVisitBuilder('site');
    for (let i = 0; i < 100_000; i++) remember(recent, pack, visit(`/${i}`));
    expect(isKnown(recent, visit('/99999'))).toBe(true);
    expect(isKnown(recent, visit('/0'))).toBe(false);
  });
});

it('the hash of a visit depends on its whole key and on the seed', () => {
  const hashes = [
    visitHash(visit('/a'), 1),
    visitHash(visit('/a'), 2),
    visitHash(visit('/b'), 1),
    visitHash(visit('/a', 404), 1),
    visitHash({ ...visit('/a'), address: '192.0.2.8' }, 1),
  ];
  expect(new Set(hashes).size).toBe(hashes.length);
});
