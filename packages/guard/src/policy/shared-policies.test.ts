import { defaultSecurityOptions } from '@security-optimizer/contract/protections';
import { expect, it } from 'vitest';
import { AddressSet } from '../lib/address-set.js';
import { defaultLoginSettings } from '../login/login-settings.js';
import { defaultSitePaths } from '../site.js';
import { SharedPolicies } from './shared-policies.js';

const input = {
  options: defaultSecurityOptions,
  paths: defaultSitePaths,
  blocked: AddressSet.empty,
  login: defaultLoginSettings,
  timeZone: 'UTC',
};

it('sites with the same settings have the same snapshot, one that differs has its own', () => {
  const policies = new SharedPolicies();
  const first = policies.compile(input);
  expect(policies.compile({ ...input, paths: { ...defaultSitePaths } })).toBe(first);
  const other = policies.compile({ ...input, login: { ...defaultLoginSettings, login_attempts: 0 } });
  expect(other).not.toBe(first);
  expect(other.login.limit).toBe(0);
});

it('a site with blocked addresses never shares its snapshot', () => {
  const policies = new SharedPolicies();
  const open = policies.compile(input);
  const first = policies.compile({ ...input, blocked: AddressSet.from(['192.0.2.1']) });
  const second = policies.compile({ ...input, blocked: AddressSet.from(['192.0.2.2']) });
  expect(new Set([open, first, second]).size).toBe(3);
  expect([open, first, second].map(({ blocked }) => blocked.size)).toEqual([0, 1, 1]);
});

it('snapshots that nobody met for long are forgotten', () => {
  const policies = new SharedPolicies();
  const first = policies.compile(input);
  for (let site = 0; site < 100; site++)
    policies.compile({ ...input, paths: { ...defaultSitePaths, home: `/${site}` } });
  expect(policies.compile(input)).not.toBe(first);
});
