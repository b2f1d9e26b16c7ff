import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCanonicalPath } from './canonical-path.js';

function toPath(target: string): string {
  const canonical = toCanonicalPath(target);
  return canonical.ok ? canonical.path.path : `refused: ${canonical.reason}`;
}

const FILES = [
  '/xmlrpc.php',
  '/wp-login.php',
  '/wp-content/uploads/2024/05/x.php',
  '/.git/config',
  '/wp-admin/plugin-editor.php',
];

/** One of many spellings of a file's path. Each step keeps the meaning for some server. */
function spelling(file: string): fc.Arbitrary<string> {
  const letters = file.split('');
  return fc
    .tuple(
      fc.array(fc.constantFrom('plain', 'encode', 'encode-low', 'upper'), {
        minLength: letters.length,
        maxLength: letters.length,
      }),
      fc.array(fc.constantFrom('', '/', '//', './', 'x/../', 'a/b/../../', '%2e/', '%2F', 'y/%2e%2e/', '/./'), {
        minLength: letters.length,
        maxLength: letters.length,
      }),
      fc.constantFrom(
        '',
        '.',
        '...',
        '%20',
        '%2e',
        ' .%20'.replace(' ', '%20'),
        ';x',
        ';jsessionid=1',
        '%3bx',
        '::$DATA',
        '%3a%3a$data',
        '%3Fx',
      ),
    )
    .map(([how, between, end]) => {
      const written = letters.map((letter, i) => {
        if (letter === '/') return `/${between[i]}`;
        if (how[i] === 'encode') return `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
        if (how[i] === 'encode-low') return `%${letter.charCodeAt(0).toString(16)}`;
        return how[i] === 'upper' ? letter.toUpperCase() : letter;
      });
      return written.join('') + end;
    });
}

describe('the canonical path', () => {
  it.each(FILES)('is the same for every spelling of %s', (file) => {
    fc.assert(
      fc.property(spelling(file), (target) => {
        expect([target, toPath(target)]).toEqual([target, file]);
      }),
      { numRuns: 1000 },
    );
  });

  it('of a canonical path is that path itself', () => {
    const segment = fc.string({ unit: fc.constantFrom(...'abcz019-_~.'.split('')), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 5 }), fc.boolean(), (segments, slash) => {
        const first = toCanonicalPath(`/${segments.join('/')}${slash ? '/' : ''}`);
        if (!first.ok) return;
        expect(toCanonicalPath(first.path.path)).toMatchObject({ ok: true, path: first.path, query: '' });
      }),
      { numRuns: 2000 },
    );
  });

  it('never contains an empty, dot or upper-case segment, and the function never throws', () => {
    const text = fc.string({
      unit: fc.constantFrom(...'/.%2eE5cCfF;:$?#\\aA \u00e9\u0000\u00ff'.split('')),
      maxLength: 30,
    });
    fc.assert(
      fc.property(text, (rest) => {
        const canonical = toCanonicalPath(`/${rest}`);
        if (!canonical.ok) return;
        const { path, segments } = canonical.path;
        expect(
          segments.every((segment) => !['', '.', '..'].includes(segment) && segment === segment.toLowerCase()),
        ).toBe(true);
        expect(path.replace(/\/$/, '')).toBe(segments.length === 0 ? '' : `/${segments.join('/')}`);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['/', '/'],
    ['//', '/'],
    ['/.', '/'],
    ['/a/..', '/'],
    ['/a/.', '/a/'],
    ['/a/b/..', '/a/'],
    ['/\u00c3\u009cber/', '/über/'],
    ['/%C3%9Cber/', '/über/'],
    ['/50%25-off/', '/50%-off/'],
    ['/hello-world/?a=%00&b=../..', '/hello-world/'],
    ['//example.com/x', '/example.com/x'],
    ['/search/what%3F/', '/search/what/'],
    ['/search/.../', '/search/.../'],
    ['/search/%20/', '/search/ /'],
    ['/search/%3F/', '/search/?/'],
  ])('of %s is %s', (target, path) => {
    expect(toPath(target)).toBe(path);
  });

  it.each([
    ['NUL', '/x.php%00.jpg', 'control-character'],
    ['a line end', '/feed%0a', 'control-character'],
    ['a line end, encoded for a header', '/x%0d%0aSet-Cookie:a', 'control-character'],
    ['a broken percent sign', '/x%', 'bad-percent-encoding'],
    ['a broken percent sign', '/x%2', 'bad-percent-encoding'],
    ['a broken percent sign', '/x%zz', 'bad-percent-encoding'],
    ['characters in Microsoft’s own encoding', '/%u0078mlrpc.php', 'bad-percent-encoding'],
    ['a path above the root, encoded twice', '/%252e%252e/x', 'double-encoding'],
    ['a path above the root, encoded three times', '/%25252e%25252e%25252fx', 'double-encoding'],
    ['a long path of ambiguous names', `/${'%5c%2509;%3f/'.repeat(600)}`, 'double-encoding'],
    ['more levels of encoding than any program decodes', `/%${'25'.repeat(40)}41`, 'double-encoding'],
    ['an overlong slash', '/..%c0%afx', 'bad-utf8'],
    ['an overlong dot', '/%c0%ae%c0%ae/x', 'bad-utf8'],
    ['an overlong dot in three bytes', '/%e0%80%ae%e0%80%ae/x', 'bad-utf8'],
    ['a script whose name contains a byte that is not UTF-8', '/wp-content/uploads/%E9.php', 'bad-utf8'],
    ['a script whose name contains a control character', '/wp-content/uploads/a%01b.php', 'control-character'],
    ['a path above the root by a backslash', '/..%5cwp-config.php', 'backslash'],
    ['a path above the root', '/../x', 'above-root'],
    ['a path above the root', '/a/%2e%2e/../x', 'above-root'],
    ['dots and a parameter', '/a/..;/b', 'not-a-path'],
    ['dots and a space', '/a/..%20/b', 'not-a-path'],
    ['a dot and a space', '/.%20/b', 'not-a-path'],
    ['an encoded parameter after dots', '/a/..%3bx/b', 'not-a-path'],
    ['a fragment', '/a#b', 'fragment'],
    ['a fragment after the query', '/a?b#c', 'fragment'],
    ['no leading slash', 'a', 'not-a-path'],
    ['nothing', '', 'not-a-path'],
    ['a script after a parameter', '/wp-content/uploads/x.jpg;.php', 'two-names'],
    ['a script after a question mark', '/wp-content/uploads/x.jpg%3f.php', 'two-names'],
    ['a script rewritten at a question mark', '/site/xmlrpc.php%3fx.php', 'two-names'],
    ['a script with an alternate data stream', '/wp-content/uploads/x.jpg::$a.php', 'two-names'],
  ])('refuses %s: %s', (_what, target, reason) => {
    expect(toCanonicalPath(target)).toEqual({ ok: false, reason });
  });

  it.each([
    ['/wp-content/upload%c5%bf/x.php', '/wp-content/uploads/x.php'],
    ['/.g%e2%80%8cit/config', '/.git/config'],
    ['/%ef%bd%98mlrpc.php', '/xmlrpc.php'],
    ['/wp-content/uploads:$I30:$INDEX_ALLOCATION/x.php', '/wp-content/uploads/x.php'],
  ])('of %s is the one of a case-insensitive file system', (target, path) => {
    expect(toPath(target)).toBe(path);
  });

  it.each([
    ['a Latin-1 letter', '/caf%E9.jpg', 'bad-utf8', ['/caf.jpg', '/caf\u00e9.jpg']],
    ['a raw Latin-1 letter', '/caf\xe9.jpg', 'bad-utf8', ['/caf.jpg', '/caf\u00e9.jpg']],
    ['a surrogate', '/%ed%a0%80x', 'bad-utf8', ['/x']],
    ['an incomplete UTF-8 sequence', '/x%c3/', 'bad-utf8', ['/x/']],
    ['an overlong slash', '/x%c0%afy', 'bad-utf8', ['/xy', '/x/y']],
    ['an overlong dot in three bytes', '/%e0%80%aegit', 'bad-utf8', ['/git', '/.git']],
    ['an overlong dot in four bytes', '/%f0%80%80%aegit', 'bad-utf8', ['/git', '/.git']],
    ['a tab', '/tab%09here.txt', 'control-character', ['/tabhere.txt', '/tab']],
    ['DEL', '/x%7f', 'control-character', ['/x']],
    ['C1', '/x%c2%85', 'control-character', ['/x']],
    ['a percent sign and a number', '/50%25de/', 'double-encoding', ['/50/', '/50\u00fe/']],
    ['an address, encoded twice', '/go/https%253A%252F%252Fexample.com', 'double-encoding', ['/go/https:/example.com']],
    ['triple encoding', '/%25252e', 'double-encoding', ['/%2e', '/']],
    ['characters in Microsoft’s own encoding', '/%25u0078y', 'double-encoding', ['/xy']],
    ['a backslash', '/search/c:%5Cusers/', 'backslash', ['/search/c:/users/']],
    ['a raw backslash', '/a\\b', 'backslash', ['/a/b']],
    ['a backslash, encoded twice', '/a%255cb', 'double-encoding', ['/a\\b', '/a/b']],
    ['a semicolon', '/a%3Bb.jpg', 'two-names', ['/a;b.jpg']],
    ['a question mark', '/a%3Fb.jpg', 'two-names', ['/a?b.jpg']],
    ['a question mark before a folder', '/a%3Fb/c.jpg', 'two-names', ['/a', '/a?b/c.jpg']],
    ['a stream', '/a:$b', 'two-names', ['/a:$b']],
    ['three dots', '/a/.../b', 'not-a-path', ['/a/b']],
    ['a single space', '/a/%20/b', 'not-a-path', ['/a/b']],
  ])('of a target with %s has other interpretations: %s', (_what, target, reason, interpretations) => {
    const canonical = toCanonicalPath(target);
    const ambiguity = canonical.ok ? canonical.ambiguity : null;
    expect(ambiguity?.reason).toBe(reason);
    expect(ambiguity?.interpretations.map(({ path }) => path)).toEqual(expect.arrayContaining(interpretations));
  });

  it.each(['/', '/hello-world/', '/%C3%9Cber/', '/50%25-off/', '/search/100%25/', '/a..b/c.', '/~x/@y', '/a:b'])(
    'of %s has no other interpretation',
    (target) => {
      expect(toCanonicalPath(target)).toMatchObject({ ok: true, ambiguity: null });
    },
  );

  it('has few interpretations, however a target is composed', () => {
    const pieces = ['%25', '25', '%5c', '%09', '%e9', '%c0%af', ';', '%3f', '/', 'a', '.', '%20', '%u0041'];
    const target = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => `/${parts.join('')}`);
    fc.assert(
      fc.property(target, (text) => {
        const canonical = toCanonicalPath(text);
        expect(canonical.ok ? (canonical.ambiguity?.interpretations.length ?? 0) : 0).toBeLessThan(80);
      }),
      { numRuns: 3000 },
    );
  });

  it('does not change the query', () => {
    expect(toCanonicalPath('/a?b=%2e?c')).toMatchObject({ ok: true, query: 'b=%2e?c' });
  });
});
