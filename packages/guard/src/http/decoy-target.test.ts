import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listHiddenNames } from '../rules/login-policy.js';
import { defaultSitePaths } from '../site.js';
import { toCanonicalPath } from './canonical-path.js';
import { deriveDecoyKey, toDecoyTarget as disguise, toSiblingTarget } from './decoy-target.js';

const hidden = listHiddenNames(defaultSitePaths);
const decoyTarget = (target: string, names: ReadonlySet<string>, id: string) =>
  disguise(target, names, deriveDecoyKey('secret', id))?.target ?? target;
const shape = (target: string) => target.replace(/[a-z]/g, 'x').replace(/[A-Z]/g, 'X');

describe('the decoy of a hidden address', () => {
  it('keeps spelling, ending, path and query', () => {
    expect(decoyTarget('//WP-login.php;x/y?a=b', hidden, 'id')).toMatch(/^\/\/[A-Z]{2}-[a-z]{5}\.php;x\/y\?a=b$/);
    expect(decoyTarget('/blog/wp-admin/install.php', hidden, 'id')).toMatch(
      /^\/blog\/[a-z]{2}-[a-z]{5}\/install\.php$/,
    );
    expect(decoyTarget('/%77p-login%2ephp', hidden, 'id')).toMatch(/^\/%[67][0-9a-f][a-z]-[a-z]{5}%2ephp$/);
    expect(decoyTarget('/x%2F..%2Fwp-login.php%20', hidden, 'id')).toMatch(/^\/x%2F\.\.%2F[a-z]{2}-[a-z]{5}\.php%20$/);
  });

  it('contains no hidden name, whatever its spelling, and has the same number of segments', () => {
    const letter = (character: string) =>
      fc.constantFrom(
        character,
        character.toUpperCase(),
        `%${character.charCodeAt(0).toString(16)}`,
        `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
      );
    const spelled = fc
      .constantFrom(...hidden)
      .chain((name) => fc.tuple(...[...name].map(letter)).map((letters) => letters.join('')));
    const around = fc.constantFrom('/', '//', '/./', '/a/../', '/blog/', '/index.php/', '/x%2f..%2f');
    const upstream = fc.constantFrom('', '/', ';x', '.', '%20', '/x', '::$DATA', '?a=/wp-login.php');
    fc.assert(
      fc.property(around, spelled, upstream, fc.string(), (before, name, after, id) => {
        const target = before + name + after;
        const requested = toCanonicalPath(target);
        const decoy = decoyTarget(target, hidden, id);
        const seen = toCanonicalPath(decoy);
        if (!requested.ok || !seen.ok) throw new Error(`${target} -> ${decoy}`);
        expect(seen.path.segments.some((segment) => hidden.has(segment))).toBe(false);
        expect(seen.path.segments).toHaveLength(requested.path.segments.length);
        expect(decoy).toHaveLength(target.length);
        if (!name.includes('%')) expect(shape(decoy)).toBe(shape(target));
      }),
      { numRuns: 500 },
    );
  });

  it('is not created for any other target', () => {
    for (const target of ['/', '/wp-login', '/wp-admins/', '/a/wp-content/x.php?f=wp-login.php', '/wp-login.phpx']) {
      expect(decoyTarget(target, hidden, 'id')).toBe(target);
    }
  });
});

describe('the connector, with the samples that both sides share', () => {
  const file = createRequire(import.meta.url).resolve('@security-optimizer/connector/protocol-vectors.json');
  const { secret, decoys } = JSON.parse(readFileSync(file, 'utf8')) as {
    secret: string;
    decoys: { requestId: string; samples: { asked: string; target: string }[] };
  };
  for (const { asked: requested, target } of decoys.samples) {
    it(`can derive the original path: ${requested}`, () => {
      expect(disguise(requested, hidden, deriveDecoyKey(secret, decoys.requestId))).toEqual({
        target,
        reversible: true,
      });
    });
  }

  it('can’t derive a renamed admin folder, so such a decoy is marked as irreversible', () => {
    expect(disguise('/office/', new Set([...hidden, 'office']), deriveDecoyKey(secret, 'x'))?.reversible).toBe(false);
  });
});

describe('the sibling of a page without a hidden name', () => {
  it('is in the same folder and has the same query', () => {
    expect(toSiblingTarget('/a/b/?x=1', Math.random)).toMatch(/^\/a\/[a-z]{5}\/\?x=1$/);
    expect(toSiblingTarget('/members', Math.random)).toMatch(/^\/[a-z]{7}$/);
    const long = `/me?${'a'.repeat(2000)}`;
    expect(toSiblingTarget(long, Math.random)).toHaveLength(long.length);
    expect(toSiblingTarget('/', Math.random)).toMatch(/^\/[a-z]{5}\/$/);
  });
});
