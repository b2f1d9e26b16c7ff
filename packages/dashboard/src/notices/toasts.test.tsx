import { act, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testServices } from '../../test/test-services.js';
import { readConfig } from '../config/read-config.js';
import { type Services, ServicesProvider } from '../services.js';
import type { Notice } from './notice.js';
import { Toasts } from './toasts.js';

let services: Services;

beforeEach(() => {
  vi.useFakeTimers();
  const config = readConfig(document.createElement('div'), window.location.href);
  services = testServices(config);
  const outside = document.createElement('button');
  outside.textContent = 'Outside';
  document.body.append(outside);
  render(
    <ServicesProvider services={services}>
      <Toasts />
    </ServicesProvider>,
  );
});
afterEach(() => {
  vi.useRealTimers();
});

const saved: Notice = { type: 'success', text: 'Saved.', autoClose: true };
const failed: Notice = { type: 'error', text: 'No.', autoClose: false };

function show(...notices: Notice[]): void {
  act(() => {
    for (const notice of notices) services.notices.show(notice);
  });
  pass(60);
}

function pass(milliseconds: number): void {
  act(() => {
    vi.advanceTimersByTime(milliseconds);
  });
}

const toasts = (): Element[] => Array.from(document.querySelectorAll('.so-toast'));
const isLeaving = (): boolean => toasts()[0]?.classList.contains('is-leaving') === true;

describe('a message', () => {
  it('leaves after 7 seconds and is gone half a second later', () => {
    show(saved);
    pass(6900);
    expect(isLeaving()).toBe(false);
    pass(40);
    expect(isLeaving()).toBe(true);
    pass(499);
    expect(toasts()).toHaveLength(1);
    pass(1);
    expect(toasts()).toHaveLength(0);
  });

  it('waits while it is hovered and then lives out the rest of its time', () => {
    show(saved);
    pass(4940);
    fireEvent.mouseEnter(toasts()[0] as Element);
    pass(60_000);
    expect(isLeaving()).toBe(false);
    fireEvent.mouseLeave(toasts()[0] as Element);
    pass(1990);
    expect(isLeaving()).toBe(false);
    pass(20);
    expect(isLeaving()).toBe(true);
  });

  it('waits while it holds the focus', () => {
    show(saved);
    act(() => screen.getByRole('button', { name: 'Dismiss' }).focus());
    pass(60_000);
    expect(isLeaving()).toBe(false);
    act(() => screen.getByRole('button', { name: 'Dismiss' }).blur());
    pass(7000);
    expect(isLeaving()).toBe(true);
  });

  it('stays until it is closed when it is a prompt', () => {
    show(failed);
    pass(3_600_000);
    expect(isLeaving()).toBe(false);
    fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
    pass(500);
    expect(toasts()).toHaveLength(0);
  });

  it('stands below the older ones, and is there once however often it is said', () => {
    show(failed, saved, saved);
    expect(toasts().map((toast) => toast.querySelector('p')?.textContent)).toEqual(['No.', 'Saved.']);
  });

  it('is titled Success or Error unless it has a title of its own', () => {
    show(saved, failed, { ...failed, title: 'Own title' }, { type: 'info', text: 'Good to know.', autoClose: true });
    expect(toasts().map((toast) => toast.querySelector('b')?.textContent)).toEqual([
      'Success',
      'Error',
      'Own title',
      undefined,
    ]);
  });

  it.each([
    ['success', 'status'],
    ['info', 'status'],
    ['warning', 'alert'],
    ['error', 'alert'],
  ] as const)('of type %s is spoken as %s, in a region that was there before its text', (type, role) => {
    act(() => services.notices.show({ type, text: 'Hello.', autoClose: true }));
    expect(screen.getByRole(role).textContent).toBe('');
    pass(60);
    expect(screen.getByRole(role).textContent).toContain('Hello.');
  });

  it('hands the focus on when it is closed: to the next one, then back to where it came from', () => {
    show(failed, { ...failed, text: 'Second.' });
    const outside = screen.getByRole('button', { name: 'Outside' });
    act(() => outside.focus());
    const [first, second] = screen.getAllByRole('button', { name: 'Dismiss' });
    act(() => first?.focus());
    fireEvent.click(first as Element);
    expect(document.activeElement).toBe(second);
    fireEvent.click(second as Element);
    expect(document.activeElement).toBe(outside);
  });
});
