import { describe, expect, it } from 'vitest';
import { Patience, RESPONSE_TIMEOUT_MS, SHORT_TIMEOUT_MS } from './patience.js';

const [ONE, OTHER] = ['http://127.0.0.1:8080', 'http://127.0.0.1:8081'];

describe('the wait of status for a site', () => {
  it('is short once 32 sites of its web server have not answered, and not for another web server', () => {
    const patience = new Patience();
    for (let count = 0; count < 32; count++) {
      expect(patience.getTimeoutMs(ONE)).toBe(RESPONSE_TIMEOUT_MS);
      patience.record(ONE, false);
    }
    expect([ONE, OTHER].map((upstream) => patience.getTimeoutMs(upstream))).toEqual([
      SHORT_TIMEOUT_MS,
      RESPONSE_TIMEOUT_MS,
    ]);
  });

  it('is long again once a site answers', () => {
    const patience = new Patience();
    for (let count = 0; count < 40; count++) patience.record(ONE, false);
    patience.record(ONE, true);
    expect(patience.getTimeoutMs(ONE)).toBe(RESPONSE_TIMEOUT_MS);
  });

  it('ends after 128 silent sites, except for one in 64', () => {
    const patience = new Patience();
    for (let count = 0; count < 128; count++) patience.record(ONE, false);
    expect(patience.isSilent(ONE)).toBe(true);
    const timeouts = Array.from({ length: 128 }, () => patience.getTimeoutMs(ONE));
    expect(timeouts.filter((timeout) => timeout !== null)).toEqual([SHORT_TIMEOUT_MS, SHORT_TIMEOUT_MS]);
    expect(patience.getTimeoutMs(OTHER)).toBe(RESPONSE_TIMEOUT_MS);
    patience.record(ONE, true);
    expect(patience.isSilent(ONE)).toBe(false);
    expect(patience.getTimeoutMs(ONE)).toBe(RESPONSE_TIMEOUT_MS);
  });
});
