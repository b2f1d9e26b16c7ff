import { defaultSecurityOptions } from '@security-optimizer/contract/protections';
import { describe, expect, it } from 'vitest';
import { AddressSet } from '../lib/address-set.js';
import { defaultLoginSettings } from '../login/login-settings.js';
import { NOT_FOUND, type Protection } from '../protections/protection.js';
import { defaultSitePaths } from '../site.js';
import { factsOf, noFault } from '../testing/ask.js';
import { compilePolicy } from './compile-policy.js';
import { LivePolicy } from './live-policy.js';

const input = {
  options: defaultSecurityOptions,
  paths: defaultSitePaths,
  blocked: AddressSet.from(['192.0.2.1']),
  login: defaultLoginSettings,
  timeZone: 'UTC',
};
const broken = (name: string, onError: Protection['onError']): Protection => ({
  name,
  onError,
  prepare: () => ({
    check() {
      throw new Error(`${name} is broken`);
    },
    editHeaders() {
      throw new Error(`${name} is broken`);
    },
    stopHeaders() {
      throw new Error(`${name} is broken`);
    },
  }),
});
const last: Protection = {
  name: 'last',
  onError: 'allow',
  prepare: () => ({
    check: () => NOT_FOUND,
    editHeaders: (_facts, headers) => void headers.push('X-Last', '1'),
    stopHeaders: () => new Set(['x-last']),
  }),
};

describe('a rule that fails', () => {
  it('lets the request go on to the next rule when it says allow', () => {
    const faults: string[] = [];
    const policy = compilePolicy(input, [broken('one', 'allow'), last]);
    expect(policy.decide(factsOf('/'), (rule) => faults.push(rule))?.rule).toBe('last');
    expect(faults).toEqual(['one']);
  });

  it('refuses the request when it says refuse', () => {
    const faults: unknown[] = [];
    const policy = compilePolicy(input, [broken('one', 'refuse'), last]);
    const verdict = policy.decide(factsOf('/'), (_rule, cause) => faults.push(cause));
    expect(verdict).toMatchObject({ rule: 'one', refusal: { status: 403 } });
    expect(faults).toEqual([new Error('one is broken')]);
  });

  it('leaves out its header edit, and the others still run', () => {
    const faults: string[] = [];
    const policy = compilePolicy(input, [broken('one', 'refuse'), last]);
    const headers: string[] = [];
    policy.editHeaders(factsOf('/'), headers, (rule) => faults.push(rule));
    expect(headers).toEqual(['X-Last', '1']);
    expect([...(policy.stopHeaders(factsOf('/'), (rule) => faults.push(rule)) ?? [])]).toEqual(['x-last']);
    expect(faults).toEqual(['one', 'one']);
  });
});

describe('a policy', () => {
  it('asks about the visitor before it looks at the path', () => {
    expect(compilePolicy(input).decide(factsOf('/xmlrpc.php'), noFault)?.rule).toBe('blocked-visitor');
  });

  it('is the defaults of a fresh site until a site has its own, and is swapped whole', () => {
    const live = new LivePolicy();
    expect(live.get('site').decide(factsOf('/xmlrpc.php'), noFault)?.rule).toBe('xml-rpc');
    expect(live.get('site').decide(factsOf('/feed'), noFault)).toBeNull();
    const policy = compilePolicy(input);
    live.swap('site', policy);
    expect(live.get('site')).toBe(policy);
    expect(live.get('other')).not.toBe(policy);
  });
});
