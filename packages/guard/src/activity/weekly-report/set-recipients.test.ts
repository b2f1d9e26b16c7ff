import { expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../lib/logger.js';
import { KeyedMutex } from '../../lib/mutex.js';
import { openDatabase } from '../../storage/database.js';
import { sqlReportSends } from '../../storage/report-sends-store.js';
import { sqlSettingsStore } from '../../storage/settings-store.js';
import { scratchFolder } from '../../testing/scratch.js';
import { siteConfig } from '../../testing/site-config.js';
import { lastSendTime } from './send-time.js';
import { setRecipients } from './set-recipients.js';

const site = siteConfig();
const DUE = lastSendTime('site', 'UTC', Date.UTC(2026, 10, 21));
const WEEK = 7 * 24 * 3600_000;

it('whoever is put on the list right after a report was due gets the next one', async () => {
  const db = await openDatabase({ url: 'sqlite:g.sqlite', dataDir: await scratchFolder(), logger: silentLogger() });
  onTestFinished(() => db.destroy());
  const sends = sqlReportSends(db);
  const now = { ms: DUE - 1 };
  const clock = () => now.ms;
  const change = {
    settings: sqlSettingsStore(db),
    pushPolicy: async () => ({}),
    apply: () => undefined,
    publish: () => undefined,
    mutex: new KeyedMutex(),
    clock,
    logger: silentLogger(),
  };
  const set = (...emails: string[]) =>
    setRecipients(
      { change, sends, timeZone: () => 'UTC', maxEmails: 5, clock },
      { site, actor: { id: 1, login: 'owner', address: null }, emails },
    );
  const claimed = async (email: string, slot: number) => (await sends.claim('site', email, slot, slot)) !== null;
  // Before the time of this week, so the report of last week is long past.
  await set('anna@example.com');
  now.ms = DUE + 60_000;
  await set('anna@example.com', 'ben@example.com');
  expect(await claimed('anna@example.com', DUE)).toBe(true);
  expect(await claimed('ben@example.com', DUE)).toBe(false);
  expect(await claimed('ben@example.com', DUE + WEEK)).toBe(true);
});
