import { type ErrorCode, errorTable } from '@security-optimizer/contract/errors';
import { type ServerText, toEnglish } from '@security-optimizer/contract/server-message';

/** A refusal with a code of the contract's table. Thrown anywhere, turned into a response in one place. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** What the caller is told: the text of the code, unless there is a better one. */
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
