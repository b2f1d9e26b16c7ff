import { expect, it } from 'vitest';
import { siteConfig } from '../../test/support/site-config.js';
import type { Signal } from './signature.js';
import { createStaffChecks } from './staff-checks.js';

const site = siteConfig({});
const signed = (flags: string): Signal => ({ kind: 'ok', policyHash: null, connectorVersion: '1.0.0', flags });

function setUp() {
  let now = 1_000_000;
  const fake = { queries: 0, signal: signed('S') as Signal | null };
  const checks = createStaffChecks({
    clock: () => now,
    async probe({ id }) {
      fake.queries++;
      await Promise.resolve();
      if (fake.signal !== null) checks.recordSignal(id, fake.signal);
    },
  });
  const pass = (ms: number): void => {
    now += ms;
  };
  return { checks, fake: fake, pass };
}

it('a signal of the last ten seconds is sufficient; a missing one changes nothing, as with static files', () => {
  const { checks, pass } = setUp();
  expect(checks.isCertain(site.id)).toBe(false);
  checks.recordSignal(site.id, signed('mS'));
  pass(9_999);
  checks.recordSignal(site.id, { kind: 'missing' });
  expect(checks.isCertain(site.id)).toBe(true);
  pass(1);
  expect(checks.isCertain(site.id)).toBe(false);
});

it.each<[string, Signal]>([
  ['of an older connector', signed('m')],
  ['of a connector with another key', { kind: 'other_secret', keyId: '00000000' }],
  ['that is forged', { kind: 'invalid' }],
])('a signal %s ends the certainty', (_kind, signal) => {
  const { checks } = setUp();
  checks.recordSignal(site.id, signed('S'));
  checks.recordSignal(site.id, signal);
  expect(checks.isCertain(site.id)).toBe(false);
});

it('confirm sends one command for all waiting requests', async () => {
  const { checks, fake } = setUp();
  expect(await Promise.all([1, 2, 3].map(() => checks.confirm(site)))).toEqual([true, true, true]);
  expect(await checks.confirm(site)).toBe(true);
  expect(fake.queries).toBe(1);
});

it('confirm sends no command for five seconds after the connector did not respond', async () => {
  const { checks, fake, pass } = setUp();
  fake.signal = null;
  expect([await checks.confirm(site), await checks.confirm(site), fake.queries]).toEqual([false, false, 1]);
  fake.signal = signed('S');
  pass(5000);
  expect([await checks.confirm(site), fake.queries]).toEqual([true, 2]);
});

it('a doubt causes a new command, and a site that is no longer served is deleted', async () => {
  const { checks, fake } = setUp();
  await checks.confirm(site);
  checks.recordMissingSignal(site.id);
  expect(checks.isCertain(site.id)).toBe(false);
  expect([await checks.confirm(site), fake.queries]).toEqual([true, 2]);
  checks.delete(site.id);
  expect(checks.isCertain(site.id)).toBe(false);
});
