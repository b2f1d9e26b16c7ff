import { act, renderHook } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Messages, useFormErrors } from './use-form-errors.js';

const WRONG = { name: 'Invalid format.' };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the messages of a form', () => {
  const form = (errors: Messages) =>
    renderHook((present: Messages) => useFormErrors(present, () => {}), { initialProps: errors });
  const wait = (ms: number) => act(() => vi.advanceTimersByTime(ms));

  it('appear after a pause in typing of 500 ms, even if the error does not change', () => {
    const { result } = form(WRONG);
    for (let key = 0; key < 5; key++) {
      act(() => result.current.touch('name'));
      wait(300);
      expect(result.current.shown).toEqual({});
    }
    wait(199);
    expect(result.current.shown).toEqual({});
    wait(1);
    expect(result.current.shown).toEqual(WRONG);
  });

  it('disappear at once when the field is valid', () => {
    const { result, rerender } = form(WRONG);
    act(() => result.current.touch('name'));
    wait(500);
    rerender({});
    expect(result.current.shown).toEqual({});
  });

  it('do not appear for unchanged fields until the form is submitted', () => {
    const { result } = form(WRONG);
    act(() => result.current.touch('other'));
    wait(500);
    expect(result.current.shown).toEqual({});
    act(() => {
      expect(result.current.check()).toBe(false);
    });
    expect(result.current.shown).toEqual(WRONG);
  });
});
