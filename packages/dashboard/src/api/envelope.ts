import { messages } from '@security-optimizer/contract/messages';
import * as z from 'zod/mini';
import { translateTexts } from '../i18n/server-message.js';

/** Status of a response whose body is not JSON (specification section 8). */
const STATUS_NOT_JSON = 555;

export interface ApiResponse<Data> {
  readonly data: Data;
  readonly message: string;
  readonly notification: ServerNotification;
}

/**
 * Parses a response body (specification sections 7 and 8). A request succeeded only if the body's field `status` is the
 * number 200.
 *
 * @param httpStatus used when the body has no status
 * @throws ApiError
 */
export function parseEnvelope<Data>(body: string, httpStatus: number): ApiResponse<Data> {
  const parsed = z.safeParse(bodySchema, parseJson(body)).data ?? EMPTY_BODY;
  const { message } = parsed;
  const notification = withoutEmpty(parsed.metadata.notification);
  if (parsed.status === 200) return { data: parsed.data as Data, message, notification };
  throw new ApiError('refused', {
    status: getStatus(parsed, httpStatus),
    message,
    code: parsed.code,
    fields: parsed.fields,
    notification,
  });
}

const text = z.catch(z.string(), '');
const notifications = z.object({ success: text, error: text });
const NO_NOTIFICATIONS = { success: '', error: '' };

/** Any JSON body: errors of WordPress have this shape too, and other plugins may respond as well. */
const bodySchema = z.object({
  status: z.optional(z.unknown()),
  data: z.optional(z.unknown()),
  message: text,
  code: text,
  fields: z.catch(z.record(z.string(), text), {}),
  metadata: z.catch(z.object({ notification: z.catch(notifications, NO_NOTIFICATIONS) }), {
    notification: NO_NOTIFICATIONS,
  }),
});
const EMPTY_BODY: z.output<typeof bodySchema> = z.parse(bodySchema, {});

function parseJson(body: string): unknown {
  try {
    const parsed: unknown = JSON.parse(body);
    translateTexts(parsed);
    return parsed;
  } catch (cause) {
    throw new ApiError('not_json', { status: STATUS_NOT_JSON, message: messages.notJson, cause });
  }
}

/** Errors of WordPress have the status inside `data`. */
function getStatus({ status, data }: z.output<typeof bodySchema>, httpStatus: number): number {
  const inner = z.safeParse(z.object({ status: z.optional(z.unknown()) }), data).data?.status;
  const read = Number(status ?? inner);
  return Number.isInteger(read) ? read : httpStatus;
}

function withoutEmpty({ success, error }: z.output<typeof notifications>): ServerNotification {
  return { ...(success === '' ? {} : { success }), ...(error === '' ? {} : { error }) };
}

/** Texts that the server may send to replace the request's own texts. */
export interface ServerNotification {
  readonly success?: string;
  readonly error?: string;
}

/**
 * - `no_response`: no complete response in time; the change may have been made
 * - `not_json`: the response is not JSON (status 555)
 * - `refused`: the server responded with a status other than 200
 * - `session_gone`: the WordPress session has ended
 * - `cancelled`: the caller cancelled the request
 */
export type ErrorKind = 'no_response' | 'not_json' | 'refused' | 'session_gone' | 'cancelled';

/** A failed request. `message` is the server's text or ''. */
export class ApiError extends Error {
  readonly kind: ErrorKind;
  readonly status: number;
  readonly code: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly notification: ServerNotification;

  constructor(
    kind: ErrorKind,
    details: {
      status?: number;
      message?: string;
      code?: string;
      fields?: Readonly<Record<string, string>>;
      notification?: ServerNotification;
      cause?: unknown;
    } = {},
  ) {
    super(details.message ?? '', { cause: details.cause });
    this.name = 'ApiError';
    this.kind = kind;
    this.status = details.status ?? 0;
    this.code = details.code ?? '';
    this.fields = details.fields ?? {};
    this.notification = details.notification ?? {};
  }
}

/** Whether the outcome of a failed change is unknown. Guard rejects a change with a JSON response. */
export function isOutcomeUnknown(failure: ApiError): boolean {
  return failure.kind === 'no_response' || failure.kind === 'not_json';
}

/** For `catch`: the request's toast has reported an ApiError. Rethrows any other error. */
export function ignoreApiError(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error;
}
