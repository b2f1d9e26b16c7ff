import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { recordedLog } from '../../test/support/logs.js';
import { passingTime } from '../../test/support/passing-time.js';
import { eventually, scratchFolder } from '../../test/support/scratch.js';
import { parseAddress, toClientKey } from '../lib/address.js';
import { type LoginAttemptStore, LoginAttempts, type StoredAttempt } from './attempts.js';
import { createLoginAttemptRepository, STORE_WAIT_MS } from './login-attempt-repository.js';
import { deleteLoginLocks, sqlLoginAttemptStore } from './login-attempts-store.js';

const NOW = Date.UTC(2026, 10, 21);

describe('addresses', () => {
  it('are counted individually in IPv4 and by /64 in IPv6', () => {
    const key = (text: string) => toClientKey(parseAddress(text) as NonNullable<ReturnType<typeof parseAddress>>);
    expect(key('192.0.2.1')).toBe('192.0.2.1');
    expect(key('::ffff:192.0.2.1')).toBe('192.0.2.1');
    expect(key('2001:db8:0:1:aaaa::7')).toBe('2001:db8:0:1::/64');
    expect(key('2001:db8:0:1:ffff:ffff:ffff:ffff')).toBe(key('2001:db8:0:1::'));
    expect(key('2001:db8:0:2::1')).not.toBe(key('2001:db8:0:1::1'));
  });
});

describe('memory', () => {
  it('keeps at most the configured number of entries, and keeps locks longer than counts', () => {
    const attempts = new LoginAttempts(undefined, 1000);
    for (let i = 0; i < 300; i++) for (let j = 0; j < 3; j++) attempts.recordFailure('site', `locked${i}`, 3, NOW);
    for (let i = 0; i < 10_000; i++) attempts.recordFailure('site', `address${i}`, 3, NOW);
    expect(attempts.size).toBe(1000);
    expect(attempts.isLocked('site', 'locked0', 3, NOW)).toBe(true);
    expect(attempts.getEntry('site', 'address0').failures).toBe(0);
    expect(attempts.getEntry('site', 'address9999').failures).toBe(1);
  });

  it('still counts a new address when all entries are locked', () => {
    const attempts = new LoginAttempts(undefined, 10);
    for (let i = 0; i < 10; i++) for (let j = 0; j < 3; j++) attempts.recordFailure('site', `locked${i}`, 3, NOW);
    for (let j = 0; j < 3; j++) attempts.recordFailure('site', 'new', 3, NOW);
    expect(attempts.isLocked('site', 'new', 3, NOW)).toBe(true);
    expect(attempts.size).toBe(10);
  });

  it('keeps no entry for requests that ended without a failure', () => {
    const attempts = new LoginAttempts();
    for (let i = 0; i < 10_000; i++) attempts.tryAcquire('site', `address${i}`, 5, 'certain', NOW)?.release();
    expect(attempts.size + attempts.limiter.size).toBe(0);
  });

  it('keeps the entries of sites separate', () => {
    const attempts = new LoginAttempts();
    for (let j = 0; j < 3; j++) attempts.recordFailure('one', '192.0.2.1', 3, NOW);
    expect(attempts.isLocked('one', '192.0.2.1', 3, NOW)).toBe(true);
    expect(attempts.isLocked('other', '192.0.2.1', 3, NOW)).toBe(false);
  });

  it('drops entries older than 7 days in a sweep', () => {
    const attempts = new LoginAttempts();
    attempts.recordFailure('site', '192.0.2.1', 3, NOW);
    attempts.sweep(NOW + 7 * 24 * 3600_000 - 1);
    expect(attempts.size).toBe(1);
    attempts.sweep(NOW + 7 * 24 * 3600_000);
    expect(attempts.size).toBe(0);
  });

  it('corrects locks from a clock that was a year ahead: they keep their length', () => {
    const changes: unknown[] = [];
    const attempts = new LoginAttempts((_site, key, entry) => changes.push([key, entry]));
    const year = 365 * 24 * 3600_000;
    for (let i = 0; i < 3; i++) attempts.recordFailure('a', '192.0.2.1', 3, NOW + year);
    attempts.recordFailure('a', '192.0.2.2', 3, NOW + year);
    attempts.sweep(NOW);
    expect(attempts.getEntry('a', '192.0.2.1')).toEqual({
      failures: 3,
      lockedUntil: NOW + 3600_000,
      lastFailure: NOW,
      accounts: [],
    });
    expect(attempts.isLocked('a', '192.0.2.1', 3, NOW)).toBe(true);
    expect(attempts.isLocked('a', '192.0.2.1', 3, NOW + 3600_001)).toBe(false);
    expect(attempts.getEntry('a', '192.0.2.2')).toEqual({
      failures: 1,
      lockedUntil: 0,
      lastFailure: NOW,
      accounts: [],
    });
    // The stored entries are corrected as well.
    expect(changes.slice(-2).map((change) => (change as [string])[0])).toEqual(['192.0.2.2', '192.0.2.1']);
    // The clock is set forward again: the lock lasted one hour.
    attempts.sweep(NOW + year);
    expect(attempts.isLocked('a', '192.0.2.1', 3, NOW + year)).toBe(false);
  });

  it('releases a permit only once', () => {
    const attempts = new LoginAttempts();
    const [first] = Array.from({ length: 3 }, () => attempts.tryAcquire('site', 'a', 3, 'certain', NOW));
    expect(attempts.tryAcquire('site', 'a', 3, 'certain', NOW)).toBeNull();
    first?.release();
    first?.release();
    expect(attempts.tryAcquire('site', 'a', 3, 'certain', NOW)).not.toBeNull();
    expect(attempts.tryAcquire('site', 'a', 3, 'certain', NOW)).toBeNull();
  });
});

