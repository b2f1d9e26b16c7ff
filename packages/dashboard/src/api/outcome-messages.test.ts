import { messages } from '@security-optimizer/contract/messages';
import { describe, expect, it } from 'vitest';
import { ApiError } from './envelope.js';
import { failureMessage, successMessage } from './outcome-messages.js';

const notJson = new ApiError('not_json', { status: 555, message: messages.notJson });
const refused = new ApiError('refused', { status: 500, message: 'Server says no.' });

describe('failureMessage', () => {
  it('prefers the request’s own text', () => {
    expect(failureMessage(notJson, 'Own text.')).toMatchObject({ type: 'error', text: 'Own text.' });
    expect(failureMessage(refused, 'Own text.').text).toBe('Own text.');
  });

  it('then uses the text of the server for this request', () => {
    const failure = new ApiError('refused', { message: 'Server.', notification: { error: 'For this request.' } });
    expect(failureMessage(failure, undefined).text).toBe('For this request.');
    expect(failureMessage(failure, 'Own text.').text).toBe('Own text.');
  });

  it('explains status 555 under a title of its own', () => {
    expect(failureMessage(notJson, undefined)).toMatchObject({
      title: 'Could not connect to the WordPress REST API',
      text: messages.notJsonHelp,
    });
  });

  it('then shows the server’s message', () => {
    const shown = failureMessage(refused, undefined);
    expect(shown.text).toBe('Server says no.');
    expect(shown.title).toBeUndefined();
  });

  it('says that there was no response', () => {
    const shown = failureMessage(new ApiError('no_response'), undefined);
    expect(shown.text).toBe('An error occurred. Please try again later');
    expect(shown.title).toBeUndefined();
  });

  it('shows the message about the REST API if the response has no message', () => {
    expect(failureMessage(new ApiError('refused', { status: 500 }), undefined)).toMatchObject({
      title: 'Could not connect to the WordPress REST API',
      text: messages.notJsonHelp,
    });
  });

  it('stays until it is closed', () => {
    expect(failureMessage(refused, undefined).autoClose).toBe(false);
  });
});

describe('successMessage', () => {
  const response = (message: string, success?: string) => ({
    message,
    notification: success === undefined ? {} : { success },
  });

  it('shows the request’s own text and the server’s message', () => {
    expect(successMessage('Blocked.', response('It takes effect at once.'))).toMatchObject({
      type: 'success',
      text: 'Blocked. It takes effect at once.',
      autoClose: true,
    });
  });

  it('does not repeat the same sentence', () => {
    expect(successMessage('Feeds can’t be read.', response("feeds can't  be read"))?.text).toBe('Feeds can’t be read.');
  });

  it('uses the server’s success text if the request has none', () => {
    expect(successMessage(undefined, response('', 'Saved.'))?.text).toBe('Saved.');
    expect(successMessage('Own.', response('', 'Saved.'))?.text).toBe('Own.');
  });

  it('is null if there is no text', () => {
    expect(successMessage(undefined, response(''))).toBeNull();
  });
});
