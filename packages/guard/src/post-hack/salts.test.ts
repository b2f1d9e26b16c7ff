import { toEnglish } from '@security-optimizer/contract/server-message';
import { expect, it } from 'vitest';
import { siteConfig } from '../../test/support/site-config.js';
import type { NewSalts, SaltHashes } from '../wordpress/connector-commands.js';
import { judgeSalts, proveSalts, type SaltsOutcome, saltsSentences } from './salts.js';

const NAMES = ['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'].flatMap((scheme) => [`${scheme}_KEY`, `${scheme}_SALT`]);
const SCHEMES = ['auth', 'secure_auth', 'logged_in', 'nonce'];
const prints = (value: string, others: SaltHashes = {}): SaltHashes => ({
  ...Object.fromEntries([...NAMES, ...SCHEMES].map((name) => [name, `${value} ${name}`])),
  ...others,
});
const old = (...names: string[]) => Object.fromEntries(names.map((name) => [name, `old ${name}`]));
const written = (others: Partial<Exclude<NewSalts, { change: 'kept' }>> = {}) => ({
  change: 'written' as const,
  mark: 'ab'.repeat(16),
  before: prints('old'),
  elsewhere: [],
  files: [],
  ...others,
});
const toText = (outcome: SaltsOutcome) => saltsSentences(outcome).map(toEnglish).join(' ');

it('keys are reported as replaced only when all eight, and everything derived from them, have changed', () => {
  expect(judgeSalts(written(), prints('new'))).toEqual({ kind: 'replaced' });
  for (const name of [...NAMES, ...SCHEMES]) {
    expect(judgeSalts(written(), prints('new', old(name))).kind, name).not.toBe('replaced');
  }
});

it('keys from the database count, since WordPress creates new ones', () => {
  expect(judgeSalts(written({ change: 'nothing' }), prints('new'))).toEqual({ kind: 'replaced' });
});

it('keys that did not change are named with the place where they are set', () => {
  const found = written({ elsewhere: ['AUTH_KEY', 'NONCE_SALT'], files: ['/srv/keys.php'] });
  const outcome = judgeSalts(found, prints('new', old('AUTH_KEY', 'NONCE_SALT')));
  expect(outcome).toEqual({
    kind: 'partly',
    names: ['AUTH_KEY', 'NONCE_SALT'],
    rejectsOldCookies: true,
    cause: 'elsewhere',
    files: ['/srv/keys.php'],
  });
  expect(toText(outcome)).toContain('these are still the old ones: AUTH_KEY, NONCE_SALT.');
  expect(toText(outcome)).toContain('They are set in /srv/keys.php.');
  expect(toText(outcome)).toContain('Every older cookie is invalid anyway.');
  expect(toText(outcome)).toContain('By hand:');
});

it('a cookie is not called invalid while a scheme has its old salt', () => {
  const outcome = judgeSalts(written(), prints('new', old('AUTH_KEY', 'AUTH_SALT', 'auth')));
  expect(outcome).toMatchObject({ kind: 'partly', rejectsOldCookies: false, cause: 'old-file' });
  expect(toText(outcome)).not.toContain('invalid');
  expect(toText(outcome)).toContain('Everyone is logged out anyway');
});

it('the reason why nothing has changed is named', () => {
  const causes = [
    [written({ change: 'not_writable' }), 'not-writable'],
    [written({ change: 'nothing' }), 'elsewhere'],
    [written({ elsewhere: NAMES }), 'elsewhere'],
    [written(), 'old-file'],
  ] as const;
  for (const [result, cause] of causes) {
    expect(judgeSalts(result, prints('old'))).toMatchObject({ kind: 'stay', cause, rejectsOldCookies: false });
  }
});

it('salts from a plugin are recognised', () => {
  const outcome = judgeSalts(written(), prints('new', old(...SCHEMES)));
  expect(outcome).toMatchObject({ kind: 'stay', names: [], cause: 'plugin' });
});

it('unknown keys count as neither old nor new', () => {
  const nothing = Object.fromEntries(NAMES.map((name) => [name, null]));
  expect(judgeSalts(written({ before: prints('old', nothing) }), prints('new', nothing))).toEqual({ kind: 'replaced' });
  expect(judgeSalts(written({ before: prints('old', nothing) }), prints('old', nothing))).toMatchObject({
    kind: 'stay',
    cause: 'plugin',
  });
});

/** Responses of WordPress, one for each command; the last one repeats. Null for a failure. */
function wordpress(...responses: readonly (SaltHashes | null)[]) {
  const pauses: number[] = [];
  let calls = 0;
  const commands = {
    salts: async (_site: unknown, mark: string) => {
      expect(mark).toBe('ab'.repeat(16));
      const response = responses[Math.min(calls++, responses.length - 1)];
      if (response === null || response === undefined) throw new Error('no answer');
      return response;
    },
  };
  const pause = async (ms: number) => {
    pauses.push(ms);
  };
  return {
    prove: (written: NewSalts) => proveSalts(commands, siteConfig(), written, pause),
    pauses,
    asked: () => calls,
  };
}

it('two new requests are sent, and the worse response counts', async () => {
  const one = wordpress(prints('new'));
  expect(await one.prove(written())).toEqual({ kind: 'replaced' });
  expect([one.asked(), one.pauses]).toEqual([2, []]);
  const two = wordpress(prints('new'), prints('old'));
  expect(await two.prove(written())).toMatchObject({ kind: 'stay', cause: 'old-file' });
});

it('PHP gets time to load the new file', async () => {
  const site = wordpress(prints('old'), prints('old'), prints('new'));
  expect(await site.prove(written())).toEqual({ kind: 'replaced' });
  expect(site.pauses).toHaveLength(1);
});

it('there is no pause where no new file can exist', async () => {
  const site = wordpress(prints('old'));
  expect((await site.prove(written({ elsewhere: NAMES }))).kind).toBe('stay');
  expect([site.asked(), site.pauses]).toEqual([2, []]);
});

it('an unknown outcome is reported as unknown', async () => {
  const site = wordpress(null);
  const outcome = await site.prove(written());
  expect(outcome).toEqual({ kind: 'unknown' });
  expect(toText(outcome)).toContain('It is not known');
});

it('nothing is sent where the keys were kept', async () => {
  const site = wordpress(null);
  expect(await site.prove({ change: 'kept' })).toEqual({ kind: 'kept' });
  expect(site.asked()).toBe(0);
});
