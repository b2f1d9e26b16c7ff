import type { IncomingMessage, ServerResponse } from 'node:http';
import { withoutPort } from '../lib/authority.js';
import { type PageName, visitorPage, visitorPages } from '../pages/visitor-pages.js';
import type { RawHeaders } from '../protections/protection.js';
import type { Language } from '../texts/language.js';
import { reference } from './request-id.js';
import { endAnswer } from './send-answer.js';

export interface Refused {
  readonly page: PageName;
  readonly language: Language;
  readonly host: string;
  readonly address: string;
  readonly requestId: string;
  readonly time: number;
}

/**
 * Body and headers of an answer that guard gives itself. Browsers get a page, programs one plain line in English.
 * @param mark what people quote when they ask about the page
 */
export function refusal(
  refused: Refused,
  accept: string | undefined,
  mark = reference(refused.requestId),
): { status: number; headers: RawHeaders; body: Buffer } {
  const { status, title } = visitorPages[refused.page];
  const html = accept?.includes('text/html') === true;
  const body = html
    ? Buffer.from(
        visitorPage(refused.language, refused.page, {
          host: withoutPort(refused.host),
          address: refused.address,
          time: new Date(refused.time),
          reference: mark,
        }),
      )
    : plainLine(refused.page === 'blocked' ? BLOCKED_LINE : title);
  const headers = [
    'Content-Type',
    html ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8',
    'Content-Length',
    String(body.length),
    'Cache-Control',
    'no-store',
  ];
  // Log-ins at the same time: the line moves on within seconds.
  if (status === 429) headers.push('Retry-After', '10');
  if (status === 503) headers.push('Retry-After', '60');
  return { status, headers, body };
}

/** Answers a request without asking WordPress. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  refused: Refused,
  editHeaders: (headers: RawHeaders) => void,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, headers, body } = refusal(refused, request.headers.accept);
  editHeaders(headers);
  response.writeHead(status, headers);
  endAnswer(response, request.method === 'HEAD' ? undefined : body, true);
}

/** What most attackers get. */
const BLOCKED_LINE = 'Blocked';

const plainLines = new Map<string, Buffer>();

function plainLine(title: string): Buffer {
  let line = plainLines.get(title);
  if (line === undefined) {
    line = Buffer.from(`${title}\n`);
    plainLines.set(title, line);
  }
  return line;
}
