import type { ErrorCode } from './errors.js';
import type { MessageAt } from './server-message.js';

/** The envelope of successful responses. `status` equals the HTTP status and is the number 200. */
export interface Success<Data> {
  readonly data: Data;
  readonly message: string;
  readonly status: 200;
  /** The texts of the response that contain values, for clients in other languages; absent if there are none. */
  readonly texts?: readonly MessageAt[];
}

/** The envelope of errors. `fields` names each invalid input and the allowed values. */
export interface Failure {
  readonly data: null;
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly texts?: readonly MessageAt[];
}

export type Envelope<Data> = Success<Data> | Failure;
