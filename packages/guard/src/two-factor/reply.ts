import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** The response of a step of the second factor. */
export interface Reply {
  readonly status: number;
  /** Renders the page with the nonce that its headers allow. */
  readonly page?: (nonce: string) => string;
  /** Sent to a program in place of a page. */
  readonly json?: object;
  /** The target of a 303. */
  readonly location?: string;
  /** `Set-Cookie` values, in order. */
  readonly cookies?: readonly string[];
  /** Value of `Retry-After`, seconds. */
  readonly retryAfter?: number;
}

export function pageReply(status: number, page: (nonce: string) => string): Reply {
  return { status, page };
}

export function redirectReply(location: string, cookies: readonly string[] = []): Reply {
  return { status: 303, location, cookies };
}

/**
 * Sends a reply with the headers that all of these pages share: the page is not stored or indexed, only its own style
 * and script run, and only the same site may frame it (the login dialog of wp-admin does).
 */
export function sendReply(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const nonce = randomBytes(16).toString('base64');
  const { json } = reply;
  const body = Buffer.from(json === undefined ? (reply.page?.(nonce) ?? '') : JSON.stringify(json));
  response.statusCode = reply.status;
  const headers: Readonly<Record<string, string>> = {
    'Content-Type': json === undefined ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
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
  // Appended, not set: other code may have set cookies on this response, which must be kept.
  for (const cookie of reply.cookies ?? []) response.appendHeader('Set-Cookie', cookie);
  // An unread body would be parsed as the next request on this connection.
  if (!request.complete) response.setHeader('Connection', 'close');
  response.end(request.method === 'HEAD' ? undefined : body);
}

function contentPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    // The image of the checkbox's tick.
    'img-src data:',
    // Without `form-action`: browsers also apply it to the redirect after a form, and a correct code redirects to any
    // target that WordPress decides. The pages contain no HTML but their own.
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
}
