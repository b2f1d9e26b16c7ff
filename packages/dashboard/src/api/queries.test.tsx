import { onlineManager, useQuery } from '@tanstack/react-query';
import { act, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { testServices } from '../../test/test-services.js';
import { type Services, ServicesProvider } from '../app/services.js';
import { readConfig } from './config.js';
import { ApiError } from './envelope.js';
import { invalidate, useQueryData } from './queries.js';

const settled = () => act(() => new Promise<void>((resolve) => setTimeout(resolve)));

let services: Services;
/** The requests that were sent. The test responds to each of them. */
let sent: { readonly answer: (text: string) => Promise<void>; readonly fail: () => Promise<void> }[] = [];
let signals: AbortSignal[] = [];
/** The texts of each rendering. */
let drawn: string[] = [];

afterEach(() => {
  sent = [];
  signals = [];
  drawn = [];
});

function send(signal?: AbortSignal): Promise<string> {
  if (signal !== undefined) signals.push(signal);
  return new Promise((resolve, reject) => {
    sent.push({
      answer(text) {
        resolve(text);
        return settled();
      },
      fail() {
        reject(new ApiError('no_response', { message: 'no answer' }));
        return settled();
      },
    });
  });
}

interface PartProps {
  readonly name: string;
  readonly abortable?: boolean;
}

function Part({ name, abortable = false }: PartProps) {
  const { data, error } = useQuery({
    queryKey: ['texts', name],
    queryFn: (context) => send(abortable ? context.signal : undefined),
  });
  const text = data ?? error?.message ?? 'waiting';
  drawn.push(text);
  return <p>{text}</p>;
}

function Listener() {
  return <output>{useQueryData<string>(['texts', 'a']) ?? 'unknown'}</output>;
}

function open(parts: readonly PartProps[]) {
  services = testServices(readConfig(document.createElement('div'), window.location.href));
  const page = (shown: readonly PartProps[]) => (
    <ServicesProvider services={services}>
      {shown.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two components may show the same
        <Part key={index} {...part} />
      ))}
      <Listener />
    </ServicesProvider>
  );
  const view = render(page(parts));
  return {
    texts: () => Array.from(view.container.querySelectorAll('p'), ({ textContent }) => textContent),
    show: (next: readonly PartProps[]) => view.rerender(page(next)),
  };
}

describe('data from the server', () => {
  it('are fetched once for several components, and components that only observe get them too', async () => {
    const { texts } = open([{ name: 'a' }, { name: 'a' }]);
    expect(texts()).toEqual(['waiting', 'waiting']);
    await sent[0]?.answer('known');
    expect(sent).toHaveLength(1);
    expect(texts()).toEqual(['known', 'known']);
    expect(screen.getByRole('status').textContent).toBe('known');
  });

  it('are not fetched for a component that only observes', async () => {
    open([]);
    await settled();
    expect(screen.getByRole('status').textContent).toBe('unknown');
    expect(sent).toHaveLength(0);
  });

  it('are not fetched again automatically after a failure', async () => {
    const { texts } = open([{ name: 'a' }]);
    await sent[0]?.fail();
    act(() => {
      window.dispatchEvent(new Event('focus'));
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
      onlineManager.setOnline(false);
      onlineManager.setOnline(true);
    });
    await settled();
    expect(texts()).toEqual(['no answer']);
    expect(sent).toHaveLength(1);
  });

  it('are requested even if the browser reports to be offline; the request itself then fails', async () => {
    onlineManager.setOnline(false);
    const { texts } = open([{ name: 'a' }]);
    await sent[0]?.fail();
    expect(texts()).toEqual(['no answer']);
    onlineManager.setOnline(true);
  });

  it('have no error of an earlier attempt while they are fetched again', async () => {
    const { texts, show } = open([{ name: 'a' }]);
    await sent[0]?.fail();
    show([]);
    drawn = [];
    show([{ name: 'a' }]);
    expect(texts()).toEqual(['waiting']);
    expect(drawn).not.toContain('no answer');
    expect(sent).toHaveLength(2);
  });

  it('are aborted without an error if no component shows them any more and the query uses the signal', async () => {
    const { show } = open([
      { name: 'a', abortable: true },
      { name: 'b', abortable: true },
    ]);
    show([{ name: 'a', abortable: true }]);
    await settled();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
    expect(services.queries.getQueryState(['texts', 'b'])).toMatchObject({ status: 'pending', fetchStatus: 'idle' });
  });

  it('are kept for later if no component shows them any more and the query ignores the signal', async () => {
    const { show } = open([{ name: 'b' }]);
    show([]);
    await sent[0]?.answer('known');
    expect(services.queries.getQueryData(['texts', 'b'])).toBe('known');
  });
});

describe('invalidated data', () => {
  it('are fetched again at once if they are visible, otherwise when they are shown next', async () => {
    const { show, texts } = open([{ name: 'a' }, { name: 'b' }]);
    await sent[0]?.answer('a');
    await sent[1]?.answer('b');
    show([{ name: 'a' }]);
    act(() => void invalidate(services.queries, ['texts']));
    expect(sent).toHaveLength(3);
    await sent[2]?.answer('a again');
    show([{ name: 'a' }, { name: 'b' }]);
    await sent[3]?.answer('b again');
    expect(texts()).toEqual(['a again', 'b again']);
  });

  it('stay visible if fetching them again fails', async () => {
    const { texts } = open([{ name: 'a' }]);
    await sent[0]?.answer('known');
    act(() => void invalidate(services.queries, ['texts']));
    await sent[1]?.fail();
    expect(texts()).toEqual(['known']);
  });

  it('are not replaced by the response to an earlier request, not even to the first one', async () => {
    const { texts } = open([{ name: 'a' }]);
    act(() => void invalidate(services.queries, ['texts']));
    expect(sent).toHaveLength(2);
    await sent[1]?.answer('new');
    await sent[0]?.answer('old');
    expect(texts()).toEqual(['new']);
  });
});
