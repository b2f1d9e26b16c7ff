/** A request of the client as the server receives it. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly body: string | object;
}

/** Returns the response to a request; `null` closes the connection without one. */
export type Handler = (call: ReceivedRequest) => Reply | null | Promise<Reply | null>;

/** Creates a response in the API's envelope. */
export function ok(data: unknown, message = ''): Reply {
  return { body: { data, message, status: 200 } };
}

/** Creates an error response in the API's envelope. */
export function refused(status: number, code: string, message: string): Reply {
  return { status, body: { data: null, code, message, status } };
}

export const staleNonce = refused(403, 'rest_cookie_invalid_nonce', 'Cookie check failed');
