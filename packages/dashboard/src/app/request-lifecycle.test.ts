import { rate } from '@security-optimizer/contract/overview/endpoints';
import { describe, expect, it } from 'vitest';
import { type ApiClient, toCall } from '../api/client.js';
import { ApiError } from '../api/envelope.js';
import { createToastStore } from '../ui/toast-store.js';
import { createRequestStore, createRunRequest } from './request-lifecycle.js';

function setUp(call: () => Promise<unknown>) {
  const toasts = createToastStore();
  const requests = createRequestStore();
  const client = { call: call as ApiClient['call'] };
  const run = createRunRequest({ client, requests, toasts, loginUrl: 'https://example.com/wp-login.php' });
  const log: string[] = [];
  const request = {
    call: toCall(rate, {}),
    onSuccess: () => log.push('success'),
    onFailure: () => log.push('failure'),
    onComplete: () => log.push('complete'),
  };
  return { toasts, requests, run, request, log };
}

const success = { data: 1, message: 'Done.', notification: {} };

describe('a tracked request', () => {
  it('starts and succeeds; its callbacks run last', async () => {
    const parts = setUp(async () => {
      parts.log.push(parts.requests.state('rate'));
      return success;
    });
    expect(parts.requests.state('rate')).toBe('idle');
    await expect(parts.run(parts.request)).resolves.toBe(1);
    expect(parts.requests.state('rate')).toBe('succeeded');
    expect(parts.log).toEqual(['started', 'success', 'complete']);
    expect(parts.toasts.list()).toMatchObject([{ type: 'success', text: 'Done.' }]);
  });

  it('starts and fails; the callbacks for failure and completion run after the toast', async () => {
    const parts = setUp(() => Promise.reject(new ApiError('refused', { status: 500, message: 'No.' })));
    await expect(parts.run(parts.request)).rejects.toBeInstanceOf(ApiError);
    expect(parts.requests.state('rate')).toBe('failed');
    expect(parts.log).toEqual(['failure', 'complete']);
    expect(parts.toasts.list()).toMatchObject([{ type: 'error', text: 'No.' }]);
  });

  it('is tracked under its own name only', async () => {
    const parts = setUp(async () => success);
    const running = parts.run(parts.request);
    expect(parts.requests.isRunning(['rate'])).toBe(true);
    expect(parts.requests.isRunning(['other'])).toBe(false);
    expect(parts.requests.isRunning()).toBe(true);
    await running;
    expect(parts.requests.isRunning()).toBe(false);
  });

  it('is running until the last of two requests with the same name has ended', () => {
    const requests = createRequestStore();
    requests.started('a');
    requests.started('a');
    requests.ended('a', 'succeeded');
    expect(requests.state('a')).toBe('started');
    requests.ended('a', 'failed');
    expect(requests.state('a')).toBe('failed');
  });

  it('can choose its success text by the response', async () => {
    const parts = setUp(async () => ({ ...success, message: '' }));
    await parts.run<number>({ ...parts.request, successText: (data) => `Value ${data}.` });
    expect(parts.toasts.list()).toMatchObject([{ text: 'Value 1.' }]);
  });

  it('shows one toast about an ended session, even if several requests fail', async () => {
    const parts = setUp(() => Promise.reject(new ApiError('session_gone')));
    await parts.run(parts.request).catch(() => undefined);
    await parts.run({ ...parts.request, name: 'other' }).catch(() => undefined);
    expect(parts.toasts.list()).toMatchObject([
      { autoClose: false, action: { href: 'https://example.com/wp-login.php' } },
    ]);
  });
});
