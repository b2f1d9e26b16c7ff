import { messages } from '@security-optimizer/contract/messages';
import type { ApiFailure, ServerNotification } from '../api/api-failure.js';
import { __, translate } from '../i18n/translate.js';
import type { Notice } from '../notices/notice.js';

/**
 * The notice for a failed request, chosen in the order of specification section 8: the request's own text (or the
 * one that the server sent for it), the help for status 555, the server's message, the same help again: an answer
 * without a word is none of ours. When nothing came back at all, that is said.
 * It stays until it is closed, because it may ask for something to be done.
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

/** Why a request failed, for what says so in its own place, beside or in place of the notice. */
export function failureReason(failure: ApiFailure): string {
  return failure.kind === 'session_gone'
    ? __('You are logged out', 'security-optimizer')
    : failureNotice(failure, undefined).text;
}

/**
 * The notice for a successful request: its own success text (or the one that the server sent for it) and the
 * server's message. The same sentence is not said twice; null when there is nothing to say.
 */
export function successNotice(
  customText: string | undefined,
  answer: { readonly message: string; readonly notification: ServerNotification },
): Notice | null {
  const custom = (customText || answer.notification.success || '').trim();
  const message = translate(answer.message.trim());
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
