import { defaultSecurityOptions } from '@security-optimizer/contract/settings/protections';
import { describe, expect, it } from 'vitest';
import { noFault, parseFacts } from '../../test/support/evaluate.js';
import { AddressSet } from '../lib/address-set.js';
import { defaultSitePaths } from '../site.js';
import { defaultLoginSettings } from './login-policy.js';
import { NOT_FOUND, type Rule } from './rule.js';
import { compileSnapshot, LiveSnapshots, SnapshotCache } from './snapshot.js';

const input = {
  options: defaultSecurityOptions,
  paths: defaultSitePaths,
  blocked: AddressSet.from(['192.0.2.1']),
  login: defaultLoginSettings,
  timeZone: 'UTC',
};
const broken = (name: string, onError: Rule['onError']): Rule => ({
  name,
  onError,
  compile: () => ({
    check() {
      throw new Error(`${name} is broken`);
    },
    editResponseHeaders() {
      throw new Error(`${name} is broken`);
    },
    stripRequestHeaders() {
      throw new Error(`${name} is broken`);
    },
  }),
});
const last: Rule = {
  name: 'last',
  onError: 'allow',
  compile: () => ({
    check: () => NOT_FOUND,
    editResponseHeaders: (_facts, headers) => void headers.push('X-Last', '1'),
    stripRequestHeaders: () => new Set(['x-last']),
  }),
};

describe('a rule that throws', () => {
  it('passes the request to the next rule when its onError is allow', () => {
    const faults: string[] = [];
    const snapshot = compileSnapshot(input, [broken('one', 'allow'), last]);
    expect(snapshot.evaluate(parseFacts('/'), (rule) => faults.push(rule))?.rule).toBe('last');
    expect(faults).toEqual(['one']);
  });

  it('refuses the request when its onError is refuse', () => {
    const faults: unknown[] = [];
    const snapshot = compileSnapshot(input, [broken('one', 'refuse'), last]);
    const verdict = snapshot.evaluate(parseFacts('/'), (_rule, cause) => faults.push(cause));
    expect(verdict).toMatchObject({ rule: 'one', refusal: { status: 403 } });
    expect(faults).toEqual([new Error('one is broken')]);
  });

  it('has its header edit skipped, and the others still run', () => {
    const faults: string[] = [];
    const snapshot = compileSnapshot(input, [broken('one', 'refuse'), last]);
    const headers: string[] = [];
    snapshot.editResponseHeaders(parseFacts('/'), headers, (rule) => faults.push(rule));
    expect(headers).toEqual(['X-Last', '1']);
    expect([...(snapshot.stripRequestHeaders(parseFacts('/'), (rule) => faults.push(rule)) ?? [])]).toEqual(['x-last']);
    expect(faults).toEqual(['one', 'one']);
  });
});

describe('a snapshot', () => {
  it('evaluates the visitor before the path', () => {
    expect(compileSnapshot(input).evaluate(parseFacts('/xmlrpc.php'), noFault)?.rule).toBe('blocked-visitor');
  });

  it('has the defaults of a fresh site until the site has its own, and is replaced as a whole', () => {
    const snapshots = new LiveSnapshots();
    expect(snapshots.get('site').evaluate(parseFacts('/xmlrpc.php'), noFault)?.rule).toBe('xml-rpc');
    expect(snapshots.get('site').evaluate(parseFacts('/feed'), noFault)).toBeNull();
    const snapshot = compileSnapshot(input);
    snapshots.swap('site', snapshot);
    expect(snapshots.get('site')).toBe(snapshot);
    expect(snapshots.get('other')).not.toBe(snapshot);
  });
});

const freshSite = { ...input, blocked: AddressSet.empty };

it('is shared by sites with the same settings, and separate for a site that differs', () => {
  const policies = new SnapshotCache();
  const first = policies.compile(freshSite);
  expect(policies.compile({ ...freshSite, paths: { ...defaultSitePaths } })).toBe(first);
  const other = policies.compile({ ...freshSite, login: { ...defaultLoginSettings, login_attempts: 0 } });
  expect(other).not.toBe(first);
  expect(other.login.limit).toBe(0);
});

it('is never shared by a site with blocked addresses', () => {
  const policies = new SnapshotCache();
  const open = policies.compile(freshSite);
  const first = policies.compile({ ...freshSite, blocked: AddressSet.from(['192.0.2.1']) });
  const second = policies.compile({ ...freshSite, blocked: AddressSet.from(['192.0.2.2']) });
  expect(new Set([open, first, second]).size).toBe(3);
});

it('is dropped after a long time without use', () => {
  const policies = new SnapshotCache();
  const first = policies.compile(freshSite);
  for (let site = 0; site < 100; site++)
    policies.compile({ ...freshSite, paths: { ...defaultSitePaths, home: `/${site}` } });
  expect(policies.compile(freshSite)).not.toBe(first);
});
