import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { recordedLog } from '../../test/support/logs.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { createGuardedTraffic, guardedTrafficFile, missingTraffic, readGuardedTraffic } from './guarded-traffic.js';

const START = Date.UTC(2026, 0, 5);

async function setUp() {
  const dataDir = await scratchFolder();
  await mkdir(join(dataDir, 'sites'));
  const log = recordedLog();
  let now = START;
  const traffic = createGuardedTraffic({ dataDir, clock: () => now, logger: log.logger });
  return {
    dataDir,
    log,
    traffic,
    /** Records a visitor once a second, and returns the record on the disk afterwards. */
    async visitors(seconds: number) {
      for (let second = 0; second <= seconds; second++) {
        if (second > 0) now += 1000;
        traffic.record('site');
      }
      await traffic.stop();
      return readGuardedTraffic(dataDir, 'site');
    },
    pass(ms: number) {
      now += ms;
    },
    missing: async () => missingTraffic(await readGuardedTraffic(dataDir, 'site'), now),
  };
}

it('a site without visitors through guard has no traffic', async () => {
  const { missing } = await setUp();
  expect(await missing()).toBe('No visitor has come through guard yet.');
});

it('visitors over half a minute count as traffic, a short check does not', async () => {
  const { visitors, missing } = await setUp();
  await visitors(12);
  expect(await missing()).toBe('Visitors have come through guard for 10 seconds so far; 30 are asked for.');
  await visitors(25);
  expect(await missing()).toBe(null);
});

it('two visits half a minute apart are enough for a site with few visitors', async () => {
  const { visitors, pass, missing } = await setUp();
  await visitors(0);
  pass(40_000);
  await visitors(0);
  expect(await missing()).toBe(null);
});

it('traffic that ended minutes ago does not count, and the next visitor starts a new period', async () => {
  const { visitors, pass, missing } = await setUp();
  await visitors(35);
  pass(7 * 60_000);
  expect(await missing()).toBe('The last visitor came through guard 7 minutes ago.');
  await visitors(1);
  expect(await missing()).toContain('for 0 seconds so far');
});

it('a busy site writes the record periodically, not for each visitor', async () => {
  const { visitors, dataDir } = await setUp();
  const stored = new Set<number>();
  for (let minute = 0; minute < 5; minute++) stored.add((await visitors(59))?.until ?? 0);
  expect(stored.size).toBeGreaterThanOrEqual(3);
  expect(await readGuardedTraffic(dataDir, 'other')).toBe(null);
});

it('an unreadable record counts as no traffic, and a failed write is logged once', async () => {
  const { visitors, dataDir, log, missing } = await setUp();
  await writeFile(guardedTrafficFile(dataDir, 'site'), '{"since":');
  expect(await missing()).toBe('No visitor has come through guard yet.');
  const lost = createGuardedTraffic({ dataDir: join(dataDir, 'gone'), clock: () => START, logger: log.logger });
  lost.record('site');
  lost.record('site');
  await lost.stop();
  expect(log.events()).toEqual(['guarded-traffic-store-failed']);
  await visitors(0);
});
