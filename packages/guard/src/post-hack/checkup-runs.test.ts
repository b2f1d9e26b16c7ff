import { toEnglish } from '@security-optimizer/contract/server-message';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { siteConfig } from '../../test/support/site-config.js';
import { silentLogger } from '../lib/logger.js';
import { lastWeeklyTime, toLocalTime, WEEK_MS } from '../lib/time-zone.js';
import type { SecurityEvent } from '../security-events.js';
import type { Findings } from './checkup.js';
import { createFinding, type Finding } from './checkup-findings.js';
import { checkupMinute, createCheckupRuns } from './checkup-runs.js';
import { sqlCheckupStore } from './checkup-store.js';
import { sqlRemovedFiles } from './removed-files-store.js';

const site = siteConfig();
const owner = { id: 1, login: 'owner', address: '192.0.2.1' };
const ZONE = 'Europe/Berlin';
const script = (name: string): Finding =>
  createFinding({ key: `script:${name}`, check: 'uploads', title: 'A script in uploads' });
const CHECKS = ['core', 'administrators', 'uploads', 'plugins'] as const;

function found(findings: readonly Finding[], ran: 0 | 1 = 1): Findings {
  const checks = CHECKS.map((check) => ({ check, ran: check === 'core' ? ran : (1 as const), title: '', text: '' }));
  return { checks, findings, notes: [], administrators: [1] };
}

async function open(dataDir: string): Promise<TestDatabase> {
  const db = await openTestDatabase(dataDir, { file: 'test.sqlite' });
  onTestFinished(() => db.destroy());
  return db;
}

/** Checkups of one site. The test sets the findings of each checkup, and the time. */
async function start(change: { dataDir?: string; now?: number } = {}) {
  const dataDir = change.dataDir ?? (await scratchFolder());
  const db = await open(dataDir);
  const state = {
    now: change.now ?? Date.UTC(2026, 10, 21, 12),
    weekly: true,
    finds: found([]) as Findings | Error,
    checkups: 0,
    befores: [] as Findings['administrators'][],
    events: [] as SecurityEvent[],
    /** Delays the checkup until it resolves. */
    held: Promise.resolve(),
  };
  const runs = createCheckupRuns({
    store: sqlCheckupStore(db),
    async examine(_site, before, onCheck) {
      state.checkups += 1;
      state.befores.push(before);
      onCheck();
      await state.held;
      if (state.finds instanceof Error) throw state.finds;
      return state.finds;
    },
    async examinePart(_site, check) {
      if (state.finds instanceof Error) throw state.finds;
      const { checks, findings, notes, administrators } = state.finds;
      const outcome = checks.find((each) => each.check === check);
      if (outcome === undefined) throw new Error(`No outcome of ${check}`);
      const part = { outcome, notes, findings: findings.filter((finding) => finding.check === check) };
      return check === 'administrators' && administrators !== null ? { ...part, administrators } : part;
    },
    copies: sqlRemovedFiles(db),
    sites: [site],
    timeZone: () => ZONE,
    isWeekly: () => state.weekly,
    securityEvents: { report: async (_site, events) => void state.events.push(...events) },
    clock: () => state.now,
    logger: silentLogger(),
  });
  onTestFinished(() => runs.stop());
  const run = async () => {
    state.now += 1000;
    runs.begin(site);
    await runs.ended(site.id);
  };
  const titles = async () =>
    (await runs.describe(site.id, false, null)).latest?.findings.map(({ title }) => toEnglish(title)) ?? null;
  return { runs, state, run, titles, db, dataDir };
}

