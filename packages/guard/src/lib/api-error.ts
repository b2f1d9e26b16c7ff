import { type ErrorCode, errorTable } from '@security-optimizer/contract/errors';

/** A refusal with a code of the contract's table. Thrown anywhere, turned into an answer in one place. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly fields: Readonly<Record<string, string>> | undefined;

  constructor(
    code: ErrorCode,
    options: { fields?: Readonly<Record<string, string>>; cause?: unknown; message?: string } = {},
  ) {
    super(options.message ?? errorTable[code].message, { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.fields = options.fields;
  }
}
