import type { Api } from '../api/api.js';
import { ApiFailure } from '../api/api-failure.js';
import type { ApiCall } from '../api/send.js';
import type { Notice } from '../notices/notice.js';
import type { NoticeStore } from '../notices/notice-store.js';
import { failureNotice, successNotice } from './outcome-notice.js';
import type { RequestStore } from './request-store.js';
import { SESSION_NOTICE, sessionNotice } from './session-notice.js';

export interface TrackedRequest<Data> {
  /** Name under which the life cycle is tracked. */
  readonly name: string;
  readonly call: ApiCall;
  /** Own success text; may depend on what the server answered, data and message. */
  readonly successText?: string | ((data: Data, message: string) => string);
  /** Own error text; goes before everything that the server says. */
  readonly errorText?: string;
  readonly onSuccess?: (data: Data) => void;
  readonly onFailure?: (failure: ApiFailure) => void;
  /** Runs after success and after failure, last. */
  readonly onComplete?: () => void;
}

export type RunRequest = <Data>(request: TrackedRequest<Data>) => Promise<Data>;

/**
 * Makes the function that runs every request of the dashboard: it tracks the life cycle, shows the notice that
 * the specification asks for and then calls the request's callbacks.
 *
 * The returned promise is rejected with an `ApiFailure` when the request fails. One that was cancelled is over without
 * a notice, and only `onComplete` is called.
 */
export function createRunRequest(parts: {
  readonly api: Pick<Api, 'call'>;
  readonly requests: RequestStore;
  readonly notices: Pick<NoticeStore, 'show' | 'closeKey'>;
  readonly loginUrl: string;
}): RunRequest {
  const { api, requests, notices, loginUrl } = parts;

  function show(notice: Notice | null, key: string): void {
    if (notice !== null) notices.show({ key, ...notice });
  }

  return async function runRequest<Data>(request: TrackedRequest<Data>): Promise<Data> {
    const { name, successText } = request;
    requests.started(name);
    notices.closeKey(name);
    try {
      const answer = await api.call<Data>(request.call);
      requests.ended(name, 'succeeded');
      notices.closeKey(SESSION_NOTICE);
      const own = typeof successText === 'function' ? successText(answer.data, answer.message) : successText;
      show(successNotice(own, answer), name);
      request.onSuccess?.(answer.data);
      return answer.data;
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      requests.ended(name, 'failed');
      if (error.kind === 'cancelled') throw error;
      show(error.kind === 'session_gone' ? sessionNotice(loginUrl) : failureNotice(error, request.errorText), name);
      request.onFailure?.(error);
      throw error;
    } finally {
      request.onComplete?.();
    }
  };
}