describe('a checkup', () => {
  it('stores its result, which survives a restart, and moves the previous ones to the history', async () => {
    const { runs, state, run, dataDir } = await start();
    expect(await runs.describe(site.id, false, null)).toMatchObject({
      running: null,
      latest: null,
      earlier: [],
      more: 0,
    });
    state.finds = found([script('a')]);
    await run();
    state.finds = found([], 0);
    await run();
    const again = await start({ dataDir });
    const { latest, earlier } = await again.runs.describe(site.id, false, null);
    expect(latest).toMatchObject({ at: Math.floor(state.now / 1000), findings: [] });
    expect(latest?.checks.map(({ ran }) => ran)).toEqual([0, 1, 1, 1]);
    expect(earlier).toEqual([{ at: Math.floor(state.now / 1000) - 1, findings: 1, missing: [] }]);
  });

  it('lists the four checkups before it, all on request, and keeps sixty', async () => {
    const { runs, run } = await start();
    for (let count = 0; count < 62; count++) await run();
    const { earlier, more } = await runs.describe(site.id, false, null);
    expect([earlier.length, more]).toEqual([4, 55]);
    const all = await runs.describe(site.id, true, null);
    expect([all.earlier.length, all.more]).toEqual([59, 0]);
    expect(all.earlier.slice(0, 4)).toEqual(earlier);
  });

  it('reports its progress, is joined by a second start, and keeps the previous result until its end', async () => {
    const { runs, state, run } = await start();
    state.finds = found([script('a')]);
    await run();
    let go = (): void => undefined;
    state.held = new Promise<void>((resolve) => {
      go = resolve;
    });
    runs.begin(site);
    runs.begin(site);
    await expect.poll(() => state.checkups).toBe(2);
    const description = await runs.describe(site.id, false, null);
    expect(description.running).toEqual({ done: 1, total: 4 });
    expect(description.latest?.findings).toHaveLength(1);
    go();
    await runs.ended(site.id);
    expect((await runs.describe(site.id, false, null)).running).toBeNull();
    expect(state.checkups).toBe(2);
  });

  it('says when it was not finished, keeps the previous result, and can be started again', async () => {
    const { runs, state, run, titles } = await start();
    state.finds = found([script('a')]);
    await run();
    state.finds = new Error('The disk is full.');
    await run();
    expect((await runs.describe(site.id, false, null)).error).toBe('The checkup could not be finished. Try again.');
    expect(await titles()).toEqual(['A script in uploads']);
    state.finds = found([]);
    await run();
    expect(await runs.describe(site.id, false, null)).toMatchObject({ error: '', latest: { findings: [] } });
  });

  it('compares administrators with the previous checkup, also when one could not list them', async () => {
    const { state, run } = await start();
    await run();
    state.finds = { ...found([], 0), administrators: null };
    await run();
    await run();
    expect(state.befores).toEqual([null, [1], [1]]);
  });
});

