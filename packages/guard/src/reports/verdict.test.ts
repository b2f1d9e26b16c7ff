import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reportFacts } from '../../test/support/report-facts.js';
import { english } from '../i18n/language.js';
import type { Essential } from '../settings/essentials.js';
import type { LoginFacts, ReportFacts } from './report-facts.js';
import { describeLogins, toVerdict } from './verdict.js';

const twoFactor: Essential = { page: 'login-settings', title: 'Two-factor Authentication', on: false, complete: false };
const xmlRpc: Essential = { page: 'site-security', title: 'Disable XML-RPC', on: false, complete: false };
const week = { ...reportFacts.now, refused: 21, failedLogins: 3, events: [] };
const calmWeek: ReportFacts = {
  ...reportFacts,
  now: week,
  before: week,
  logins: { attempts: 3, addresses: 1, locked: 0, succeeded: [] },
};
const buildVerdict = (facts: Partial<ReportFacts>, essentials: readonly Essential[] = []) =>
  toVerdict(english, { ...calmWeek, ...facts }, { name: 'example.com', essentials });

const threeLocked = { attempts: 21, addresses: 3, locked: 3, succeeded: [] };
const nothing = { humans: 0, bots: 0, refused: 0, failedLogins: 0, events: [] };

describe('the headline of a report', () => {
  it.each<[string, Partial<ReportFacts>, Essential[], string, string]>([
    [
      'a week like the one before',
      {},
      [],
      'A quiet week for example.com',
      '21 visits and login attempts were blocked. You don’t need to do anything urgent.',
    ],
    [
      'a week with an essential that is off',
      {},
      [twoFactor],
      'A quiet week for example.com',
      '21 visits and login attempts were blocked. You don’t need to do anything urgent.',
    ],
    [
      'nothing blocked',
      { now: { ...week, refused: 0 } },
      [],
      'A quiet week for example.com',
      'Nothing had to be blocked. You don’t need to do anything urgent.',
    ],
    [
      'many blocked visits, as always',
      { now: { ...week, refused: 900 }, before: { ...week, refused: 900 } },
      [],
      'An ordinary week for example.com',
      '900 visits and login attempts were blocked. You don’t need to do anything urgent.',
    ],
    [
      'no requests',
      { now: nothing, before: null },
      [],
      'Nothing was recorded for example.com',
      'No visits, no logins and no changes were seen.',
    ],
    [
      'three lockouts',
      { logins: threeLocked },
      [],
      'Passwords were guessed at example.com, nobody got in',
      '21 attempts from 3 addresses, 3 locked, nobody got in. 21 visits and login attempts were blocked. You don’t need to do anything urgent.',
    ],
    [
      'three lockouts without a second factor',
      { logins: threeLocked },
      [xmlRpc, twoFactor],
      'Turn on “Two-factor Authentication” for example.com',
      'Passwords were guessed. 21 attempts from 3 addresses, 3 locked, nobody got in. 21 visits and login attempts were blocked.',
    ],
    [
      'three lockouts, and it is unknown who logged in',
      { logins: { ...threeLocked, succeeded: null } },
      [],
      'Passwords were guessed at example.com',
      '21 attempts from 3 addresses, 3 locked. 21 visits and login attempts were blocked. You don’t need to do anything urgent.',
    ],
    [
      'many failed logins without a lockout',
      { now: { ...week, failedLogins: 300 }, before: { ...week, failedLogins: 300 } },
      [],
      'Passwords were guessed at example.com, nobody got in',
      '3 attempts from 1 address, nobody got in. 21 visits and login attempts were blocked. You don’t need to do anything urgent.',
    ],
    [
      '89 % more blocked',
      { now: { ...week, refused: 189 }, before: { ...week, refused: 100 } },
      [],
      'A busier week than usual for example.com',
      '189 visits and login attempts were blocked. The week before there were 100. You don’t need to do anything urgent.',
    ],
    [
      '89 % more blocked, and an essential is off',
      { now: { ...week, refused: 189 }, before: { ...week, refused: 100 } },
      [xmlRpc],
      'Turn on “Disable XML-RPC” for example.com',
      '189 visits and login attempts were blocked. The week before there were 100.',
    ],
    [
      'a few more blocked',
      { now: { ...week, refused: 4 }, before: { ...week, refused: 1 } },
      [],
      'A quiet week for example.com',
      '4 visits and login attempts were blocked. You don’t need to do anything urgent.',
    ],
    [
      'a member who mistyped',
      { logins: { attempts: 2, addresses: 1, locked: 0, succeeded: [{ address: '192.0.2.1', failed: 2 }] } },
      [],
      'A quiet week for example.com',
      '21 visits and login attempts were blocked. You don’t need to do anything urgent.',
    ],
    [
      'an address that guessed and got in',
      { logins: { ...threeLocked, succeeded: [{ address: '203.0.113.9', failed: 9 }] } },
      [twoFactor],
      'Check a login to example.com',
      '21 attempts from 3 addresses, 3 locked, 1 address logged in as well.',
    ],
    [
      'a new administrator',
      { administrators: [{ login: 'editor-1', kind: 'user.role' }] },
      [twoFactor],
      'Check the new administrator of example.com',
      'Administrators can change everything on the site. 21 visits and login attempts were blocked.',
    ],
    [
      'a new administrator in a week of guesses',
      {
        administrators: [{ login: 'editor-1', kind: 'user.role' }],
        logins: { attempts: 21, addresses: 3, locked: 3, succeeded: [] },
      },
      [twoFactor],
      'Check the new administrator of example.com',
      'Administrators can change everything on the site. Passwords were guessed. 21 attempts from 3 addresses, 3 locked, nobody got in. 21 visits and login attempts were blocked.',
    ],
    [
      'visits that were not recorded',
      { dropped: 7 },
      [],
      'More visits than could be counted for example.com',
      '21 visits and login attempts were blocked.',
    ],
  ])('of %s', (_week, facts, essentials, headline, summary) => {
    expect(buildVerdict(facts, essentials)).toMatchObject({ headline, summary });
  });

  const count = fc.integer({ min: 0, max: 2000 });
  const totals = fc.record({
    ...{ humans: count, bots: count, refused: count, failedLogins: count },
    events: fc.constant([]),
  });
  const anyFacts = fc.record({
    now: totals,
    before: fc.option(totals),
    logins: fc.record({
      ...{ attempts: count, addresses: count, locked: fc.integer({ min: 0, max: 3 }) },
      succeeded: fc.option(
        fc.array(fc.record({ address: fc.ipV4(), failed: fc.integer({ min: 1, max: 9 }) }), { maxLength: 2 }),
      ),
    }),
    administrators: fc.array(fc.constant({ login: 'owner', kind: 'user.created' as const }), { maxLength: 1 }),
    dropped: fc.integer({ min: 0, max: 2 }),
  });

  it('is never a calm one while the facts contain anything notable', () => {
    fc.assert(
      fc.property(anyFacts, fc.subarray([twoFactor, xmlRpc]), (facts, essentials) => {
        const { headline } = buildVerdict(facts, essentials);
        const { now, before, logins } = facts;
        const notable =
          logins.locked > 0 ||
          (logins.succeeded ?? []).some(({ failed }) => failed >= 5) ||
          facts.administrators.length > 0 ||
          facts.dropped > 0 ||
          now.failedLogins >= 100 ||
          (before !== null && now.refused >= before.refused * 1.89 && now.refused - before.refused >= 20);
        if (notable) expect(headline).not.toMatch(/quiet|ordinary|nothing was recorded/i);
        // A report says that nobody got in only when that is known.
        if (/nobody got in/.test(headline)) expect(logins.succeeded).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });
});

it('a matter that only the owner can check has a box of its own, with a link to the log', () => {
  const intruder = buildVerdict({ logins: { ...threeLocked, succeeded: [{ address: '203.0.113.9', failed: 9 }] } });
  expect(intruder.check).toEqual({
    title: 'Was this login yours?',
    text: '203.0.113.9 logged in after 9 wrong passwords. If none of you did that, block the user and set a new password.',
    button: 'See who logged in',
    activity: 'login',
  });
  const administrators = buildVerdict({
    administrators: [
      { login: 'owner', kind: 'user.created' },
      { login: 'editor-1', kind: 'user.role' },
    ],
  });
  expect(administrators.headline).toBe('Check the 2 new administrators of example.com');
  expect(administrators.check).toMatchObject({ button: 'See who was added', activity: 'user.created' });
  expect(administrators.check?.text).toMatch(/^owner, editor-1\./);
  expect(buildVerdict({}).check).toBeNull();
});

it.each<[Partial<LoginFacts>, string]>([
  [{ attempts: 0, addresses: 0, locked: 0, succeeded: [] }, ''],
  [{}, '21 attempts from 3 addresses, 3 locked, nobody got in.'],
  [{ attempts: 1, addresses: 1, locked: 0 }, '1 attempt from 1 address, nobody got in.'],
  [{ locked: 1, succeeded: null }, '21 attempts from 3 addresses, 1 locked.'],
  [
    { succeeded: [{ address: '192.0.2.1', failed: 1 }] },
    '21 attempts from 3 addresses, 3 locked, 1 address logged in as well.',
  ],
])('failed logins %o are described as “%s”', (logins, sentence) => {
  expect(describeLogins(english, { ...threeLocked, ...logins })).toBe(sentence);
});
