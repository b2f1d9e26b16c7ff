import { act, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { testServices } from '../../test/test-services.js';
import { readConfig } from '../api/config.js';
import { ServicesProvider } from '../app/services.js';
import { Lazy, useIdle, usePlaced } from './lazy.js';

const FAILED = /could not be loaded/;
const lost = () => Promise.reject(new Error('no connection'));
const second = () => Promise.resolve({ default: () => <p>the second part</p> });

const services = testServices(readConfig(document.createElement('div'), window.location.href));
const show = (load: Parameters<typeof Lazy>[0]['load']) => (
  <ServicesProvider services={services}>
    <Lazy load={load} props={{}}>
      <p>still loading</p>
    </Lazy>
  </ServicesProvider>
);

describe('a lazily loaded part of a page', () => {
  it('shows an error if the code can’t be loaded, and tries again on request', async () => {
    let isLoaded = false;
    const load = () => (isLoaded ? second() : lost());
    render(show(load));
    expect(screen.getByText('still loading')).toBeTruthy();
    expect(await screen.findByText(FAILED)).toBeTruthy();
    isLoaded = true;
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('the second part')).toBeTruthy();
  });

  it('is shown even if the previous part could not be loaded', async () => {
    const { rerender } = render(show(lost));
    await screen.findByText(FAILED);
    rerender(show(second));
    expect(screen.queryByText(FAILED)).toBeNull();
    expect(await screen.findByText('the second part')).toBeTruthy();
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function Example() {
  return <p>{useIdle() ? 'all of it' : 'the first screen'}</p>;
}

const shown = () => screen.getByRole('paragraph').textContent;

describe('a part below the first screen', () => {
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

  it('is drawn soon in a browser without requestIdleCallback', async () => {
    vi.stubGlobal('requestIdleCallback', undefined);
    render(<Example />);
    expect(shown()).toBe('the first screen');
    expect(await screen.findByText('all of it')).toBeDefined();
  });

  it('is not drawn after the page was closed', () => {
    const cancel = vi.fn();
    vi.stubGlobal('requestIdleCallback', () => 7);
    vi.stubGlobal('cancelIdleCallback', cancel);
    render(<Example />).unmount();
    expect(cancel).toHaveBeenCalledWith(7);
  });
});

function Below({ ready }: { readonly ready: boolean }) {
  return <p>{usePlaced(ready) ? 'shown' : 'held back'}</p>;
}

describe('content below a part that still loads', () => {
  afterEach(() => void vi.useRealTimers());

  it('appears once that part is there, and stays if the part is loaded again', () => {
    const { rerender } = render(<Below ready={false} />);
    expect(shown()).toBe('held back');
    rerender(<Below ready />);
    expect(shown()).toBe('shown');
    rerender(<Below ready={false} />);
    expect(shown()).toBe('shown');
  });

  it('waits at most three seconds', () => {
    vi.useFakeTimers();
    render(<Below ready={false} />);
    act(() => void vi.advanceTimersByTime(2999));
    expect(shown()).toBe('held back');
    act(() => void vi.advanceTimersByTime(1));
    expect(shown()).toBe('shown');
  });
});
