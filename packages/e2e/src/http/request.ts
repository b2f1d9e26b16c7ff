import type { Stack } from '../stacks/stack.js';
import { type RawResponse, sendRaw } from './raw.js';

/** A request as an attacker would type it. */
export interface TypedRequest {
  readonly method?: string;
  /** Goes on the request line as it is. */
  readonly target: string;
  readonly version?: '1.0' | '1.1';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The bytes of a request; names the site's host unless the request has a host of its own. */
export function toBytes(stack: Pick<Stack, 'url'>, request: TypedRequest): string {
  const { method = 'GET', target, version = '1.1', body } = request;
  const headers: Record<string, string> = { host: new URL(stack.url).host, ...request.headers };
  if (body !== undefined) headers['content-length'] ??= String(Buffer.byteLength(body, 'latin1'));
  headers.connection ??= 'close';
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${target} HTTP/${version}\r\n${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/** Sends a request to the site, through guard. */
export function sendRequest(stack: Stack, request: TypedRequest): Promise<RawResponse> {
  return sendRaw(stack.port, toBytes(stack, request));
}

/** Sends a request straight to WordPress's own web server. */
export function sendUpstream(stack: Stack, request: TypedRequest): Promise<RawResponse> {
  return sendRaw(stack.upstreamPort, toBytes(stack, request));
}

/** A request with the usual form of a web form in its body. */
export function form(target: string, fields: string, headers: Readonly<Record<string, string>> = {}): TypedRequest {
  return {
    method: 'POST',
    target,
    body: fields,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  };
}
