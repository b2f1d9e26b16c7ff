import { act, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { useIdle } from './use-idle.js';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function Example() {
  return <p>{useIdle() ? 'all of it' : 'the first screen'}</p>;
}

const shown = () => screen.getByRole('paragraph').textContent;

describe('what is not seen at first', () => {
  it('waits until the page is loaded and the browser is idle', () => {
    vi.spyOn(document, 'readyState', 'get').mockReturnValue('loading');
    let idle: () => void = () => {};
    const ask = vi.fn((run: () => void) => {
      idle = run;
      return 1;
    });
    vi.stubGlobal('requestIdleCallback', ask);
    vi.stubGlobal('cancelIdleCallback', () => {});
    const { unmount } = render(<Example />);
    expect(ask).not.toHaveBeenCalled();
    act(() => void window.dispatchEvent(new Event('load')));
    expect(shown()).toBe('the first screen');
    act(() => idle());
    expect(shown()).toBe('all of it');
    unmount();
  });

  it('is drawn soon in a browser that does not say when it is idle', async () => {
    vi.stubGlobal('requestIdleCallback', undefined);
    render(<Example />);
    expect(shown()).toBe('the first screen');
    expect(await screen.findByText('all of it')).toBeDefined();
  });

  it('is not drawn any more once the page is gone', () => {
    const cancel = vi.fn();
    vi.stubGlobal('requestIdleCallback', () => 7);
    vi.stubGlobal('cancelIdleCallback', cancel);
    render(<Example />).unmount();
    expect(cancel).toHaveBeenCalledWith(7);
  });
});
