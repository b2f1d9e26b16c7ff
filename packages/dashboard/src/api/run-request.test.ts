import { messages } from '@security-optimizer/contract/messages';
import { describe, expect, it } from 'vitest';
import { type Api, ApiFailure } from './client.js';
import { createNoticeStore } from './notices.js';
import { createRequestStore, createRunRequest, failureNotice, successNotice } from './run-request.js';

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
  it('starts and succeeds; its callbacks run last', async () => {
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

  it('starts and fails; the callbacks for failure and completion run after the notice', async () => {
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
    expect(parts.notices.list()).toMatchObject([{ text: 'Value 1.' }]);
  });

  it('shows one notice about an ended session, even if several requests fail', async () => {
    const parts = setUp(() => Promise.reject(new ApiFailure('session_gone')));
    await parts.run(parts.request).catch(() => undefined);
    await parts.run({ ...parts.request, name: 'other' }).catch(() => undefined);
    expect(parts.notices.list()).toMatchObject([
      { autoClose: false, action: { href: 'https://example.com/wp-login.php' } },
    ]);
  });
});

const notJson = new ApiFailure('not_json', { status: 555, message: messages.notJson });
const refused = new ApiFailure('refused', { status: 500, message: 'Server says no.' });

describe('failureNotice', () => {
  it('prefers the request’s own text', () => {
    expect(failureNotice(notJson, 'Own text.')).toMatchObject({ type: 'error', text: 'Own text.' });
    expect(failureNotice(refused, 'Own text.').text).toBe('Own text.');
  });

  it('then uses the text of the server for this request', () => {
    const failure = new ApiFailure('refused', { message: 'Server.', notification: { error: 'For this request.' } });
    expect(failureNotice(failure, undefined).text).toBe('For this request.');
    expect(failureNotice(failure, 'Own text.').text).toBe('Own text.');
  });

  it('explains status 555 under a title of its own', () => {
    expect(failureNotice(notJson, undefined)).toMatchObject({
      title: 'Could not connect to the WordPress REST API',
      text: messages.notJsonHelp,
    });
  });

  it('then shows the server’s message', () => {
    const notice = failureNotice(refused, undefined);
    expect(notice.text).toBe('Server says no.');
    expect(notice.title).toBeUndefined();
  });

  it('says that there was no response', () => {
    const notice = failureNotice(new ApiFailure('no_response'), undefined);
    expect(notice.text).toBe('An error occurred. Please try again later');
    expect(notice.title).toBeUndefined();
  });

  it('shows the message about the REST API if the response has no message', () => {
    expect(failureNotice(new ApiFailure('refused', { status: 500 }), undefined)).toMatchObject({
      title: 'Could not connect to the WordPress REST API',
      text: messages.notJsonHelp,
    });
  });

  it('stays until it is closed', () => {
    expect(failureNotice(refused, undefined).autoClose).toBe(false);
  });
});

describe('successNotice', () => {
  const response = (message: string, success?: string) => ({
    message,
    notification: success === undefined ? {} : { success },
  });

  it('shows the request’s own text and the server’s message', () => {
    expect(successNotice('Blocked.', response('It takes effect at once.'))).toMatchObject({
      type: 'success',
      text: 'Blocked. It takes effect at once.',
      autoClose: true,
    });
  });

  it('does not repeat the same sentence', () => {
    expect(successNotice('Feeds can’t be read.', response("feeds can't  be read"))?.text).toBe('Feeds can’t be read.');
  });

  it('uses the server’s success text if the request has none', () => {
    expect(successNotice(undefined, response('', 'Saved.'))?.text).toBe('Saved.');
    expect(successNotice('Own.', response('', 'Saved.'))?.text).toBe('Own.');
  });

  it('is null if there is no text', () => {
    expect(successNotice(undefined, response(''))).toBeNull();
  });
});