describe('a copy of the locks', () => {
  it('stays equal to them while addresses are locked, forgiven, forgotten, dropped to make room, and when locks end', () => {
    const attempts = new LoginAttempts(undefined, 20);
    const copy = new Map<string, number>();
    attempts.watchLocks((site, key, entry) => {
      if (entry === null) copy.delete(`${site} ${key}`);
      else copy.set(`${site} ${key}`, entry.lockedUntil);
    });
    const isEqual = () =>
      expect([...copy].sort()).toEqual(
        [...attempts.allLocks()].map(([site, key, entry]) => [`${site} ${key}`, entry.lockedUntil]).sort(),
      );
    const lock = (key: string, now: number) => {
      for (let j = 0; j < 3; j++) attempts.recordFailure('site', key, 3, now, 7);
    };
    for (let i = 0; i < 10; i++) lock(`address${i}`, NOW);
    expect(copy.size).toBe(10);
    isEqual();
    attempts.forget('site', 'address0');
    attempts.recordSuccess('site', 'address1', 7, NOW);
    isEqual();
    for (let i = 0; i < 30; i++) lock(`later${i}`, NOW + 1000);
    isEqual();
    attempts.restore('site', [], NOW + 2000);
    expect(copy.size).toBe(0);
    lock('address0', NOW + 3000);
    attempts.sweep(NOW + 3600_000);
    expect(copy.size).toBe(1);
    attempts.sweep(NOW + 3000 + 3600_000);
    expect(copy.size).toBe(0);
    isEqual();
  });
});

