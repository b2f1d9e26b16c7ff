import { STATUS_NOT_JSON } from '@security-optimizer/contract/limits';
import { messages } from '@security-optimizer/contract/messages';
import { type Fields, isFields, textOf } from '../data/fields.js';
import { ApiFailure, type ServerNotification } from './api-failure.js';

/** A call that succeeded. */
export interface Answer<Data> {
  readonly data: Data;
  readonly message: string;
  readonly notification: ServerNotification;
}

/**
 * Reads the body of an answer (specification sections 7 and 8). A call has succeeded only when the field `status`
 * of the body is the number 200.
 *
 * @param httpStatus used when the body names no status of its own
 * @throws ApiFailure
 */
export function readAnswer<Data>(body: string, httpStatus: number): Answer<Data> {
  const fields = parse(body);
  const message = textOf(fields.message);
  const notification = readNotification(fields);
  if (fields.status === 200) return { data: fields.data as Data, message, notification };
  throw new ApiFailure('refused', {
    status: statusOf(fields, httpStatus),
    message,
    code: textOf(fields.code),
    fields: readFieldTexts(fields.fields),
    notification,
  });
}

function parse(body: string): Fields {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (cause) {
    throw new ApiFailure('not_json', { status: STATUS_NOT_JSON, message: messages.notJson, cause });
  }
  return isFields(parsed) ? parsed : {};
}

/** WordPress's own errors carry the status inside `data`. */
function statusOf(fields: Fields, httpStatus: number): number {
  const inner = isFields(fields.data) ? fields.data.status : undefined;
  const status = Number(fields.status ?? inner);
  return Number.isInteger(status) ? status : httpStatus;
}

function readNotification(fields: Fields): ServerNotification {
  const metadata = isFields(fields.metadata) ? fields.metadata : {};
  const notification = isFields(metadata.notification) ? metadata.notification : {};
  const success = textOf(notification.success);
  const error = textOf(notification.error);
  return { ...(success === '' ? {} : { success }), ...(error === '' ? {} : { error }) };
}

function readFieldTexts(value: unknown): Record<string, string> {
  if (!isFields(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, textOf(text)]));
}
