import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { siteConfig } from '../../test/support/site-config.js';
import { KeyedMutex } from '../lib/mutex.js';
import { hashPolicy } from '../wordpress/signature.js';
import { createPolicyPush } from './connector-policy.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const site = siteConfig();
const policy = { wp_remove_version: 1, sg2fa: 1, two_factor_roles: '' };

/** A push to a WordPress that accepts every policy. `pushed` holds the instructions about sessions. */
function policyPush() {
  const pushed: boolean[] = [];
  const push = createPolicyPush({
    client: {
      policy: async (_site, { reconcile = false }) => {
        pushed.push(reconcile);
        return {};
      },
    },
    current: () => policy,
    mutex: new KeyedMutex(),
    clock: Date.now,
    logger: pino({ level: 'silent' }),
  });
  return { push, pushed };
}

it('pushes the policy again that WordPress lost while a report from before the last push was waiting', async () => {
  const { push, pushed } = policyPush();
  push.reconcile(site, 'lost once');
  await vi.advanceTimersByTimeAsync(1000);
  push.reconcile(site, 'from before the change');
  await push.push(site, policy);
  push.reconcile(site, 'lost again');
  await vi.advanceTimersByTimeAsync(5000);
  expect(pushed).toHaveLength(3);
  push.reconcile(site, hashPolicy(policy));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(pushed).toHaveLength(3);
  push.stop();
});

it('WordPress ends sessions of a lost policy, but not before a change of the second factor itself', async () => {
  const { push, pushed } = policyPush();
  await push.push(site, { ...policy, wp_remove_version: 0 });
  await push.push(site, { ...policy, sg2fa: 0 });
  await push.push(site, { ...policy, two_factor_roles: 'shop_manager' });
  expect(pushed).toEqual([true, false, false]);
});
