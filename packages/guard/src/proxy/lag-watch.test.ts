import { expect, it, vi } from 'vitest';
import { LagWatch } from './lag-watch.js';

it('short rests of a visitor count like a long one, and once', () => {
  vi.useFakeTimers();
  try {
    let slow = 0;
    const watch = new LagWatch(() => {
      slow++;
    });
    for (let rest = 0; rest < 9; rest++) {
      watch.begin();
      vi.advanceTimersByTime(100);
      watch.end();
      vi.advanceTimersByTime(5000);
    }
    expect(slow).toBe(0);
    for (let rest = 0; rest < 3; rest++) {
      watch.begin();
      vi.advanceTimersByTime(101);
      watch.end();
    }
    expect(slow).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});
