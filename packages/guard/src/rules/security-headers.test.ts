import { describe, expect, it } from 'vitest';
import { noFault, parseFacts, policyWith } from '../../test/support/evaluate.js';

function editHeaders(headers: readonly string[], target = '/', on: 0 | 1 = 1): Map<string, string[]> {
  const edited = [...headers];
  policyWith({ xss_protection: on }).editResponseHeaders(parseFacts(target), edited, noFault);
  const map = new Map<string, string[]>();
  for (let i = 0; i < edited.length; i += 2) {
    const name = (edited[i] as string).toLowerCase();
    map.set(name, [...(map.get(name) ?? []), edited[i + 1] as string]);
  }
  return map;
}
const policies = (headers: readonly string[], target = '/'): string[] =>
  editHeaders(headers, target).get('content-security-policy') ?? [];

describe('advanced XSS protection', () => {
  it('adds its four headers to a response without them, and none when it is off', () => {
    expect(Object.fromEntries(editHeaders([]))).toEqual({
      'x-content-type-options': ['nosniff'],
      'referrer-policy': ['strict-origin-when-cross-origin'],
      'x-frame-options': ['SAMEORIGIN'],
      'content-security-policy': [
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' https: http: data: blob:; object-src 'self' https: http: blob:; base-uri 'self'; frame-ancestors 'self'",
      ],
    });
    expect(editHeaders([], '/', 0).size).toBe(0);
  });

  it.each([
    ['script-src', ['data:', 'http:', 'https:', 'blob:', "'unsafe-inline'"]],
    ['object-src', ['http:', 'https:', 'blob:']],
  ])('allows the %s that plugins print: %j', (directive, sources) => {
    const own =
      policies([])[0]
        ?.split('; ')
        .find((part) => part.startsWith(`${directive} `)) ?? '';
    for (const source of sources) expect(own.split(' ')).toContain(source);
    expect(own.split(' ')).not.toContain('*');
  });

  it('forbids objects with inline content, and a base URL chosen by content', () => {
    const [own = ''] = policies([]);
    expect(/object-src ([^;]*)/.exec(own)?.[1]).not.toContain('data:');
    expect(own).toContain("base-uri 'self'; frame-ancestors 'self'");
  });

  it('keeps headers that the site sets itself, in any letter case', () => {
    const own = ['x-frame-options', 'DENY', 'REFERRER-POLICY', 'no-referrer', 'X-content-type-options', 'nosniff'];
    const headers = editHeaders(own);
    expect(headers.get('x-frame-options')).toEqual(['DENY']);
    expect(headers.get('referrer-policy')).toEqual(['no-referrer']);
    expect(headers.get('x-content-type-options')).toEqual(['nosniff']);
    expect(headers.get('content-security-policy')?.[0]).not.toContain('frame-ancestors');
  });

  it('adds only the directives that the site’s policy lacks', () => {
    expect(policies(['Content-Security-Policy', "script-src 'none'; base-uri 'none'"])).toEqual([
      "script-src 'none'; base-uri 'none'",
      "object-src 'self' https: http: blob:; frame-ancestors 'self'",
    ]);
  });

  it('lets the site’s default-src decide for scripts and objects, not for base and frames', () => {
    expect(policies(['content-security-policy', "default-src 'self'"])[1]).toBe(
      "base-uri 'self'; frame-ancestors 'self'",
    );
  });

  it('reads several policies, in several headers or one', () => {
    const rest = policies([
      'Content-Security-Policy',
      "SCRIPT-SRC 'self', object-src 'none'",
      'content-security-policy',
      "Base-Uri 'self'; frame-ancestors *",
    ]);
    expect(rest).toHaveLength(2);
  });

  it('adds no X-Frame-Options where the site’s policy restricts framing', () => {
    expect(editHeaders(['Content-Security-Policy', 'frame-ancestors https://example.com']).has('x-frame-options')).toBe(
      false,
    );
  });

  it('does not treat a report-only policy as an enforced one', () => {
    expect(policies(['Content-Security-Policy-Report-Only', "script-src 'none'"])[0]).toContain('script-src');
  });

  it.each(['/hello-world/embed/', '/2024/05/a/embed', '/?p=1&embed=true', '/index.php?embed=1', '/index.php/a/embed'])(
    'allows other sites to frame the embed page %s',
    (target) => {
      expect(editHeaders([], target).has('x-frame-options')).toBe(false);
      expect(policies([], target)[0]).not.toContain('frame-ancestors');
      expect(policies([], target)[0]).toContain('script-src');
    },
  );

  it.each([
    '/wp-admin/?embed=1',
    '/wp-admin/embed',
    '/wp-login.php?embed=1',
    '/my-account/?embed',
    '/my-account/?embed=',
    '/my-account/?embed=1&embed=',
    `/my-account/?${'a&'.repeat(1000)}embed=1`,
    '/embed',
  ])('forbids other sites to frame %s', (target) => {
    expect(editHeaders([], target).get('x-frame-options')).toEqual(['SAMEORIGIN']);
    expect(policies([], target)[0]).toContain("frame-ancestors 'self'");
  });
});

describe('other headers', () => {
  const edited = (options: Parameters<typeof policyWith>[0], headers: string[], target = '/'): string[] => {
    policyWith(options).editResponseHeaders(parseFacts(target), headers, noFault);
    return headers;
  };
  const revealingHeaders = (): string[] => [
    'X-Pingback',
    'a',
    'x-powered-by',
    'PHP',
    'Server',
    'x',
    'X-Generator',
    'y',
    'ETag',
    '6.5',
    'Set-Cookie',
    'a',
    'x-pingback',
    'b',
  ];

  it('do not announce XML-RPC, even when they are repeated', () => {
    expect(edited({ disable_xml_rpc: 1 }, revealingHeaders())).not.toContain('X-Pingback');
    expect(edited({ disable_xml_rpc: 1 }, revealingHeaders())).not.toContain('x-pingback');
  });

  it('do not name software and version', () => {
    expect(edited({ wp_remove_version: 1 }, revealingHeaders())).toEqual([
      'X-Pingback',
      'a',
      'ETag',
      '6.5',
      'Set-Cookie',
      'a',
      'x-pingback',
      'b',
    ]);
  });

  it.each(['/wp-admin/load-styles.php?ver=6.5', '/wp-admin//Load-Scripts.php'])(
    'of %s do not contain the version as ETag, and its requests have no If-None-Match',
    (target) => {
      const snapshot = policyWith({ wp_remove_version: 1 });
      expect(edited({ wp_remove_version: 1 }, revealingHeaders(), target)).not.toContain('ETag');
      expect([...(snapshot.stripRequestHeaders(parseFacts(target), noFault) ?? [])]).toEqual(['if-none-match']);
      expect(snapshot.stripRequestHeaders(parseFacts('/wp-admin/'), noFault)).toBeNull();
    },
  );

  it('are unchanged when everything is off', () => {
    expect(edited({}, revealingHeaders())).toEqual(revealingHeaders());
  });
});
