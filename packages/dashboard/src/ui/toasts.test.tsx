import { act, fireEvent, render, screen } from '@testing-library/react';
import { useRef } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testServices } from '../../test/test-services.js';
import { readConfig } from '../api/config.js';
import { type Services, ServicesProvider } from '../app/services.js';
import { useModal } from './modal.js';
import { type Toast, undoToast } from './toast-store.js';
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

const saved: Toast = { type: 'success', text: 'Saved.', autoClose: true };
const failed: Toast = { type: 'error', text: 'No.', autoClose: false };

function show(...toasts: Toast[]): void {
  act(() => {
    for (const toast of toasts) services.toasts.show(toast);
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

describe('a toast', () => {
  it('starts to disappear after 7 seconds and is removed half a second later', () => {
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

  it('pauses its timer while it is hovered', () => {
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

  it('pauses its timer while it has the focus', () => {
    show(saved);
    act(() => screen.getByRole('button', { name: 'Dismiss' }).focus());
    pass(60_000);
    expect(isLeaving()).toBe(false);
    act(() => screen.getByRole('button', { name: 'Dismiss' }).blur());
    pass(7000);
    expect(isLeaving()).toBe(true);
  });

  it('stays until it is closed if it is a prompt', () => {
    show(failed);
    pass(3_600_000);
    expect(isLeaving()).toBe(false);
    fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
    pass(500);
    expect(toasts()).toHaveLength(0);
  });

  it('is below older ones, and a repeated toast appears only once', () => {
    show(failed, saved, saved);
    expect(toasts().map((toast) => toast.querySelector('p')?.textContent)).toEqual(['No.', 'Saved.']);
  });

  it('closes early when three later ones are visible, unless it is a prompt', () => {
    show({ ...saved, text: 'prompt', autoClose: false });
    for (const text of ['one', 'two', 'three', 'four']) show({ ...saved, text });
    const visible = Array.from(document.querySelectorAll('.so-toast:not(.is-leaving) p'), (text) => text.textContent);
    expect(visible).toEqual(['prompt', 'two', 'three', 'four']);
  });

  it('has the title Success or Error by default', () => {
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
  ] as const)('of type %s is announced as %s, in a live region that existed before its text', (type, role) => {
    act(() => services.toasts.show({ type, text: 'Hello.', autoClose: true }));
    expect(screen.getByRole(role).textContent).toBe('');
    pass(60);
    expect(screen.getByRole(role).textContent).toContain('Hello.');
  });

  it('moves the focus when it is closed: to the next toast, then back to the previous element', () => {
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

describe('a toast with Undo', () => {
  const undo = vi.fn();
  const blocked = undoToast({ title: 'Blocked for 24 hours', text: '192.0.2.7, until tomorrow, 14:35', undo });
  const button = (): HTMLElement => screen.getByRole('button', { name: 'Undo' });

  beforeEach(() => undo.mockReset());

  it('has its own title and the button Undo instead of Dismiss', () => {
    show(blocked);
    expect(toasts()[0]?.querySelector('b')?.textContent).toBe('Blocked for 24 hours');
    expect(screen.queryByText('Success')).toBeNull();
    expect(screen.queryByRole('button', { name: 'Dismiss' })).toBeNull();
  });

  it('undoes the change once, and closes', () => {
    show(blocked);
    const pressed = button();
    fireEvent.click(pressed);
    fireEvent.click(pressed);
    expect(undo).toHaveBeenCalledTimes(1);
    expect(isLeaving()).toBe(true);
  });

  it('offers Undo for 7 seconds, not counting the time while it is hovered', () => {
    show(blocked);
    fireEvent.mouseEnter(toasts()[0] as Element);
    pass(60_000);
    fireEvent.mouseLeave(toasts()[0] as Element);
    pass(6900);
    expect(isLeaving()).toBe(false);
    pass(60);
    expect(isLeaving()).toBe(true);
    fireEvent.click(button());
    expect(undo).not.toHaveBeenCalled();
  });

  it('restores the focus', () => {
    show(blocked);
    const outside = screen.getByRole('button', { name: 'Outside' });
    act(() => outside.focus());
    act(() => button().focus());
    fireEvent.click(button());
    expect(document.activeElement).toBe(outside);
  });
});

describe('a message with Undo beside an open dialog', () => {
  const held = undoToast({ title: 'Blocked for 24 hours', undo: () => undefined });
  let closeDialog: () => void;

  beforeEach(() => {
    const Modal = (): null => {
      const ref = useRef<HTMLElement>(document.querySelector<HTMLElement>('.test-dialog'));
      useModal(ref, ref, null);
      return null;
    };
    const dialog = document.createElement('div');
    dialog.className = 'test-dialog';
    document.body.append(dialog);
    const { unmount } = render(<Modal />);
    closeDialog = unmount;
  });
  afterEach(() => {
    closeDialog();
    vi.unstubAllGlobals();
  });

  it('waits on phones until the dialog has closed', () => {
    vi.stubGlobal('innerWidth', 390);
    show(held);
    pass(60_000);
    expect(isLeaving()).toBe(false);
    closeDialog();
    pass(6900);
    expect(isLeaving()).toBe(false);
    pass(200);
    expect(isLeaving()).toBe(true);
  });

  it('does not wait where the dialog leaves room for it', () => {
    vi.stubGlobal('innerWidth', 1440);
    show(held);
    pass(7000);
    expect(isLeaving()).toBe(true);
  });
});

describe('the position of toasts', () => {
  const scrollBy = vi.fn();
  let changed: HTMLElement;

  /** The changed row, at `row` pixels from the top; the toasts are at 700 to 780. */
  function place(row: number): void {
    vi.spyOn(Element.prototype, 'getBoundingClientRect').mockImplementation(function (this: Element) {
      if (this === changed) return new DOMRect(192, row, 1200, 60);
      return this.classList.contains('is-raised') ? new DOMRect(192, 48, 384, 80) : new DOMRect(192, 700, 384, 80);
    });
  }

  beforeEach(() => {
    changed = document.createElement('div');
    document.body.append(changed);
    vi.stubGlobal('scrollBy', scrollBy.mockReset());
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });
  const isRaised = (): boolean => document.querySelector('.so-toasts.is-raised') !== null;

  it('does not scroll the page if they do not cover the change', () => {
    place(300);
    show({ ...saved, about: changed });
    expect(scrollBy).not.toHaveBeenCalled();
    expect(isRaised()).toBe(false);
  });

  it('scrolls the changed row above them', () => {
    place(710);
    scrollBy.mockImplementation((_x: number, y: number) => place(710 - y));
    show({ ...saved, about: changed });
    expect(scrollBy).toHaveBeenCalledWith(0, 82);
    expect(isRaised()).toBe(false);
  });

  it('is at the top if the change is at the end of the page', () => {
    place(710);
    show({ ...saved, about: changed });
    expect(isRaised()).toBe(true);
    pass(7500);
    expect(isRaised()).toBe(false);
  });

  it('at the top, scrolls the next changed row below them, or returns to the bottom', () => {
    place(710);
    show({ ...saved, about: changed });
    expect(isRaised()).toBe(true);
    place(60);
    scrollBy.mockReset().mockImplementation((_x: number, y: number) => place(60 - y));
    show({ ...saved, text: 'Next', about: changed });
    expect(scrollBy).toHaveBeenCalledWith(0, -80);
    expect(isRaised()).toBe(true);
    place(60);
    scrollBy.mockReset();
    show({ ...saved, text: 'Last', about: changed });
    expect(isRaised()).toBe(false);
  });
});
