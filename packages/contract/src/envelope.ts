import type { ErrorCode } from './errors.js';

/** Every successful answer. `status` equals the HTTP status and is the number 200. */
export interface Success<Data> {
  readonly data: Data;
  readonly message: string;
  readonly status: 200;
}

/** Every refused call. `fields` names each bad input and says what is allowed. */
export interface Failure {
  readonly data: null;
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
  readonly fields?: Readonly<Record<string, string>>;
}

export type Envelope<Data> = Success<Data> | Failure;