describe('failures and locks in the database', () => {
  const lift = (db: TestDatabase, keys: string[] | null) =>
    deleteLoginLocks(db, {
      site: 'site',
      keys,
      actor: { id: null, login: 'command line', address: null },
      at: NOW,
    });

  async function setUp(store?: (real: LoginAttemptStore) => LoginAttemptStore) {
    const dataDir = await scratchFolder();
    const locked: [string, number][] = [];
    const open = async () => {
      const db = await openTestDatabase(dataDir);
      onTestFinished(() => db.destroy());
      const real = sqlLoginAttemptStore(db);
      const log = recordedLog();
      const repository = createLoginAttemptRepository({
        store: store?.(real) ?? real,
        onThrottledUsers: () => {},
        onLocked: (_site, address, until) => locked.push([address, until - NOW]),
        clock: () => NOW,
        logger: log.logger,
      });
      onTestFinished(() => repository.stop());
      await repository.load('site');
      return { db, real, repository, log, locked };
    };
    return { open };
  }

  it('are loaded after a restart', async () => {
    const { open } = await setUp();
    const before = await open();
    for (let j = 0; j < 3; j++) before.repository.attempts.recordFailure('site', '2001:db8::/64', 3, NOW);
    before.repository.attempts.recordFailure('site', '192.0.2.1', 3, NOW, 7);
    before.repository.attempts.recordFailure('site', '192.0.2.2', 3, NOW);
    before.repository.attempts.recordSuccess('site', '192.0.2.2', 1, NOW);
    await before.repository.drain();
    const { attempts } = (await open()).repository;
    expect(attempts.isLocked('site', '2001:db8::/64', 3, NOW)).toBe(true);
    expect(attempts.getEntry('site', '192.0.2.1')).toMatchObject({ failures: 1, accounts: [7] });
    expect(attempts.size).toBe(2);
  });

  it('are reported when they lock an address, but not when a device is locked or a lock is loaded', async () => {
    const before = await (await setUp()).open();
    const { attempts } = before.repository;
    for (const key of ['192.0.2.1', '2001:db8::/64', 'device:x']) {
      for (let j = 0; j < 3; j++) attempts.recordFailure('site', key, 3, NOW);
    }
    attempts.recordFailure('site', '192.0.2.2', 3, NOW);
    const locks = [
      ['192.0.2.1', 3_600_000],
      ['2001:db8::/64', 3_600_000],
    ];
    expect(before.locked).toEqual(locks);
    await before.repository.drain();
    await before.repository.load('site');
    expect(before.locked).toEqual(locks);
  });

  it('are lifted once for a key that is named twice', async () => {
    const { db, repository } = await (await setUp()).open();
    for (let j = 0; j < 3; j++) repository.attempts.recordFailure('site', '192.0.2.1', 3, NOW);
    await repository.drain();
    expect(await lift(db, ['192.0.2.1', '192.0.2.1'])).toBe(1);
  });

  it('are not lifted by the late answer of an earlier query', async () => {
    let answer = (): void => undefined;
    let late: Promise<void> | null = null;
    const { open } = await setUp((real) => ({
      ...real,
      async listUnlocks(site, since) {
        const unlocks = await real.listUnlocks(site, since);
        const wait = late;
        late = null;
        await wait;
        return unlocks;
      },
    }));
    const { db, repository } = await open();
    const lock = () => {
      for (let j = 0; j < 3; j++) repository.attempts.recordFailure('site', '192.0.2.1', 3, NOW);
    };
    lock();
    await repository.drain();
    await lift(db, ['192.0.2.1']);
    late = new Promise((resolve) => {
      answer = resolve;
    });
    const earlier = repository.loadUnlocks('site');
    const later = repository.loadUnlocks('site').then(lock);
    await later;
    answer();
    await earlier;
    expect(repository.attempts.isLocked('site', '192.0.2.1', 3, NOW)).toBe(true);
  });

  it('are removed from memory when another process has lifted them, and only those', async () => {
    const { open } = await setUp();
    const { db, repository } = await open();
    for (const key of ['192.0.2.1', '192.0.2.2']) {
      for (let j = 0; j < 3; j++) repository.attempts.recordFailure('site', key, 3, NOW);
    }
    await repository.drain();
    await lift(db, ['192.0.2.1']);
    await repository.loadUnlocks('site');
    expect(repository.attempts.isLocked('site', '192.0.2.1', 3, NOW)).toBe(false);
    expect(repository.attempts.isLocked('site', '192.0.2.2', 3, NOW)).toBe(true);
    // A lift applies once: new failures are counted again.
    repository.attempts.recordFailure('site', '192.0.2.1', 3, NOW);
    await repository.loadUnlocks('site');
    expect(repository.attempts.getEntry('site', '192.0.2.1').failures).toBe(1);
  });

  it('are all removed when all were lifted, including those not yet written', async () => {
    const { open } = await setUp();
    const { db, real, repository } = await open();
    repository.attempts.recordFailure('site', '192.0.2.1', 3, NOW);
    await repository.drain();
    await lift(db, null);
    repository.attempts.recordFailure('site', '192.0.2.2', 3, NOW);
    repository.attempts.recordFailure('other', '192.0.2.2', 3, NOW);
    await repository.loadUnlocks('site');
    await repository.drain();
    expect(repository.attempts.size).toBe(1);
    expect(await real.load('site')).toEqual([]);
    // The next start loads none of them, and keeps the failures since then.
    repository.attempts.recordFailure('site', '192.0.2.3', 3, NOW);
    await repository.drain();
    const next = (await open()).repository;
    await next.loadUnlocks('site');
    expect(next.attempts.getEntry('site', '192.0.2.3').failures).toBe(1);
  });

  it('are written after a period in which the database could not be written, in their latest state', async () => {
    const { pass } = passingTime();
    let broken = true;
    let tries = 0;
    const { open } = await setUp((real) => ({
      ...real,
      async save(site, entries) {
        tries++;
        if (broken) throw new Error('disk full');
        await real.save(site, entries);
      },
    }));
    const { real, repository } = await open();
    repository.attempts.recordFailure('site', '192.0.2.1', 3, NOW);
    await eventually(() => tries === 1);
    broken = false;
    repository.attempts.recordFailure('site', '192.0.2.1', 3, NOW);
    // The pause after a failed write.
    pass(1000);
    await repository.drain();
    expect((await real.load('site')).map(({ key, failures }) => [key, failures])).toEqual([['192.0.2.1', 2]]);
  });

  it('are written in few statements, and 10,000 addresses are all stored', async () => {
    const saves: number[] = [];
    const { open } = await setUp((real) => ({
      ...real,
      save: (site, entries: readonly StoredAttempt[]) => {
        saves.push(entries.length);
        return real.save(site, entries);
      },
    }));
    const { real, repository } = await open();
    for (let i = 0; i < 10_000; i++) repository.attempts.recordFailure('site', `192.0.${i >> 8}.${i & 255}`, 5, NOW);
    await repository.drain();
    expect(saves).toEqual([10_000]);
    expect(await real.load('site')).toHaveLength(10_000);
  });

  it('are stored when a response has waited for them, and not before', async () => {
    const { open } = await setUp();
    const { real, repository } = await open();
    const inStore = async () => (await real.load('site')).map(({ key }) => key);
    repository.attempts.recordFailure('site', '192.0.2.1', 3, NOW);
    await repository.whenStored('site');
    expect(await inStore()).toEqual(['192.0.2.1']);
    // A failure during a write is part of the next write, and its response waits for that one.
    repository.attempts.recordFailure('site', '192.0.2.2', 3, NOW);
    await Promise.resolve();
    await Promise.resolve();
    repository.attempts.recordFailure('site', '192.0.2.3', 3, NOW);
    await repository.whenStored('site');
    expect(await inStore()).toContain('192.0.2.3');
  });

  it('do not delay a response when the database can’t be written; they count in memory', async () => {
    const { open } = await setUp((real) => ({ ...real, save: () => Promise.reject(new Error('disk full')) }));
    const { repository, log } = await open();
    for (let round = 0; round < 3; round++) {
      repository.attempts.recordFailure('site', '192.0.2.1', 3, NOW);
      await repository.whenStored('site');
    }
    expect(repository.attempts.isLocked('site', '192.0.2.1', 3, NOW)).toBe(true);
    // There is no event for a response that was sent before the write, since none waited any more.
    expect(log.events()).toEqual(['login-attempts-store-failed']);
  });

  it('delay a response by at most a second when the database hangs, which is logged once', async () => {
    let go = (): void => {};
    const hanging = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { open } = await setUp((real) => ({
      ...real,
      save: (site, entries) => hanging.then(() => real.save(site, entries)),
    }));
    const { real, repository, log } = await open();
    repository.attempts.recordFailure('site', '192.0.2.1', 3, NOW);
    const began = performance.now();
    await Promise.all([repository.whenStored('site'), repository.whenStored('site')]);
    expect(performance.now() - began).toBeGreaterThan(STORE_WAIT_MS - 50);
    expect(log.events()).toEqual(['login-attempts-store-slow']);
    go();
    await repository.drain();
    expect(await real.load('site')).toHaveLength(1);
  });
});
