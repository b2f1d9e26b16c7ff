import { Readable } from 'node:stream';
import type { Failure } from '@security-optimizer/contract/envelope';
import { type ErrorCode, errorTable } from '@security-optimizer/contract/errors';
import { isServerMessage, type MessageAt, type WithMessages } from '@security-optimizer/contract/server-message';
import type { FastifyReply } from 'fastify';
import type { DownloadFile } from '../feature.js';
import { ApiError } from '../lib/api-error.js';

/**
 * Errors of the HTTP framework by status. An unknown path or method is a route that does not exist, as in WordPress.
 */
const byStatus: Readonly<Record<number, ErrorCode>> = {
  404: 'rest_no_route',
  405: 'rest_no_route',
  413: 'body_too_large',
  414: 'rest_no_route',
};
const byCode: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_BAD_URL: 'rest_no_route',
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: 'rest_no_route',
};

/**
 * Maps every error to an error of the API. Unexpected errors become `internal`. Errors that the framework attributes to
 * the request (a `statusCode` of 4xx, also for an aborted body) keep their meaning.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code = '', statusCode = 500 } = (error ?? {}) as { code?: string; statusCode?: number };
  const ofRequest = statusCode >= 400 && statusCode < 500;
  const responseCode = ofRequest ? (byCode[code] ?? byStatus[statusCode] ?? 'bad_request') : 'internal';
  return new ApiError(responseCode, { cause: error });
}

/** Returns the response to a refused request. */
export function toFailure(error: ApiError): WithMessages<Failure> & Pick<Failure, 'status'> {
  return {
    data: null,
    code: error.code,
    message: error.text,
    status: errorTable[error.code].status,
    ...(error.fields ? { fields: error.fields } : {}),
  };
}

/**
 * Streams a file at the pace of the client. When the file can't be completed the connection is closed, so that a
 * truncated file is not mistaken for a complete one.
 *
 * @param onFailed called with the error, since the response can't report it any more
 */
export function sendFile(
  reply: FastifyReply,
  { name, mediaType, content }: DownloadFile,
  onFailed: (error: unknown) => void,
): FastifyReply {
  return reply
    .code(200)
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .header('content-type', mediaType)
    .header('content-disposition', `attachment; filename="${name}"`)
    .header('content-security-policy', "default-src 'none'; sandbox")
    .send(Readable.from(watched(content, onFailed), { objectMode: true, highWaterMark: 1 }));
}

async function* watched(content: AsyncIterable<string>, onFailed: (error: unknown) => void): AsyncGenerator<string> {
  try {
    yield* content;
  } catch (error) {
    onFailed(error);
    throw error;
  }
}

/**
 * Replaces every server message of a response with its English text.
 *
 * @param value plain JSON that contains messages; it is not modified
 * @returns the value as JSON, and the position of each message
 */
export function separateMessages(value: unknown): { readonly json: unknown; readonly texts: MessageAt[] } {
  const texts: MessageAt[] = [];
  const json = separate(value, '', texts);
  return { json, texts };
}

function separate(value: unknown, at: string, texts: MessageAt[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isServerMessage(value)) {
    texts.push({ at, code: value.code, params: value.params });
    return value.english;
  }
  if (Array.isArray(value)) return value.map((item, index) => separate(item, `${at}/${index}`, texts));
  return Object.fromEntries(
    Object.entries(value).map(([name, key]) => [name, separate(key, `${at}/${escaped(name)}`, texts)]),
  );
}

/** Escapes a name as RFC 6901 section 3 defines. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
