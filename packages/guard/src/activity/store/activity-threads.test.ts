import { readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, it } from 'vitest';
import { allVisits, SITE, testStore, visitsUntilNow } from '../../../test/support/activity-store.js';
import { packVisits } from '../packed-visits.js';

/**
 * Returns the nice value of each thread of this process, the main one first; empty where threads have no priorities.
 */
function niceness(): number[] {
  if (process.platform !== 'linux') return [];
  // The main thread need not have the lowest id, since ids wrap around.
  const others = readdirSync('/proc/self/task').filter((thread) => Number(thread) !== process.pid);
  return [process.pid, ...others].map((thread) => getPriority(Number(thread)));
}

it('requests have priority: the writer thread has the lowest priority, the reader thread the second lowest', async () => {
  const before = niceness();
  const store = await testStore();
  await store.write([{ site: SITE, visits: packVisits(visitsUntilNow(3, 1)), dropped: 0 }]);
  expect(await allVisits(store)).toHaveLength(3);
  const after = niceness();
  expect(after[0]).toBe(before[0]);
  const nicer = (than: number) => after.filter((nice) => nice === (before[0] ?? 0) + than).length;
  expect([nicer(10), nicer(5)]).toEqual(process.platform === 'linux' ? [1, 1] : [0, 0]);
});
