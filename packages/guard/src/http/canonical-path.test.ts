import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCanonicalPath } from './canonical-path.js';

function pathOf(target: string): string {
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

/** One of many ways to write the same file: each step leaves its meaning for some server as it was. */
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
        expect([target, pathOf(target)]).toEqual([target, file]);
      }),
      { numRuns: 1000 },
    );
  });

  it('of a canonical path is that path', () => {
    const segment = fc.string({ unit: fc.constantFrom(...'abcz019-_~.'.split('')), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 5 }), fc.boolean(), (segments, slash) => {
        const first = toCanonicalPath(`/${segments.join('/')}${slash ? '/' : ''}`);
        if (!first.ok) return;
        expect(toCanonicalPath(first.path.path)).toEqual({ ok: true, path: first.path, query: '' });
      }),
      { numRuns: 2000 },
    );
  });

  it('never holds an empty, dot or upper-case segment, and never throws', () => {
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
    ['/Über/', 'refused: bad-utf8'],
    ['/%C3%9Cber/', '/über/'],
    ['/50%25-off/', '/50%-off/'],
    ['/hello-world/?a=%00&b=../..', '/hello-world/'],
    ['//example.com/x', '/example.com/x'],
    ['/search/what%3F/', '/search/what/'],
  ])('of %s is %s', (target, path) => {
    expect(pathOf(target)).toBe(path);
  });

  it.each([
    ['NUL', '/x.php%00.jpg', 'control-character'],
    ['a line end', '/feed%0a', 'control-character'],
    ['a line end, encoded for a header', '/x%0d%0aSet-Cookie:a', 'control-character'],
    ['DEL', '/x%7f', 'control-character'],
    ['C1', '/x%c2%85', 'control-character'],
    ['a broken percent sign', '/x%', 'bad-percent-encoding'],
    ['a broken percent sign', '/x%2', 'bad-percent-encoding'],
    ['a broken percent sign', '/x%zz', 'bad-percent-encoding'],
    ['Microsoft letters', '/%u0078mlrpc.php', 'bad-percent-encoding'],
    ['double encoding', '/%2578mlrpc.php', 'double-encoding'],
    ['double encoding', '/%252e%252e/x', 'double-encoding'],
    ['triple encoding', '/%25252e', 'double-encoding'],
    ['an overlong slash', '/..%c0%afx', 'bad-utf8'],
    ['an overlong dot', '/%c0%ae%c0%ae/x', 'bad-utf8'],
    ['an overlong dot in three bytes', '/%e0%80%ae/x', 'bad-utf8'],
    ['a surrogate', '/%ed%a0%80', 'bad-utf8'],
    ['half a letter', '/%c3', 'bad-utf8'],
    ['a backslash', '/a\\b', 'backslash'],
    ['an encoded backslash', '/..%5cwp-config.php', 'backslash'],
    ['a path above the root', '/../x', 'above-root'],
    ['a path above the root', '/a/%2e%2e/../x', 'above-root'],
    ['dots and a parameter', '/a/..;/b', 'not-a-path'],
    ['dots and a space', '/a/..%20/b', 'not-a-path'],
    ['three dots', '/.../b', 'not-a-path'],
    ['a lone space', '/%20/b', 'not-a-path'],
    ['a fragment', '/a#b', 'fragment'],
    ['a fragment behind the query', '/a?b#c', 'fragment'],
    ['no slash', 'a', 'not-a-path'],
    ['nothing', '', 'not-a-path'],
    ['a script behind a parameter', '/wp-content/uploads/x.jpg;.php', 'two-names'],
    ['a script behind a question mark', '/wp-content/uploads/x.jpg%3f.php', 'two-names'],
    ['a script rewritten at a question mark', '/site/xmlrpc.php%3fx.php', 'two-names'],
    ['a script behind a stream', '/wp-content/uploads/x.jpg::$a.php', 'two-names'],
  ])('refuses %s: %s', (_what, target, reason) => {
    expect(toCanonicalPath(target)).toEqual({ ok: false, reason });
  });

  it.each([
    ['/wp-content/upload%c5%bf/x.php', '/wp-content/uploads/x.php'],
    ['/.g%e2%80%8cit/config', '/.git/config'],
    ['/%ef%bd%98mlrpc.php', '/xmlrpc.php'],
    ['/wp-content/uploads:$I30:$INDEX_ALLOCATION/x.php', '/wp-content/uploads/x.php'],
  ])('sees %s as a case-blind file system does', (target, path) => {
    expect(pathOf(target)).toBe(path);
  });

  it('leaves the query as it came', () => {
    expect(toCanonicalPath('/a?b=%2e?c')).toMatchObject({ ok: true, query: 'b=%2e?c' });
  });
});
