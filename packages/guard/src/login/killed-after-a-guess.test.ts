import { expect, it } from 'vitest';
import { serve } from '../../test/support/command-line.js';
import { openTestDatabase } from '../../test/support/database.js';
import { lockTable } from '../../test/support/database-faults.js';
import { fakeWordPress } from '../../test/support/fake-wordpress.js';
import { dataFolderFor } from '../../test/support/running-guard.js';
import { eventually } from '../../test/support/scratch.js';
import { SECRET } from '../../test/support/site-config.js';
import { sqlLoginAttemptStore } from './login-attempts-store.js';

/** Guard in a separate process, and a lock that blocks its writes. */
async function processUnderTest() {
  const dataDir = await dataFolderFor(await fakeWordPress(SECRET));
  const guard = await serve(dataDir);
  const lock = () => lockTable(dataDir, 'login_attempts');
  const guess = (): Promise<Response> =>
    fetch(`${guard.url}/wp-login.php`, { method: 'POST', body: new URLSearchParams({ log: 'owner', pwd: 'wrong' }) });
  const stored = async (): Promise<number> => {
    const db = await openTestDatabase(dataDir);
    try {
      return (await sqlLoginAttemptStore(db).load('site'))[0]?.failures ?? 0;
    } finally {
      await db.destroy();
    }
  };
  return { guard, lock, guess, stored };
}

it('a guess that got a response is still counted after guard is killed immediately', async () => {
  const { guard, lock, guess, stored } = await processUnderTest();
  for (let round = 0; round < 4; round++) await guess();
  // Without this lock the write would usually be faster than the kill.
  const unlock = await lock();
  const freed = new Promise<void>((resolve, reject) => {
    setTimeout(() => unlock().then(resolve, reject), 300);
  });
  await guess();
  guard.child.kill('SIGKILL');
  await new Promise((resolve) => guard.child.once('exit', resolve));
  await freed;
  expect(await stored()).toBe(5);
});

it('responds while the database is locked, logs it, and locks the address nevertheless', async () => {
  const { guard, lock, guess } = await processUnderTest();
  const unlock = await lock();
  expect((await guess()).status).toBe(200);
  await eventually(() => guard.log().includes('"event":"login-attempts-store-slow"'));
  // The response was sent after the timeout, not because the database write had failed.
  expect(guard.log()).not.toMatch(/"login-attempts-store-failed"[\s\S]*"login-attempts-store-slow"/);
  for (let round = 1; round < 5; round++) expect((await guess()).status).toBe(200);
  expect((await guess()).status).toBe(429);
  await unlock();
});
