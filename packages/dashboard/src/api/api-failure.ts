/** Texts that a server may send with an answer; they stand in for the request's own texts. */
export interface ServerNotification {
  readonly success?: string;
  readonly error?: string;
}

/**
 * - `no_response`: nothing came back, or it stopped half-way or took too long; the change may have been made
 * - `not_json`: something came back that is not JSON (status 555)
 * - `refused`: the server answered with a status that is not 200
 * - `session_gone`: the owner is no longer logged in to WordPress
 * - `cancelled`: whoever asked no longer wants the answer
 */
export type FailureKind = 'no_response' | 'not_json' | 'refused' | 'session_gone' | 'cancelled';

/** Why a call did not succeed. `message` is the server's text or ''. */
export class ApiFailure extends Error {
  readonly kind: FailureKind;
  readonly status: number;
  readonly code: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly notification: ServerNotification;

  constructor(
    kind: FailureKind,
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
    this.name = 'ApiFailure';
    this.kind = kind;
    this.status = details.status ?? 0;
    this.code = details.code ?? '';
    this.fields = details.fields ?? {};
    this.notification = details.notification ?? {};
  }
}
