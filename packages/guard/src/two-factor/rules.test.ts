import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../../test/support/scratch.js';
import { readCookie } from '../http/headers.js';
import { countTry, type FactorTries, MAX_TRIES, PAUSES_MS } from './check-code.js';
import { BACKUP_CODES, createBackupCodes, formatBackupCode, hashBackupCode, parseBackupCode } from './enrolment.js';
import { decryptSecret, encryptSecret, getKeyForSetup, readFactorKey } from './factor-key.js';
import { toDeviceCookieName } from './trusted-devices.js';

const key = Buffer.alloc(32, 7);
const otherKey = Buffer.alloc(32, 8);
const owner = { site: 'site', userId: 1 };
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

describe('an encrypted secret', () => {
  it('can be decrypted with its key for its user only', () => {
    fc.assert(
      fc.property(bytes(20), bytes(12), (secret, iv) => {
        const text = encryptSecret(key, owner, secret, iv);
        expect(decryptSecret(key, owner, text)).toEqual(Buffer.from(secret));
        expect(decryptSecret(otherKey, owner, text)).toBeNull();
        expect(decryptSecret(key, { ...owner, userId: 2 }, text)).toBeNull();
        expect(decryptSecret(key, { ...owner, site: 'other' }, text)).toBeNull();
      }),
    );
  });

  it('can’t be decrypted when any part was changed or is missing', () => {
    const text = encryptSecret(key, owner, Buffer.alloc(20, 1), Buffer.alloc(12, 2));
    const [version, iv, sealed] = text.split('.') as [string, string, string];
    const flipped = Buffer.from(sealed, 'base64url');
    for (let i = 0; i < flipped.length; i++) {
      const changed = Buffer.from(flipped);
      changed[i] = (changed[i] as number) ^ 1;
      expect(decryptSecret(key, owner, `${version}.${iv}.${changed.toString('base64url')}`)).toBeNull();
    }
    fc.assert(fc.property(fc.string(), (garbage) => decryptSecret(key, owner, garbage) === null));
    for (const cut of ['', '1', '1.', `1.${iv}`, `1.${iv}.AAAA`, `2.${iv}.${sealed}`]) {
      expect(decryptSecret(key, owner, cut)).toBeNull();
    }
  });
});

describe('back-up codes', () => {
  it('are ten different ones, even when random numbers repeat', () => {
    const numbers = [5, 5, 5, 1, 2, 3, 4, 6, 7, 8, 9, 10];
    const codes = createBackupCodes(() => numbers.shift() as number);
    expect([codes.length, new Set(codes).size, codes[0]]).toEqual([BACKUP_CODES, BACKUP_CODES, '00000005']);
  });

  it('are parsed from the form in which they are shown', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999_999 }), (number) => {
        const code = String(number).padStart(8, '0');
        expect(parseBackupCode(` ${formatBackupCode(code)}\t`)).toBe(code);
      }),
    );
    for (const typed of ['', '1234567', '123456789', '1234 567a']) expect(parseBackupCode(typed)).toBeNull();
  });

  it('are stored differently for each user, site and key', () => {
    const hashes = [
      hashBackupCode(key, owner, '12345678'),
      hashBackupCode(key, { ...owner, userId: 2 }, '12345678'),
      hashBackupCode(key, { ...owner, site: 'other' }, '12345678'),
      hashBackupCode(otherKey, owner, '12345678'),
      hashBackupCode(key, owner, '12345679'),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

describe('the limit of tries', () => {
  it('pauses the account after every tenth try, longer each time, never shorter', () => {
    let state = { tries: 0, pausedUntil: 0 };
    let now = 0;
    const pauses: number[] = [];
    for (let i = 1; i <= MAX_TRIES * (PAUSES_MS.length + 2); i++) {
      const next = countTry(state, now);
      if (next === null) throw new Error('It was still paused when its pause was over.');
      state = next;
      if (i % MAX_TRIES !== 0) expect(state.pausedUntil).toBe(0);
      else {
        pauses.push(state.pausedUntil - now);
        expect(countTry(state, state.pausedUntil - 1)).toBeNull();
        now = state.pausedUntil;
      }
    }
    expect(pauses).toEqual([...PAUSES_MS, PAUSES_MS.at(-1), PAUSES_MS.at(-1)]);
    expect([...pauses].sort((a, b) => a - b)).toEqual(pauses);
  });

  it('does not extend a pause because the clock was a year ahead', () => {
    const [year, NOW] = [365 * 86_400_000, Date.UTC(2026, 10, 22)];
    let state: FactorTries = { tries: 0, pausedUntil: 0 };
    for (let n = 0; n < 10; n++) state = countTry(state, NOW + year) as FactorTries;
    expect(countTry(state, NOW + year)).toBeNull();
    expect(countTry(state, NOW)).toEqual({ tries: 11, pausedUntil: 0 });
    // A small correction of the clock ends no pause, not even the longest.
    expect(countTry({ tries: 60, pausedUntil: NOW + 86_400_000 }, NOW - 5000)).toBeNull();
  });

  it('allows at most ten codes between two pauses, at whatever times they are tried', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 120_000 }), { maxLength: 200 }), (waits) => {
        let state = { tries: 0, pausedUntil: 0 };
        let [now, run] = [0, 0];
        for (const wait of waits) {
          now += wait;
          const next = countTry(state, now);
          if (next === null) continue;
          state = next;
          run = state.pausedUntil > now ? 0 : run + 1;
          expect(run).toBeLessThan(MAX_TRIES);
        }
      }),
    );
  });
});

describe('cookies', () => {
  it('are found by their exact name among others', () => {
    const header = 'xsf_challenge=1; sf_challenge = 2 ;sf_challengex=3; sf_challenge=4';
    expect(readCookie(header, 'sf_challenge')).toBe('2');
    expect(readCookie(undefined, 'sf_challenge')).toBeNull();
    fc.assert(fc.property(fc.string(), (garbage) => typeof readCookie(garbage, 'a') !== 'undefined'));
  });

  it('of trusted devices differ from site to site', () => {
    expect(toDeviceCookieName('a')).not.toBe(toDeviceCookieName('b'));
  });
});

describe('creating the key file', () => {
  it('creates one key and leaves no draft when many callers create it at the same time', async () => {
    const folder = await scratchFolder();
    const file = join(folder, 'two-factor.key');
    let made = 0;
    const store = { findKeysInUse: async () => ({ any: false, other: false }) };
    const keys = await Promise.all(Array.from({ length: 20 }, () => getKeyForSetup(file, store, () => made++)));
    expect(new Set(keys.map(({ id }) => id)).size).toBe(1);
    expect([made, await readdir(folder)]).toEqual([1, ['two-factor.key']]);
    expect((await readFactorKey(file))?.bytes).toEqual(keys[0]?.bytes);
  });
});
