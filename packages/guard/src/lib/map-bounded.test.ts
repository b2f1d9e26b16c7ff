import { describe, expect, it } from 'vitest';
import { eventually } from '../../test/support/scratch.js';
import { mapBounded } from './map-bounded.js';

/** A promise and the function that resolves it. */
function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** No call steps aside within a test. */
const PATIENT = { afterMs: 3_600_000, max: 1000 };
const count = (length: number) => Array.from({ length }, (_, at) => at);

describe('a bounded map', () => {
  it('has the results in the order of the items, whichever ends first', async () => {
    const gates = count(3).map(gate);
    const mapped = mapBounded(count(3), { atOnce: 3, aside: PATIENT }, async (at) => {
      await gates[at]?.opened;
      return `item ${at}`;
    });
    for (const each of [...gates].reverse()) each.open();
    expect(await mapped).toEqual(['item 0', 'item 1', 'item 2']);
  });

  it('makes no more calls at a time than it may, and as many as it may', async () => {
    let [open, max] = [0, 0];
    const full = gate();
    await mapBounded(count(20), { atOnce: 4, aside: PATIENT }, async () => {
      max = Math.max(max, ++open);
      // The first four wait for each other.
      if (open === 4) full.open();
      await full.opened;
      open--;
    });
    expect(max).toBe(4);
  });

  it('of nothing has no results', async () => {
    expect(await mapBounded([], { atOnce: 4, aside: PATIENT }, async () => 1)).toEqual([]);
  });

  it('lets others pass a slow call', async () => {
    const last = gate();
    const done: number[] = [];
    // The slow items in the middle end only after the last one.
    await mapBounded(count(12), { atOnce: 2, aside: { afterMs: 1, max: 10 } }, async (at) => {
      if (at === 11) last.open();
      if (at >= 4 && at < 8) await last.opened;
      done.push(at);
    });
    expect(done.indexOf(11)).toBeLessThan(done.indexOf(4));
    expect(done.sort((a, b) => a - b)).toEqual(count(12));
  });

  it('lets only so many slow calls stand aside', async () => {
    const [started, end] = [new Set<number>(), gate()];
    const mapped = mapBounded(count(40), { atOnce: 3, aside: { afterMs: 1, max: 2 } }, async (at) => {
      started.add(at);
      // Ten end in time.
      if (at >= 10) await end.opened;
    });
    // Three calls, and two that stand aside.
    await eventually(() => started.size === 15);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(started.size).toBe(15);
    end.open();
    await mapped;
  });

  it('makes no more calls where every one is slow', async () => {
    const [started, end] = [new Set<number>(), gate()];
    const mapped = mapBounded(count(40), { atOnce: 3, aside: { afterMs: 1, max: 10 } }, async (at) => {
      started.add(at);
      await end.opened;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(started.size).toBe(3);
    end.open();
    await mapped;
  });

  it('fails with the first error, and starts no further calls', async () => {
    const started: number[] = [];
    await expect(
      mapBounded(count(9), { atOnce: 1, aside: PATIENT }, async (at) => {
        started.push(at);
        if (at === 2) throw new Error('broken');
      }),
    ).rejects.toThrow('broken');
    expect(started).toEqual([0, 1, 2]);
  });
});
