import { afterEach, describe, expect, it, vi } from 'vitest';
import { restoreFocus } from './dom.js';

afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

/** A page with a heading and two buttons; the first button has the focus. */
function page() {
  vi.useFakeTimers();
  document.body.innerHTML = '<h2>Next steps</h2><button>Save</button><button>Other</button>';
  const [save, other] = Array.from(document.querySelectorAll('button')) as HTMLElement[] as [HTMLElement, HTMLElement];
  const heading = document.querySelector('h2') as HTMLElement;
  save.focus();
  return { save, other, heading };
}

describe('the focus', () => {
  it.each([0, 10, 400])('moves to the heading if its element is removed %d ms later', (ms) => {
    const { save, heading } = page();
    restoreFocus(() => heading);
    if (ms > 0) vi.advanceTimersByTime(ms);
    save.remove();
    vi.advanceTimersByTime(100);
    expect(document.activeElement).toBe(heading);
  });

  it('stays where the user has moved it, even if that element is removed', () => {
    const { save, other, heading } = page();
    restoreFocus(() => heading);
    vi.advanceTimersByTime(10);
    other.focus();
    save.remove();
    vi.advanceTimersByTime(2000);
    expect(document.activeElement).toBe(other);
  });

  it('stays on an element that is not removed, and does not move long afterwards', () => {
    const { save, heading } = page();
    restoreFocus(() => heading);
    vi.advanceTimersByTime(2000);
    expect(document.activeElement).toBe(save);
    save.remove();
    vi.advanceTimersByTime(2000);
    expect(document.activeElement).toBe(document.body);
  });

  it('does not move to an element that was removed as well', () => {
    const { save, heading } = page();
    restoreFocus(() => heading);
    save.remove();
    heading.remove();
    vi.advanceTimersByTime(2000);
    expect(document.activeElement).toBe(document.body);
  });
});
