import { describe, expect, it } from 'vitest';
import { ApiError, type ApiResponse } from '../api/envelope.js';
import { createToastStore } from '../ui/toast-store.js';
import { createRequestEvents, createRequestStore } from './request-lifecycle.js';

function setUp() {
  const toasts = createToastStore();
  const requests = createRequestStore();
  const events = createRequestEvents({ requests, toasts, loginUrl: 'https://example.com/wp-login.php' });
  return { toasts, requests, events };
}

const success: ApiResponse<number> = { data: 1, message: 'Done.', notification: {} };
const failure = new ApiError('refused', { status: 500, message: 'No.' });

describe('a tracked request', () => {
  it('starts and succeeds with a toast', () => {
    const { requests, events, toasts } = setUp();
    expect(requests.state('rate')).toBe('idle');
    events.started('rate');
    expect(requests.state('rate')).toBe('started');
    events.succeeded('rate', success, {});
    expect(requests.state('rate')).toBe('succeeded');
    expect(toasts.list()).toMatchObject([{ type: 'success', text: 'Done.' }]);
  });

  it('starts and fails with a toast', () => {
    const { requests, events, toasts } = setUp();
    events.started('rate');
    events.failed('rate', failure, {});
    expect(requests.state('rate')).toBe('failed');
    expect(toasts.list()).toMatchObject([{ type: 'error', text: 'No.' }]);
  });

  it('has a state but no toast if it is silent or cancelled', () => {
    const { requests, events, toasts } = setUp();
    events.started('a');
    events.succeeded('a', success, { silent: true });
    events.started('b');
    events.failed('b', failure, { silent: true });
    events.started('c');
    events.failed('c', new ApiError('cancelled'), {});
    expect(['a', 'b', 'c'].map((name) => requests.state(name))).toEqual(['succeeded', 'failed', 'failed']);
    expect(toasts.list()).toEqual([]);
  });

  it('is tracked under its own name only', () => {
    const { requests, events } = setUp();
    events.started('rate');
    expect(requests.isRunning(['rate'])).toBe(true);
    expect(requests.isRunning(['other'])).toBe(false);
    expect(requests.isRunning()).toBe(true);
    events.succeeded('rate', success, {});
    expect(requests.isRunning()).toBe(false);
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

  it('can choose its success text by the response', () => {
    const { events, toasts } = setUp();
    events.succeeded('rate', { ...success, message: '' }, { successText: (data) => `Value ${data}.` });
    expect(toasts.list()).toMatchObject([{ text: 'Value 1.' }]);
  });

  it('can replace its message of success, for example by one with Undo', () => {
    const { events, toasts } = setUp();
    const action = { label: 'Undo', run: () => undefined };
    events.succeeded('rate', success, {
      successMessage: (data, message) => ({ type: 'info', text: `${message} ${data}`, autoClose: true, action }),
    });
    expect(toasts.list()).toMatchObject([{ type: 'info', text: 'Done. 1', action, key: 'rate' }]);
  });

  it('closes the toast of its last attempt when it starts again', () => {
    const { events, toasts } = setUp();
    events.failed('rate', failure, {});
    events.started('rate');
    expect(toasts.list()).toMatchObject([{ leaving: true }]);
  });

  it('shows one toast about an ended session, even if several requests fail', () => {
    const { events, toasts } = setUp();
    events.failed('rate', new ApiError('session_gone'), {});
    events.failed('other', new ApiError('session_gone'), {});
    expect(toasts.list()).toMatchObject([{ autoClose: false, action: { href: 'https://example.com/wp-login.php' } }]);
  });
});
