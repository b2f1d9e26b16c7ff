import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { endSlowUpload } from './request-body.js';

describe('a body that comes slowly', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Seconds after which a body that comes with this speed is cut, or null within an hour. */
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

  it('is cut once it takes longer than the connector waits for one', () => {
    expect(cutAfter(1)).toBe(65);
    expect(cutAfter(2048)).toBe(125);
  });

  it('is waited for while it keeps up with a slow line', () => {
    expect(cutAfter(4096)).toBeNull();
  });

  it('is waited for while WordPress is the one who takes nothing', () => {
    expect(cutAfter(0, () => true)).toBeNull();
  });
});
