import { describe, expect, it } from 'vitest';
import { type RequestHeadInput, toClientResponseHead, toUpstreamRequestHead } from './message-head.js';

const visitor = {
  address: '192.0.2.7',
  scheme: 'https',
  host: 'example.com',
  signed: ['X-Security-Optimizer-Guard', 'signed'],
  trustedHeaders: null,
  context: null,
} as const;
const base: RequestHeadInput = {
  method: 'GET',
  target: '/a?b',
  rawHeaders: [],
  visitor,
  body: 'none',
  stripped: null,
  upgrade: null,
};
const lines = (input: Partial<RequestHeadInput>): string[] =>
  toUpstreamRequestHead({ ...base, ...input }).split('\r\n');
const isForwarded = (name: string, more: readonly string[] = []): boolean =>
  lines({ rawHeaders: [...more, name, 'value'] }).includes(`${name}: value`);

describe('the request to WordPress', () => {
  it('is the visitor’s request, with guard’s description of the visitor', () => {
    expect(lines({ rawHeaders: ['Host', 'example.com', 'accept', '*/*', 'Cookie', 'a=b', 'Cookie', 'c=d'] })).toEqual([
      'GET /a?b HTTP/1.1',
      'Host: example.com',
      'accept: */*',
      'Cookie: a=b',
      'Cookie: c=d',
      'X-Forwarded-For: 192.0.2.7',
      'X-Real-IP: 192.0.2.7',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: example.com',
      'X-Security-Optimizer-Guard: signed',
      'Connection: keep-alive',
      '',
      '',
    ]);
  });

  it.each([
    'X-Forwarded-For',
    'x-forwarded-host',
    'X-FORWARDED-PROTO',
    'X-Forwarded-Anything',
    'Via',
    'CF-Visitor',
    'X-Original-URL',
    'X-Rewrite-URL',
    'X-Security-Optimizer-Guard',
    'x-security-optimizer-anything',
    'X_Forwarded_For',
    'X-Forwarded_For',
    'X.Forwarded.For',
    'X-Security-Optimizer.Guard',
    'X-Security_Optimizer-Guard',
    'X!Real!IP',
    'Content_Length',
    'Proxy',
    'Proxy-Connection',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Expect',
    'HTTP2-Settings',
  ])('never contains the visitor’s %s', (name) => {
    expect(isForwarded(name)).toBe(false);
  });

  it.each([
    // WordPress itself (WP_Community_Events), and plugins that copy its list.
    ...['Client-IP', 'X-Forwarded-For', 'X-Forwarded', 'X-Cluster-Client-IP', 'Forwarded-For', 'Forwarded'],
    // Proxies, load balancers and content delivery networks.
    ...['X-Real-IP', 'X-Client-IP', 'X-Remote-IP', 'X-Remote-Addr', 'X-Originating-IP', 'X-Original-Forwarded-For'],
    ...['CF-Connecting-IP', 'CF-Connecting-IPv6', 'CF-Pseudo-IPv4', 'True-Client-IP', 'Fastly-Client-IP'],
    ...['X-ProxyUser-Ip', 'WL-Proxy-Client-IP', 'Ali-CDN-Real-IP', 'X-Azure-ClientIP', 'X-Azure-SocketIP'],
    ...['Fly-Client-IP', 'DO-Connecting-IP', 'X-Sucuri-ClientIP', 'Incap-Client-IP', 'X-Envoy-External-Address'],
    ...['X-NF-Client-Connection-IP', 'X-Vercel-Forwarded-For', 'X-Appengine-User-IP', 'CloudFront-Viewer-Address'],
    // Names with another vendor's prefix, and names that are in no list yet.
    ...['X-Varnish-Client-IP', 'X-Sg-Real-Ip', 'Cdn-Real-Ip', 'X-Cdn-Client-Address', 'X-New-Vendor-Connecting-IPv6'],
    ...['X-IP', 'IP', 'X-IP-Address', 'X-Peer-Addr', 'Remote-Address', 'X-Forwarded-Client-IP', 'X-Up-Forwarded-For'],
  ])('never contains an address that the visitor claims with %s, in any spelling', (name) => {
    const spellings = [name, name.toLowerCase(), name.toUpperCase(), name.replaceAll('-', '_'), name.replace('-', '.')];
    expect(spellings.filter((each) => isForwarded(each))).toEqual([]);
  });

  it.each([
    'Range',
    'If-None-Match',
    'X-HTTP-Method-Override',
    'X-WP-Nonce',
    'Authorization',
    'Content-Type',
    'Origin',
    'X-Requested-With',
    'Sec-WebSocket-Key',
    'DNT',
  ])('contains the visitor’s %s', (name) => {
    expect(isForwarded(name)).toBe(true);
  });

  it('omits headers that Connection names, but never those for framing, routing or authentication', () => {
    expect(isForwarded('X-Hop', ['Connection', 'close, X-Hop'])).toBe(false);
    expect(isForwarded('x-hop', ['CONNECTION', ' X-HOP '])).toBe(false);
    for (const name of ['Host', 'Content-Length', 'Cookie', 'Authorization', 'X-WP-Nonce']) {
      expect([name, isForwarded(name, ['Connection', name])]).toEqual([name, true]);
    }
    const signed = lines({ rawHeaders: ['Connection', 'X-Security-Optimizer-Guard, X-Forwarded-For'] });
    expect(signed).toContain('X-Security-Optimizer-Guard: signed');
    expect(signed).toContain('X-Forwarded-For: 192.0.2.7');
  });

  it('contains the configured address headers that a trusted proxy sent, and no other', () => {
    const trustedHeaders = new Set(['cf-connecting-ip']);
    const head = lines({
      visitor: { ...visitor, trustedHeaders },
      rawHeaders: ['CF-Connecting-IP', '192.0.2.7', 'True-Client-IP', '192.0.2.8', 'CF_Connecting_IP', '192.0.2.9'],
    });
    expect(head.filter((line) => /192\.0\.2\.[789]/.test(line))).toEqual([
      'CF-Connecting-IP: 192.0.2.7',
      'X-Forwarded-For: 192.0.2.7',
      'X-Real-IP: 192.0.2.7',
    ]);
  });

  it('omits headers that a rule strips', () => {
    expect(lines({ rawHeaders: ['If-None-Match', 'a'], stripped: new Set(['if-none-match']) })).not.toContain(
      'If-None-Match: a',
    );
  });

  it('declares the framing of its body exactly once', () => {
    const chunked = lines({ body: 'chunked', rawHeaders: ['transfer-encoding', 'Chunked'] });
    expect(chunked.filter((line) => /^transfer-encoding/i.test(line))).toEqual(['Transfer-Encoding: chunked']);
    expect(lines({ body: 'length', rawHeaders: ['content-length', '5'] })).toContain('content-length: 5');
  });

  it('requests a protocol switch only when specified', () => {
    expect(lines({ upgrade: 'websocket' }).slice(-4)).toEqual(['Connection: Upgrade', 'Upgrade: websocket', '', '']);
  });
});

