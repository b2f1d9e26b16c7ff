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
});
