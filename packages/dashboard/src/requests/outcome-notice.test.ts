import { messages } from '@security-optimizer/contract/messages';
import { describe, expect, it } from 'vitest';
import { ApiFailure } from '../api/api-failure.js';
import { failureNotice, successNotice } from './outcome-notice.js';

const notJson = new ApiFailure('not_json', { status: 555, message: messages.notJson });
const refused = new ApiFailure('refused', { status: 500, message: 'Server says no.' });

describe('failureNotice', () => {
  it('prefers the request’s own text to everything else', () => {
    expect(failureNotice(notJson, 'Own text.')).toMatchObject({ type: 'error', text: 'Own text.' });
    expect(failureNotice(refused, 'Own text.').text).toBe('Own text.');
  });

  it('takes the text that the server sent for it next', () => {
    const failure = new ApiFailure('refused', { message: 'Server.', notification: { error: 'For this request.' } });
    expect(failureNotice(failure, undefined).text).toBe('For this request.');
    expect(failureNotice(failure, 'Own text.').text).toBe('Own text.');
  });

  it('explains status 555 under its own title', () => {
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

  it('says that nothing came back', () => {
    const notice = failureNotice(new ApiFailure('no_response'), undefined);
    expect(notice.text).toBe('An error occurred. Please try again later');
    expect(notice.title).toBeUndefined();
  });

  it('shows the message about the REST API when a refusal says nothing', () => {
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
  const answer = (message: string, success?: string) => ({
    message,
    notification: success === undefined ? {} : { success },
  });

  it('shows the request’s own text and the server’s message', () => {
    expect(successNotice('Blocked.', answer('It takes effect at once.'))).toMatchObject({
      type: 'success',
      text: 'Blocked. It takes effect at once.',
      autoClose: true,
    });
  });

  it('does not say the same sentence twice', () => {
    expect(successNotice('Feeds can’t be read.', answer("feeds can't  be read"))?.text).toBe('Feeds can’t be read.');
  });

  it('uses the server’s success text when the request has none', () => {
    expect(successNotice(undefined, answer('', 'Saved.'))?.text).toBe('Saved.');
    expect(successNotice('Own.', answer('', 'Saved.'))?.text).toBe('Own.');
  });

  it('is silent when there is nothing to say', () => {
    expect(successNotice(undefined, answer(''))).toBeNull();
  });
});
