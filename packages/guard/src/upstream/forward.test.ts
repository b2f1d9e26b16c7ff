import { expect, it, vi } from 'vitest';
import { StallTimer } from './forward.js';

it('many short stalls of a client count like one long stall, and are reported once', () => {
  vi.useFakeTimers();
  try {
    let slow = 0;
    const watch = new StallTimer(() => {
      slow++;
    });
    for (let rest = 0; rest < 9; rest++) {
      watch.start();
      vi.advanceTimersByTime(100);
      watch.stop();
      vi.advanceTimersByTime(5000);
    }
    expect(slow).toBe(0);
    for (let rest = 0; rest < 3; rest++) {
      watch.start();
      vi.advanceTimersByTime(101);
      watch.stop();
    }
    expect(slow).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});
