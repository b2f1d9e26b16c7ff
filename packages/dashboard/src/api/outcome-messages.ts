import { messages } from '@security-optimizer/contract/messages';
import { __, translate } from '../i18n/translate.js';
import type { ApiError, ServerNotification } from './envelope.js';

/** What to tell the owner after a request; drawn as a toast. */
export interface OutcomeMessage {
  readonly type: 'success' | 'error' | 'warning' | 'info';
  /** Default: one for the type. */
  readonly title?: string;
  /** May contain `strong` and links of the server. */
  readonly text: string;
  /** Whether it goes by itself. */
  readonly autoClose: boolean;
  /** A later message with the same key replaces it. Default: the name of the request. */
  readonly key?: string;
  /** A link, or an action such as Undo. */
  readonly action?:
    | { readonly label: string; readonly href: string }
    | { readonly label: string; readonly run: () => void };
  /** The element that has changed; the message must not cover it. */
  readonly about?: Element | null;
}

/**
 * Message for a failed request, in the order of specification section 8: the request's own or the server's error text,
 * the help for status 555, the server's message, and again the help for a response without a message. It stays until it
 * is closed.
 */
export function failureMessage(failure: ApiError, customText: string | undefined): OutcomeMessage {
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

/** Returns why a request failed, for messages at the place of the request. */
export function failureReason(failure: ApiError): string {
  return failure.kind === 'session_gone'
    ? __('You are logged out', 'security-optimizer')
    : failureMessage(failure, undefined).text;
}

/**
 * Message for a successful request: its own or the server's success text, and the server's message unless it repeats the
 * text. Null if there is no text.
 */
export function successMessage(
  customText: string | undefined,
  response: { readonly message: string; readonly notification: ServerNotification },
): OutcomeMessage | null {
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

/** There is at most one message about the session. */
export const SESSION_MESSAGE = 'session';

/** Message that the WordPress session has ended, with a link to log in. */
export function sessionMessage(loginUrl: string): OutcomeMessage {
  return {
    type: 'error',
    title: __('You are logged out', 'security-optimizer'),
    text: __('WordPress has ended your session, so nothing was saved. Log in and try again.', 'security-optimizer'),
    autoClose: false,
    key: SESSION_MESSAGE,
    action: { label: __('Log in', 'security-optimizer'), href: loginUrl },
  };
}
