import { expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../test/support/database.js';
import { eventually, scratchFolder } from '../../test/support/scratch.js';
import { silentLogger } from '../lib/logger.js';
import { createSettingsStore } from '../settings/settings-store.js';
import { createChangeFeed, getLatestVersion } from './change-feed.js';

async function node(dataDir: string) {
  const logger = silentLogger();
  const db = await openTestDatabase(dataDir, { logger });
  const feed = createChangeFeed({ db, logger, from: await getLatestVersion(db), pollMs: 20 });
  const reported: string[] = [];
  feed.subscribe((site) => reported.push(site));
  onTestFinished(async () => {
    feed.close();
    await db.destroy();
  });
  const write = (site: string) =>
    createSettingsStore(db).write({
      site,
      changes: [{ name: 'x', before: 1, after: 0, expectedVersion: 0 }],
      actor: { id: null, login: 'command line', address: null },
      at: 5,
    });
  return { feed, reported: reported, write };
}

it('notifies a node of a change by another node on the same database', async () => {
  const dataDir = await scratchFolder();
  const [a, b] = [await node(dataDir), await node(dataDir)];
  await b.write('shop');
  await eventually(() => a.reported.length > 0);
  expect(a.reported).toEqual(['shop']);
});

it('notifies the node’s own listeners at once, and not again when the database shows the same change', async () => {
  const { feed, reported, write } = await node(await scratchFolder());
  feed.publish({ site: 'shop', version: await write('shop') });
  expect(reported).toEqual(['shop']);
  // Polled from the database, after the other change.
  await write('later');
  await eventually(() => reported.includes('later'));
  expect(reported).toEqual(['shop', 'later']);
});

it('does not notify of changes from before its start', async () => {
  const dataDir = await scratchFolder();
  await (await node(dataDir)).write('shop');
  const late = await node(dataDir);
  await late.write('later');
  await eventually(() => late.reported.length > 0);
  expect(late.reported).toEqual(['later']);
});
