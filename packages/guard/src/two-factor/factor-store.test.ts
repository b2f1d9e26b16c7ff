import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../test/support/database.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { createChallengeStore } from './challenges.js';
import { createFactorTriesStore } from './check-code.js';
import { createFactorStore } from './factor-store.js';

const owner = { site: 'a', userId: 1 };
const HASHES = ['h1', 'h2'];

describe('the stores of second factors', () => {
  async function stores() {
    const db = await openTestDatabase(await scratchFolder());
    onTestFinished(() => db.destroy());
    return {
      db,
      factors: createFactorStore(db),
      challenges: createChallengeStore(db),
      tries: createFactorTriesStore(db),
    };
  }
  type Stores = Awaited<ReturnType<typeof stores>>;

  const challenge = (idHash: string, createdAt = 0) => ({
    ...owner,
    idHash,
    login: 'owner',
    purpose: 'login' as const,
    remember: false,
    redirect: '',
    decided: false,
    sitePath: '',
    interim: false,
    stamp: '',
    createdAt,
    expiresAt: createdAt + 100,
  });

  async function begin({ factors, challenges }: Stores, id = 'c') {
    await challenges.create(challenge(id), 5);
    await factors.startSetup(owner, { login: 'owner', secret: `secret of ${id}`, keyId: 'k', challenge: id, at: 1 });
  }

  async function enabled() {
    const all = await stores();
    await begin(all);
    await all.factors.confirmSetup(owner, { challenge: 'c', step: 5, codes: HASHES, at: 2 });
    expect(await all.factors.enable(owner, { challenge: 'c', at: 3 })).toBe(true);
    return all;
  }

  const countTrue = async (results: Promise<boolean>[]) => (await Promise.all(results)).filter(Boolean).length;
  const tenTimes = (task: () => Promise<boolean>) => countTrue(Array.from({ length: 10 }, task));

  it('accept a step from one of ten concurrent callers, and no older step', async () => {
    const { factors } = await enabled();
    expect(await tenTimes(() => factors.consumeStep(owner, 6))).toBe(1);
    expect(await tenTimes(() => factors.consumeStep(owner, 5))).toBe(0);
    expect(await factors.consumeStep({ ...owner, site: 'b' }, 9)).toBe(false);
  });

  it('accept a back-up code from one of ten concurrent callers, and keep the other codes', async () => {
    const { factors } = await enabled();
    expect(await tenTimes(() => factors.consumeBackupCode(owner, 'h1', 4))).toBe(1);
    expect(await factors.consumeBackupCode({ ...owner, userId: 2 }, 'h2', 4)).toBe(false);
    expect(await factors.consumeBackupCode(owner, 'h2', 4)).toBe(true);
  });

  it('let one of ten confirm a setup with the same code, and keep the back-up codes of that one', async () => {
    const all = await stores();
    await begin(all);
    const confirmations = Array.from({ length: 10 }, (_, n) =>
      all.factors.confirmSetup(owner, { challenge: 'c', step: 5, codes: [`h${n}`], at: 2 }),
    );
    const results = await Promise.all(confirmations);
    expect(results.filter(Boolean)).toHaveLength(1);
    await all.factors.enable(owner, { challenge: 'c', at: 3 });
    expect(await all.factors.consumeBackupCode(owner, `h${results.indexOf(true)}`, 4)).toBe(true);
  });

  it('let one of ten end a challenge, and count at most three of ten tries when three are allowed', async () => {
    const { challenges } = await enabled();
    await challenges.create(challenge('d'), 5);
    expect(await tenTimes(() => challenges.countTry('a', 'd', 3, 10))).toBe(3);
    expect(await tenTimes(() => challenges.end('a', 'd', 10))).toBe(1);
    await challenges.create(challenge('e'), 5);
    expect(await challenges.end('a', 'e', 100)).toBe(false);
    expect(await challenges.countTry('a', 'e', 3, 100)).toBe(false);
  });

  it('let one of ten count the same try', async () => {
    const { tries } = await stores();
    const none = await tries.read(owner);
    expect(await tenTimes(() => tries.swap(owner, none, { tries: 1, pausedUntil: 0 }))).toBe(1);
    const one = await tries.read(owner);
    expect(await tenTimes(() => tries.swap(owner, one, { tries: 2, pausedUntil: 9 }))).toBe(1);
    expect(await tries.read(owner)).toEqual({ tries: 2, pausedUntil: 9 });
  });

  it('keep the first secret of a challenge, and give another challenge its own', async () => {
    const all = await stores();
    await begin(all);
    const again = { login: 'owner', secret: 'second', keyId: 'k', challenge: 'c', at: 2 };
    await all.factors.startSetup(owner, again);
    expect((await all.factors.read(owner))?.secret).toBe('secret of c');
    await begin(all, 'd');
    expect((await all.factors.read(owner))?.secret).toBe('secret of d');
    expect(await all.factors.confirmSetup(owner, { challenge: 'c', step: 5, codes: HASHES, at: 2 })).toBe(false);
  });

  it('never replace an enabled factor', async () => {
    const all = await enabled();
    await begin(all, 'd');
    expect(await all.factors.read(owner)).toMatchObject({ secret: 'secret of c', enabled: true });
    expect(await all.factors.consumeBackupCode(owner, 'h1', 9)).toBe(true);
    expect(await all.factors.confirmSetup(owner, { challenge: 'd', step: 9, codes: ['x'], at: 9 })).toBe(false);
    expect(await all.factors.replaceSetupCodes(owner, { challenge: 'd', codes: ['x'] })).toBe(false);
  });

  it('enable a factor only after a correct first code, and keep nothing of a failed step', async () => {
    const all = await stores();
    await begin(all);
    expect(await all.factors.enable(owner, { challenge: 'c', at: 2 })).toBe(false);
    expect((await all.challenges.read('a', 'c'))?.ended).toBe(false);
    // The challenge has expired, so its step must not be used up.
    expect(await all.factors.confirmSetup(owner, { challenge: 'c', step: 5, codes: HASHES, at: 100 })).toBe(false);
    expect((await all.factors.read(owner))?.lastStep).toBe(0);
  });

  it('keep five logins of a user and delete old ones', async () => {
    const { challenges } = await stores();
    for (let i = 0; i < 8; i++) await challenges.create(challenge(`c${i}`, i), 5);
    const alive = await Promise.all(Array.from({ length: 8 }, (_, i) => challenges.read('a', `c${i}`)));
    expect(alive.map((found) => found !== null)).toEqual([false, false, false, true, true, true, true, true]);
    await challenges.create({ ...challenge('late', 200_000_000), userId: 2 }, 5);
    expect(await challenges.read('a', 'c7')).toBeNull();
  });
});
