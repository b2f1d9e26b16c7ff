import { type ErrorCode, errorTable } from '@security-optimizer/contract/errors';
import { type ServerText, toEnglish } from '@security-optimizer/contract/server-message';

/** A refusal with an error code of the contract. Thrown anywhere, and converted to a response in one place. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** The message for the caller. Default: the text of the code. */
  readonly text: ServerText;
  readonly fields: Readonly<Record<string, ServerText>> | undefined;

  constructor(
    code: ErrorCode,
    options: { fields?: Readonly<Record<string, ServerText>>; cause?: unknown; message?: ServerText } = {},
  ) {
    const text = options.message ?? errorTable[code].message;
    super(toEnglish(text), { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.text = text;
    this.fields = options.fields;
  }
}
