import { act, renderHook } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { deviceClass } from './device-class.js';
import { useDeviceClass } from './use-device-class.js';

afterEach(() => {
  vi.useRealTimers();
});

describe('the device class', () => {
  it.each([
    [320, 'phone'],
    [800, 'phone'],
    [801, 'tablet'],
    [1500, 'tablet'],
    [1501, 'desktop'],
  ])('of %d pixels is %s', (width, expected) => {
    expect(deviceClass(width)).toBe(expected);
  });

  it('follows the window once its size has rested for 300 ms', () => {
    vi.useFakeTimers();
    const resize = (width: number): void => {
      act(() => {
        vi.stubGlobal('innerWidth', width);
        window.dispatchEvent(new Event('resize'));
      });
    };
    const pass = (milliseconds: number): void => {
      act(() => {
        vi.advanceTimersByTime(milliseconds);
      });
    };
    vi.stubGlobal('innerWidth', 1600);
    const { result } = renderHook(() => useDeviceClass());
    expect(result.current).toBe('desktop');
    resize(1000);
    pass(200);
    resize(700);
    pass(299);
    expect(result.current).toBe('desktop');
    pass(1);
    expect(result.current).toBe('phone');
    vi.unstubAllGlobals();
  });
});
