import type { IncomingMessage, ServerResponse } from 'node:http';
import { withoutPort } from '../lib/authority.js';
import { awayPage, type ClosedLogin, lockedPage } from '../pages/login-pages.js';
import { dayAndTime, timeLeft } from '../pages/time-words.js';
import type { RawHeaders } from '../protections/protection.js';
import type { Language } from '../texts/language.js';

/** Why the login is closed to this visitor. */
export type Closed =
  | { readonly kind: 'locked'; readonly until: number; readonly stage: 1 | 2 | 3 }
  | { readonly kind: 'away'; readonly until: number | null };

/** HTTP status of the answer. */
export const CLOSED_STATUS = { locked: 429, away: 403 } as const;

export type ClosedFacts = Omit<ClosedLogin, 'until'> & {
  /** The caller is a program (REST, AJAX, XML-RPC) that understands JSON. */
  readonly program: boolean;
  readonly language: Language;
};

/** Says that the login is closed, and until when: a page to browsers, JSON to programs, one line to others. */
export function refuseLogin(
  request: IncomingMessage,
  response: ServerResponse,
  closed: Closed,
  facts: ClosedFacts,
  editHeaders: (headers: RawHeaders) => void,
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const status = CLOSED_STATUS[closed.kind];
  const { type, text } = answerFor(request, closed, { ...facts, until: closed.until, host: withoutPort(facts.host) });
  const body = Buffer.from(text);
  const headers = ['Content-Type', type, 'Content-Length', String(body.length), 'Cache-Control', 'no-store'];
  if (closed.until !== null) {
    headers.push('Retry-After', String(Math.max(1, Math.ceil((closed.until - facts.now) / 1000))));
  }
  editHeaders(headers);
  response.writeHead(status, headers);
  response.end(request.method === 'HEAD' ? undefined : body);
}

function answerFor(
  request: IncomingMessage,
  closed: Closed,
  facts: ClosedLogin & Pick<ClosedFacts, 'program' | 'language'>,
): { type: string; text: string } {
  if (facts.program) {
    const code = closed.kind === 'locked' ? 'too_many_login_attempts' : 'away_mode';
    const status = CLOSED_STATUS[closed.kind];
    const data = { status, until: unixSeconds(closed.until) };
    return {
      type: 'application/json; charset=UTF-8',
      // The status twice: where clients of WordPress's API look for it, and where those of our own do.
      text: JSON.stringify({ code, message: sentence(closed, facts), status, data }),
    };
  }
  if (request.headers.accept?.includes('text/html') !== true) {
    return { type: 'text/plain; charset=utf-8', text: `${sentence(closed, facts)}\n` };
  }
  const { language } = facts;
  const html = closed.kind === 'locked' ? lockedPage(language, facts, closed.stage) : awayPage(language, facts);
  return { type: 'text/html; charset=utf-8', text: html };
}

function sentence(closed: Closed, facts: ClosedLogin & Pick<ClosedFacts, 'language'>): string {
  const { until, now, timeZone, language } = facts;
  const { translate } = language;
  if (closed.kind === 'locked') {
    const time = timeLeft(language, closed.until - now);
    return translate('Too many login attempts. Try again in {time}.', { time });
  }
  if (until === null) return translate('The admin area is closed.');
  const time = dayAndTime(language, timeZone, until);
  return translate('The admin area is closed. It opens again on {time}.', { time });
}

function unixSeconds(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1000);
}
