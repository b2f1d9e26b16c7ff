import type { Stack } from '../stacks/stack.js';
import { type RawResponse, sendRaw } from './raw.js';

/** A request as an attacker would type it. */
export interface TypedRequest {
  readonly method?: string;
  /** Sent unchanged in the request line. */
  readonly target: string;
  readonly version?: '1.0' | '1.1';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Serialises a request, with the site's host unless it has a host header. */
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

/** Sends a request directly to WordPress's own web server. */
export function sendUpstream(stack: Stack, request: TypedRequest): Promise<RawResponse> {
  return sendRaw(stack.upstreamPort, toBytes(stack, request));
}

/** A POST request with a URL-encoded form. */
export function form(target: string, fields: string, headers: Readonly<Record<string, string>> = {}): TypedRequest {
  return {
    method: 'POST',
    target,
    body: fields,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  };
}
