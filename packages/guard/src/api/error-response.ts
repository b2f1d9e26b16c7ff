import type { Failure } from '@security-optimizer/contract/envelope';
import { errorTable } from '@security-optimizer/contract/errors';
import { ApiError } from '../lib/api-error.js';

/** Errors of the HTTP framework that mean something to the caller. */
const frameworkErrors: Readonly<Record<string, ConstructorParameters<typeof ApiError>[0]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_json',
  FST_ERR_BAD_URL: 'rest_no_route',
  FST_ERR_MAX_PARAM_LENGTH: 'rest_no_route',
  FST_ERR_ROUTE_METHOD_NOT_SUPPORTED: 'rest_no_route',
};

/** The one place that decides how an error is answered. Errors that nobody foresaw become `internal`. */
export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const known = frameworkErrors[(error as { code?: string } | null)?.code ?? ''];
  return new ApiError(known ?? 'internal', { cause: error });
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
