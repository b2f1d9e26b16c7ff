import type { IncomingMessage, ServerResponse } from 'node:http';
import { type PageName, visitorPages } from '../pages/visitor-pages.js';
import type { RawHeaders } from '../protections/protection.js';
import type { Examined } from './examine.js';
import type { GateDeps } from './gate-deps.js';
import { noteVisit } from './note-visit.js';
import { refuse } from './refuse.js';
import { CLOSED_STATUS, type Closed, refuseLogin } from './refuse-login.js';
import { type RequestFacts, requestFacts } from './request-facts.js';

/** Answers that guard gives a request itself. Each is left for the Activity Log and carries the rules' headers. */
export interface GateAnswers {
  /** One of the pages for visitors; `away` says when the log-in opens again. @param rule that refused it, or null */
  page(page: PageName | 'away', rule: string | null): void;
  /** The log-in is closed to this visitor. */
  closed(closed: Closed, rule: string | null): void;
  /** Only leaves an answer for the Activity Log that somebody else gives. */
  note(status: number, rule: string | null): void;
}

/** @param time when the request came, milliseconds since the Unix epoch */
export function gateAnswers(
  deps: GateDeps,
  examined: Examined,
  request: IncomingMessage,
  response: ServerResponse,
  { requestId, time }: { readonly requestId: string; readonly time: number },
): GateAnswers {
  const { host, address, policy, facts } = examined;
  const { language } = policy;
  const note = (status: number, rule: string | null): void => noteVisit(deps, examined, request, status, rule);
  const editHeaders = (headers: RawHeaders): void =>
    policy.editHeaders(facts ?? unreadFacts(examined), headers, deps.onFault);

  const closed = (why: Closed, rule: string | null): void => {
    note(CLOSED_STATUS[why.kind], rule);
    const program = facts !== null && (facts.restRoute !== null || facts.segments.includes('admin-ajax.php'));
    const home = `${policy.paths.home}/`;
    const { timeZone } = policy.login;
    refuseLogin(request, response, why, { host, home, now: deps.clock(), timeZone, program, language }, editHeaders);
  };
  return {
    note,
    closed,
    page(page, rule) {
      if (page === 'away') closed({ kind: 'away', until: policy.login.away(time).until }, rule);
      else {
        note(visitorPages[page].status, rule);
        refuse(request, response, { page, language, host, address: address.text, requestId, time }, editHeaders);
      }
    },
  };
}

/** Facts of a request that could not be read: the rules' headers go on its answer too. */
function unreadFacts({ policy, address }: Pick<Examined, 'policy' | 'address'>): RequestFacts {
  return requestFacts({ method: 'GET', address, path: { path: '/', segments: [] }, query: '', paths: policy.paths });
}
