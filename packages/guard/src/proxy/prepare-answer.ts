import type { ServerResponse } from 'node:http';
import { CLOSED_EARLY } from '../activity/visit.js';
import type { RawHeaders } from '../protections/protection.js';
import type { Pass } from './examine.js';
import type { GateDeps } from './gate-deps.js';
import type { RequestFacts } from './request-facts.js';
import { rewriteLocations } from './rewrite-location.js';

/**
 * Gets a response ready for another part of guard, which writes the answer: the rules' headers are set.
 * @param note told of its status as soon as it is written
 */
export function prepareAnswer(
  { onFault }: Pick<GateDeps, 'onFault'>,
  { policy, facts }: Pass,
  response: ServerResponse,
  note: (status: number, rule: null) => void,
): void {
  const headers: string[] = [];
  policy.editHeaders(facts, headers, onFault);
  for (let i = 0; i < headers.length; i += 2) response.setHeader(headers[i] as string, headers[i + 1] as string);
  response.once('close', () => note(response.headersSent ? response.statusCode : CLOSED_EARLY, null));
}

/**
 * Changes the headers of an answer of WordPress in place: redirects lead to where the client came, then the rules' edits.
 * @param facts what the rules are asked about
 */
export function editAnswer(
  { onFault }: Pick<GateDeps, 'onFault'>,
  pass: Pass,
  facts: RequestFacts,
  headers: RawHeaders,
): void {
  rewriteLocations(headers, () => ({
    scheme: pass.scheme,
    host: pass.host,
    upstream: pass.site.pool.host,
    target: facts.method === 'GET' || facts.method === 'HEAD' ? (pass.uri ?? pass.target) : null,
  }));
  pass.policy.editHeaders(facts, headers, onFault);
}
