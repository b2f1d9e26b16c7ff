/** A call of the client, as a server sees it. */
export interface SeenCall {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly body: string | object;
}

/** Decides the answer to a call; `null` drops the connection without one. */
export type Handler = (call: SeenCall) => Reply | null | Promise<Reply | null>;

/** An answer in the API's envelope. */
export function ok(data: unknown, message = ''): Reply {
  return { body: { data, message, status: 200 } };
}

/** A refusal in the API's envelope. */
export function refused(status: number, code: string, message: string): Reply {
  return { status, body: { data: null, code, message, status } };
}

export const staleNonce = refused(403, 'rest_cookie_invalid_nonce', 'Cookie check failed');