const toClientHead = (headers: string[]): ReturnType<typeof toClientResponseHead> =>
  toClientResponseHead({ status: 200, reason: 'OK', headers });

describe('the headers that are forwarded to the visitor', () => {
  it('are WordPress’s, in order, without connection-specific ones', () => {
    const { headers } = toClientHead([
      'Set-Cookie',
      'a',
      'Connection',
      'close',
      'set-cookie',
      'b',
      'Transfer-Encoding',
      'chunked',
      'KEEP-ALIVE',
      '5',
      'Upgrade',
      'h2',
    ]);
    expect(headers).toEqual(['Set-Cookie', 'a', 'set-cookie', 'b']);
  });

  it('exclude those that Connection names, but always include cookies and Location', () => {
    const { headers } = toClientHead(['Connection', 'X-Hop, Set-Cookie', 'x-hop', 'a', 'Set-Cookie', 'b']);
    expect(headers).toEqual(['Set-Cookie', 'b']);
  });

  it('never contain the connector’s signal, in any letter case', () => {
    expect(toClientHead(['x-SECURITY-optimizer-SIGNAL', '1 aa'])).toEqual({ headers: [], signal: '1 aa' });
    expect(toClientHead([])).toEqual({ headers: [], signal: undefined });
  });

  it('never contain a repeated signal, and neither copy is accepted', () => {
    expect(toClientHead(['X-Security-Optimizer-Signal', 'a', 'X-Security-Optimizer-Signal', 'a'])).toEqual({
      headers: [],
      signal: 'repeated',
    });
  });

  it('never contain any other header of guard or the connector', () => {
    expect(toClientHead(['X-Security-Optimizer-Guard', 'a', 'x-security-optimizer-new', 'b']).headers).toEqual([]);
  });

  it.each([
    ['Host', '127.0.0.1:8081'],
    ['X-Forwarded-Host', 'shop.example'],
    ['x-forwarded-for', '192.0.2.7'],
    ['X-FORWARDED-SERVER', 'web1.internal'],
    ['Forwarded', 'for=192.0.2.7;host=127.0.0.1:8081'],
    ['X-Real-IP', '192.0.2.7'],
    ['Remote-Addr', '127.0.0.1'],
    ['X-Client-IP', '127.0.0.1'],
    ['X-Original-URL', '/a'],
    ['X-Rewrite-URL', '/a'],
    ['X-Host', '127.0.0.1:8081'],
    ['X-Server-Addr', '127.0.0.1'],
    ['Server-Addr', '127.0.0.1'],
    ['X-Upstream', '127.0.0.1:8081'],
    ['x-upstream-addr', 'unix:/run/php/php-fpm.sock'],
    ['X-Backend-Server', 'web1.internal:8081'],
  ])('never contain a header that echoes the request or names the upstream web server: %s', (name, value) => {
    expect(toClientHead(['A', 'a', name, value, 'B', 'b']).headers).toEqual(['A', 'a', 'B', 'b']);
  });

  it.each([
    ['X-Accel-Redirect', '/private/backup.zip'],
    ['x-accel-redirect', '/private/backup.zip'],
    ['X-Sendfile', '/srv/www/private/backup.zip'],
    ['X-LIGHTTPD-send-file', '/srv/www/private/backup.zip'],
    ['X-LiteSpeed-Location', '/private/backup.zip'],
    ['X-Reproxy-URL', 'http://127.0.0.1:9000/'],
  ])('never contain a header that makes a web server in front send a file of its own: %s', (name, value) => {
    expect(toClientHead(['A', 'a', name, value, 'B', 'b']).headers).toEqual(['A', 'a', 'B', 'b']);
  });

  it.each([
    ...[
      'Location',
      'Link',
      'Vary',
      'ETag',
      'Set-Cookie',
      'WWW-Authenticate',
      'X-Redirect-By',
      'X-WP-Total',
      'X-Pingback',
    ],
    ...[
      'Access-Control-Allow-Origin',
      'Content-Description',
      'Server',
      'Via',
      'X-Cache',
      'X-Served-By',
      'X-Powered-By',
    ],
    ...['X-Accel-Buffering', 'X-Upstream-Cache-Status', 'X-Frame-Options', 'Server-Timing', 'CF-IPCountry'],
  ])('contain %s', (name) => {
    expect(toClientHead([name, 'value']).headers).toEqual([name, 'value']);
  });
});
