import { act, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testServices } from '../../test/test-services.js';
import { readConfig } from '../api/config.js';
import { Loader } from './loading-bar.js';
import { type Services, ServicesProvider } from './services.js';

let services: Services;
beforeEach(() => {
  vi.useFakeTimers();
  const config = readConfig(document.createElement('div'), window.location.href);
  services = testServices(config);
});
afterEach(() => {
  vi.useRealTimers();
});

function pass(milliseconds: number): void {
  act(() => {
    vi.advanceTimersByTime(milliseconds);
  });
}

const INNER = ['inner'];
const lines = (): number => screen.queryAllByRole('progressbar', { name: 'Loading' }).length;

function renderNested(): void {
  render(
    <ServicesProvider services={services}>
      <Loader requests={['outer']}>
        {(outer) => (
          <>
            <div data-testid="outer">{outer}</div>
            <Loader requests={INNER}>{(inner) => <div data-testid="inner">{inner}</div>}</Loader>
          </>
        )}
      </Loader>
    </ServicesProvider>,
  );
}

describe('the loader', () => {
  it('appears after a request has run for one second, and disappears when it ends', () => {
    render(<ServicesProvider services={services}>{<Loader>{(line) => line}</Loader>}</ServicesProvider>);
    act(() => services.requests.started('any'));
    pass(999);
    expect(lines()).toBe(0);
    pass(1);
    expect(lines()).toBe(1);
    act(() => services.requests.ended('any', 'succeeded'));
    expect(lines()).toBe(0);
  });

  it('does not appear during several quick requests', () => {
    render(<ServicesProvider services={services}>{<Loader>{(line) => line}</Loader>}</ServicesProvider>);
    for (let round = 0; round < 5; round++) {
      act(() => services.requests.started('any'));
      pass(600);
      act(() => services.requests.ended('any', 'failed'));
    }
    expect(lines()).toBe(0);
  });

  it('is hidden inside another visible loader', () => {
    renderNested();
    act(() => services.requests.started('inner'));
    pass(1000);
    expect(screen.getByTestId('inner').children).toHaveLength(1);
    act(() => services.requests.started('outer'));
    pass(1000);
    expect(lines()).toBe(1);
    expect(screen.getByTestId('outer').children).toHaveLength(1);
    expect(screen.getByTestId('inner').children).toHaveLength(0);
    act(() => services.requests.ended('outer', 'succeeded'));
    expect(screen.getByTestId('inner').children).toHaveLength(1);
  });
});
