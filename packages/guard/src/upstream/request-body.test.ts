import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { endSlowUpload } from './request-body.js';

describe('a body that arrives slowly', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Seconds after which a body that arrives at this rate is cut, or null within an hour. */
  function cutAfter(bytesASecond: number, isPaused = () => false): number | null {
    let cut = false;
    const socket = {
      bytesRead: 500,
      destroy() {
        cut = true;
      },
    };
    const stop = endSlowUpload({ isPaused, socket } as unknown as IncomingMessage);
    for (let second = 1; second <= 3600; second++) {
      socket.bytesRead += bytesASecond;
      vi.advanceTimersByTime(1000);
      if (cut) {
        stop();
        return second;
      }
    }
    stop();
    return null;
  }

  it('is cut once it takes longer than the connector accepts', () => {
    expect(cutAfter(1)).toBe(65);
    expect(cutAfter(2048)).toBe(125);
  });

  it('is not cut while it keeps up with a slow connection', () => {
    expect(cutAfter(4096)).toBeNull();
  });

  it('is not cut while WordPress is the one that reads nothing', () => {
    expect(cutAfter(0, () => true)).toBeNull();
  });
});
