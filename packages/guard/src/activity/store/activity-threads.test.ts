import { readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, it } from 'vitest';
import { allVisits, SITE, testStore, visitsUntilNow } from '../../../test/support/activity-store.js';
import { packVisits } from '../packed-visits.js';

/** How nice each thread of this process is, the main one first; empty where threads have no priority of their own. */
function niceness(): number[] {
  if (process.platform !== 'linux') return [];
  // The main one is not the lowest number where numbers have begun anew.
  const others = readdirSync('/proc/self/task').filter((thread) => Number(thread) !== process.pid);
  return [process.pid, ...others].map((thread) => getPriority(Number(thread)));
}

it('lets requests go first: the writing thread has the lowest priority, the reading one the second lowest', async () => {
  const before = niceness();
  const store = await testStore();
  await store.write({ site: SITE, visits: packVisits(visitsUntilNow(3, 1)), dropped: 0 });
  expect(await allVisits(store)).toHaveLength(3);
  const after = niceness();
  expect(after[0]).toBe(before[0]);
  const nicer = (than: number) => after.filter((nice) => nice === (before[0] ?? 0) + than).length;
  expect([nicer(10), nicer(5)]).toEqual(process.platform === 'linux' ? [1, 1] : [0, 0]);
});
