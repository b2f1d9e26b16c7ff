import type { Failure } from '@security-optimizer/contract/envelope';
import { type ErrorCode, errorTable } from '@security-optimizer/contract/errors';
import { ApiError } from '../lib/api-error.js';

/**
 * What the HTTP framework finds wrong with a request, by the status that it would answer with. A path or method that it
 * has no use for is a route that does not exist, as in WordPress.
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
 * The one place that decides how an error is answered. Errors that nobody foresaw become `internal`; those that the
 * framework lays to the request (a `statusCode` of 4xx, also on a body that broke off) are answered as such.
 */
export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code = '', statusCode = 500 } = (error ?? {}) as { code?: string; statusCode?: number };
  const ofRequest = statusCode >= 400 && statusCode < 500;
  const answered = ofRequest ? (byCode[code] ?? byStatus[statusCode] ?? 'bad_request') : 'internal';
  return new ApiError(answered, { cause: error });
}

/** The answer to a refused call. */
export function failureOf(error: ApiError): Failure {
  return {
    data: null,
    code: error.code,
    message: error.message,
    status: errorTable[error.code].status,
    ...(error.fields ? { fields: error.fields } : {}),
  };
}
