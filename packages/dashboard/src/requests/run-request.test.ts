import { describe, expect, it } from 'vitest';
import type { Api } from '../api/api.js';
import { ApiFailure } from '../api/api-failure.js';
import { createNoticeStore } from '../notices/notice-store.js';
import { createRequestStore } from './request-store.js';
import { createRunRequest } from './run-request.js';

function setUp(call: () => Promise<unknown>) {
  const notices = createNoticeStore();
  const requests = createRequestStore();
  const api = { call: call as Api['call'] };
  const run = createRunRequest({ api, requests, notices, loginUrl: 'https://example.com/wp-login.php' });
  const log: string[] = [];
  const request = {
    name: 'rate',
    call: { suffix: '/rate' },
    onSuccess: () => log.push('success'),
    onFailure: () => log.push('failure'),
    onComplete: () => log.push('complete'),
  };
  return { notices, requests, run, request, log };
}

const success = { data: 1, message: 'Done.', notification: {} };

describe('a tracked request', () => {
  it('is started, then succeeded; its callbacks run last', async () => {
    const parts = setUp(async () => {
      parts.log.push(parts.requests.state('rate'));
      return success;
    });
    expect(parts.requests.state('rate')).toBe('idle');
    await expect(parts.run(parts.request)).resolves.toBe(1);
    expect(parts.requests.state('rate')).toBe('succeeded');
    expect(parts.log).toEqual(['started', 'success', 'complete']);
    expect(parts.notices.list()).toMatchObject([{ type: 'success', text: 'Done.' }]);
  });

  it('is started, then failed; the failure and the completion callback run after the notice', async () => {
    const parts = setUp(() => Promise.reject(new ApiFailure('refused', { status: 500, message: 'No.' })));
    await expect(parts.run(parts.request)).rejects.toBeInstanceOf(ApiFailure);
    expect(parts.requests.state('rate')).toBe('failed');
    expect(parts.log).toEqual(['failure', 'complete']);
    expect(parts.notices.list()).toMatchObject([{ type: 'error', text: 'No.' }]);
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

  it('runs on until the last of two with the same name has ended', () => {
    const requests = createRequestStore();
    requests.started('a');
    requests.started('a');
    requests.ended('a', 'succeeded');
    expect(requests.state('a')).toBe('started');
    requests.ended('a', 'failed');
    expect(requests.state('a')).toBe('failed');
  });

  it('may choose its success text by the answer', async () => {
    const parts = setUp(async () => ({ ...success, message: '' }));
    await parts.run<number>({ ...parts.request, successText: (data) => `Value ${data}.` });
    expect(parts.notices.list()).toMatchObject([{ text: 'Value 1.' }]);
  });

  it('shows one notice about a session that is gone, however many requests notice it', async () => {
    const parts = setUp(() => Promise.reject(new ApiFailure('session_gone')));
    await parts.run(parts.request).catch(() => undefined);
    await parts.run({ ...parts.request, name: 'other' }).catch(() => undefined);
    expect(parts.notices.list()).toMatchObject([
      { autoClose: false, action: { href: 'https://example.com/wp-login.php' } },
    ]);
  });
});
