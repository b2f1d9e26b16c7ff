import { messages } from '@security-optimizer/contract/messages';
import { __, translate } from '../i18n/translate.js';
import { type Api, type ApiCall, ApiFailure, type ServerNotification } from './client.js';
import type { Notice, NoticeStore } from './notices.js';

export interface TrackedRequest<Data> {
  /** Name of the request in the request store. */
  readonly name: string;
  readonly call: ApiCall;
  /** Success text; may depend on the response's data and message. */
  readonly successText?: string | ((data: Data, message: string) => string);
  /** The notice of success. Default: one with `successText` and the server's message. */
  readonly successNotice?: (data: Data, message: string) => Notice;
  /** Error text; takes precedence over all texts of the server. */
  readonly errorText?: string;
  readonly onSuccess?: (data: Data) => void;
  readonly onFailure?: (failure: ApiFailure) => void;
  /** Called last, after success and failure. */
  readonly onComplete?: () => void;
}

export type RunRequest = <Data>(request: TrackedRequest<Data>) => Promise<Data>;

/**
 * Creates the function that runs the dashboard's requests: tracks their state, shows the notices of the specification,
 * and calls the callbacks.
 *
 * It rejects with an `ApiFailure`. A cancelled request shows no notice and only calls `onComplete`.
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
      const response = await api.call<Data>(request.call);
      requests.ended(name, 'succeeded');
      notices.closeKey(SESSION_NOTICE);
      const own = typeof successText === 'function' ? successText(response.data, response.message) : successText;
      show(request.successNotice?.(response.data, response.message) ?? successNotice(own, response), name);
      request.onSuccess?.(response.data);
      return response.data;
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

export type RequestState = 'idle' | 'started' | 'succeeded' | 'failed';

/** State of each request by its name (specification section 4). */
export interface RequestStore {
  subscribe(listener: () => void): () => void;
  state(name: string): RequestState;
  /** Whether any request, or any of the named ones, is running. */
  isRunning(names?: readonly string[]): boolean;
  started(name: string): void;
  ended(name: string, state: 'succeeded' | 'failed'): void;
}

export function createRequestStore(): RequestStore {
  const states = new Map<string, { state: RequestState; running: number }>();
  const listeners = new Set<() => void>();

  function set(name: string, state: RequestState, change: 1 | -1): void {
    const running = (states.get(name)?.running ?? 0) + change;
    // Requests with the same name may overlap.
    states.set(name, { state: running > 0 ? 'started' : state, running });
    for (const listener of listeners) listener();
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    state: (name) => states.get(name)?.state ?? 'idle',
    isRunning(names) {
      for (const [name, { running }] of states) {
        if (running > 0 && (names === undefined || names.includes(name))) return true;
      }
      return false;
    },
    started: (name) => set(name, 'started', 1),
    ended: (name, state) => set(name, state, -1),
  };
}

/**
 * Notice for a failed request, in the order of specification section 8: the request's own or the server's error text,
 * the help for status 555, the server's message, and again the help for a response without a message. It stays until it
 * is closed.
 */
export function failureNotice(failure: ApiFailure, customText: string | undefined): Notice {
  const custom = customText || failure.notification.error;
  if (custom) return { type: 'error', text: custom, autoClose: false };
  const message = failure.kind === 'refused' ? failure.message : messages.noResponse;
  if (failure.kind === 'not_json' || message === '') {
    return {
      type: 'error',
      title: translate(messages.notJsonTitle),
      text: translate(messages.notJsonHelp),
      autoClose: false,
    };
  }
  return { type: 'error', text: translate(message), autoClose: false };
}

/** Returns why a request failed, for messages outside the notification area. */
export function failureReason(failure: ApiFailure): string {
  return failure.kind === 'session_gone'
    ? __('You are logged out', 'security-optimizer')
    : failureNotice(failure, undefined).text;
}

/**
 * Notice for a successful request: its own or the server's success text, and the server's message unless it repeats the
 * text. Null if there is no text.
 */
export function successNotice(
  customText: string | undefined,
  response: { readonly message: string; readonly notification: ServerNotification },
): Notice | null {
  const custom = (customText || response.notification.success || '').trim();
  const message = translate(response.message.trim());
  const sentences = sameSentence(custom, message) ? [custom] : [custom, message];
  const text = sentences.filter((sentence) => sentence !== '').join(' ');
  return text === '' ? null : { type: 'success', text, autoClose: true };
}

function sameSentence(a: string, b: string): boolean {
  return normalised(a) === normalised(b);
}

function normalised(sentence: string): string {
  return sentence
    .replace(/[’‘]/g, "'")
    .replace(/\s+/g, ' ')
    .replace(/[.\s]+$/, '')
    .toLowerCase();
}

/** There is at most one notice about the session. */
export const SESSION_NOTICE = 'session';

/** Notice that the WordPress session has ended, with a link to log in. */
export function sessionNotice(loginUrl: string): Notice {
  return {
    type: 'error',
    title: __('You are logged out', 'security-optimizer'),
    text: __('WordPress has ended your session, so nothing was saved. Log in and try again.', 'security-optimizer'),
    autoClose: false,
    key: SESSION_NOTICE,
    action: { label: __('Log in', 'security-optimizer'), href: loginUrl },
  };
}
