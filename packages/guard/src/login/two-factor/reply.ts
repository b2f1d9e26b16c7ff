import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a step of the second factor answers. */
export interface Reply {
  readonly status: number;
  /** A page, made with the nonce that its headers allow. */
  readonly page?: (nonce: string) => string;
  /** Where a 303 leads. */
  readonly location?: string;
  /** `Set-Cookie` values, in order. */
  readonly cookies?: readonly string[];
  /** Seconds, for `Retry-After`. */
  readonly retryAfter?: number;
}

export function pageReply(status: number, page: (nonce: string) => string): Reply {
  return { status, page };
}

export function redirectReply(location: string, cookies: readonly string[] = []): Reply {
  return { status: 303, location, cookies };
}

/**
 * Sends a reply with the headers that all of these pages share: nothing is stored or indexed, only the page's own
 * style and script run, only the same site may frame it (the log-in dialog of wp-admin does).
 */
export function sendReply(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const nonce = randomBytes(16).toString('base64');
  const body = Buffer.from(reply.page?.(nonce) ?? '');
  response.statusCode = reply.status;
  const headers: Readonly<Record<string, string>> = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': String(body.length),
    'Cache-Control': 'no-store, private',
    'Content-Security-Policy': contentPolicy(nonce),
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'SAMEORIGIN',
    'X-Robots-Tag': 'noindex, nofollow',
  };
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (reply.location !== undefined) response.setHeader('Location', reply.location);
  if (reply.retryAfter !== undefined) response.setHeader('Retry-After', String(reply.retryAfter));
  // Added, not set: other parts may have put a cookie or a header on this answer, and none may push out another.
  for (const cookie of reply.cookies ?? []) response.appendHeader('Set-Cookie', cookie);
  // A body that was left unread would stand before the next request on this connection.
  if (!request.complete) response.setHeader('Connection', 'close');
  response.end(request.method === 'HEAD' ? undefined : body);
}

function contentPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    // The tick of the checkbox.
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
}
