import { describe, expect, it } from 'vitest';
import { forwardedHead } from './response-head.js';

const pass = (headers: string[]): ReturnType<typeof forwardedHead> =>
  forwardedHead({ status: 200, reason: 'OK', headers });

describe('the headers that go on to the visitor', () => {
  it('are WordPress’s, in order, without those of its own connection', () => {
    const { headers } = pass([
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

  it('are without what Connection names, but keep cookies and the place to go to', () => {
    const { headers } = pass(['Connection', 'X-Hop, Set-Cookie', 'x-hop', 'a', 'Set-Cookie', 'b']);
    expect(headers).toEqual(['Set-Cookie', 'b']);
  });

  it('never hold the connector’s signal, in any letter case', () => {
    expect(pass(['x-SECURITY-optimizer-SIGNAL', '1 aa'])).toEqual({ headers: [], signal: '1 aa' });
    expect(pass([])).toEqual({ headers: [], signal: undefined });
  });

  it('never hold a repeated signal, and neither copy is believed', () => {
    expect(pass(['X-Security-Optimizer-Signal', 'a', 'X-Security-Optimizer-Signal', 'a'])).toEqual({
      headers: [],
      signal: 'repeated',
    });
  });

  it('never hold any other header of ours', () => {
    expect(pass(['X-Security-Optimizer-Guard', 'a', 'x-security-optimizer-new', 'b']).headers).toEqual([]);
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
  ])('never hold what repeats the request or names the server behind: %s', (name, value) => {
    expect(pass(['A', 'a', name, value, 'B', 'b']).headers).toEqual(['A', 'a', 'B', 'b']);
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
  ])('hold %s', (name) => {
    expect(pass([name, 'value']).headers).toEqual([name, 'value']);
  });
});