describe('a finding', () => {
  it('that is kept is omitted now and next time, and is listed again when the mark is removed', async () => {
    const { runs, state, run, titles, db } = await start();
    state.finds = found([script('a')]);
    await run();
    expect(await runs.countFindings(site.id)).toBe(1);
    await runs.markFinding(site.id, 'script:a', true, owner);
    await runs.markFinding(site.id, 'script:a', true, owner);
    expect([await titles(), await runs.countFindings(site.id)]).toEqual([[], 0]);
    await run();
    const { latest } = await runs.describe(site.id, false, null);
    expect(latest).toMatchObject({ findings: [], kept: [{ key: 'script:a', by: 'owner' }] });
    await runs.markFinding(site.id, 'script:a', false, owner);
    expect(await titles()).toEqual(['A script in uploads']);
    const audit = await db
      .selectFrom('audit')
      .select(['name', 'actor_login', 'before', 'after'])
      .orderBy('at')
      .execute();
    const mark = { key: 'script:a', title: 'A script in uploads' };
    expect(audit.map((row) => [row.name, row.actor_login, JSON.parse(row.before), JSON.parse(row.after)])).toEqual([
      ['checkup_kept', 'owner', null, mark],
      ['checkup_kept', 'owner', mark, null],
    ]);
  });

  it('that does not exist can’t be kept', async () => {
    const { runs, run } = await start();
    await run();
    await expect(runs.markFinding(site.id, 'script:other', true, owner)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is reported once, when it is new and not kept', async () => {
    const { runs, state, run } = await start();
    state.finds = found([script('a')]);
    await run();
    await run();
    state.finds = found([script('a'), script('b')], 0);
    await run();
    await runs.markFinding(site.id, 'script:a', true, owner);
    state.finds = found([]);
    await run();
    state.finds = found([script('a')]);
    await run();
    expect(state.events.map((event) => event.kind)).toEqual(['checkup-finding', 'checkup-finding']);
    expect(state.events[1]).toMatchObject({ findings: ['A script in uploads'], ran: 3, checks: 4 });
    expect(new Set(state.events.map(({ uid }) => uid)).size).toBe(2);
  });
});

describe('the weekly checkup', () => {
  const slotBefore = (now: number) => lastWeeklyTime(checkupMinute(site.id), ZONE, now);

  it('runs at night in the site’s time zone, spread over all days', () => {
    const minutes = Array.from({ length: 700 }, (_, index) => checkupMinute(`site-${index}`));
    for (const minute of minutes) {
      expect(minute % 1440).toBeGreaterThanOrEqual(120);
      expect(minute % 1440).toBeLessThan(300);
    }
    for (let day = 0; day < 7; day++) {
      expect(minutes.filter((minute) => Math.floor(minute / 1440) === day).length).toBeGreaterThan(60);
    }
  });

  it('announces the day and the time at which it really runs', async () => {
    const { runs, state } = await start();
    const { day, time } = runs.weeklyTime(site.id);
    const local = new Date(toLocalTime(ZONE, slotBefore(state.now)));
    expect([day, time]).toEqual([local.getUTCDay(), local.toISOString().slice(11, 16)]);
  });

  it('runs once at its time, not before, and again a week later', async () => {
    const slot = slotBefore(Date.UTC(2026, 10, 21, 12)) + WEEK_MS;
    const { runs, state } = await start({ now: slot - 3600_000 });
    await runs.round();
    expect(state.checkups).toBe(0);
    for (const after of [0, 60_000, 24 * 3600_000]) {
      state.now = slot + after;
      await runs.round();
      expect(state.checkups).toBe(1);
    }
    state.now = slot + WEEK_MS;
    await runs.round();
    expect(state.checkups).toBe(2);
  });

  it('runs within a day when guard was stopped at its time, but not on a site that was never checked', async () => {
    const slot = slotBefore(Date.UTC(2026, 10, 21, 12)) + WEEK_MS;
    const fresh = await start({ now: slot + 3600_000 });
    await fresh.runs.round();
    expect(fresh.state.checkups).toBe(0);

    const first = await start({ now: slot - 1000 });
    first.state.now = slot;
    await first.runs.round();
    const { dataDir } = first;
    const late = await start({ dataDir, now: slot + WEEK_MS + 3600_000 });
    await late.runs.round();
    expect(late.state.checkups).toBe(1);
    const tooLate = await start({ dataDir, now: slot + 2 * WEEK_MS + 25 * 3600_000 });
    await tooLate.runs.round();
    expect(tooLate.state.checkups).toBe(0);
  });

  it('reports once that a check could not run, unless an owner started the checkup and sees it', async () => {
    const slot = slotBefore(Date.UTC(2026, 10, 21, 12)) + WEEK_MS;
    const { runs, state, run } = await start({ now: slot - 3600_000 });
    state.finds = found([], 0);
    await run();
    expect(state.events).toEqual([]);
    state.finds = found([]);
    await run();
    state.finds = found([], 0);
    for (const week of [0, 1]) {
      state.now = slot + week * WEEK_MS;
      await runs.round();
    }
    expect(state.events).toMatchObject([{ kind: 'checkup-finding', findings: [], ran: 3, checks: 4 }]);
  });

  it('does not run while it is switched off', async () => {
    const slot = slotBefore(Date.UTC(2026, 10, 21, 12)) + WEEK_MS;
    const { runs, state } = await start({ now: slot - 1000 });
    state.weekly = false;
    state.now = slot;
    await runs.round();
    expect(state.checkups).toBe(0);
    state.weekly = true;
    await runs.round();
    expect(state.checkups).toBe(1);
  });

  it('is tried again when it could not be finished', async () => {
    const slot = slotBefore(Date.UTC(2026, 10, 21, 12)) + WEEK_MS;
    const { runs, state } = await start({ now: slot - 1000 });
    state.now = slot;
    state.finds = new Error('The disk is full.');
    await runs.round();
    state.finds = found([]);
    await runs.round();
    expect(state.checkups).toBe(2);
    expect((await runs.describe(site.id, false, null)).latest).not.toBeNull();
  });
});
