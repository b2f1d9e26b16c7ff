import type { IncomingMessage, ServerResponse } from 'node:http';
import { findScheme, joinLines } from '../http/client-address.js';
import { version } from '../lib/version.js';
import { INSPECTION_HEADER, printArrival, readInspection } from '../wordpress/inspection.js';
import type { Decision, EvaluateContext } from './evaluate.js';
import { isTrustedFor, type Peer } from './peer.js';

/**
 * Responds to a request with which the command line inspects how it arrived (`security-optimizer doctor`). The response
 * does not depend on the rules, the request is not recorded as a visit, and it never reaches WordPress. Without the
 * site's key the request is not treated as an inspection.
 *
 * @returns whether the request was an inspection, which now has its response
 */
export function respondToInspection(
  { clock, trusted }: Pick<EvaluateContext, 'clock' | 'trusted'>,
  decision: Decision,
  request: IncomingMessage,
  response: ServerResponse,
  peer: Peer,
): boolean {
  const header = request.headers[INSPECTION_HEADER];
  if (header === undefined || decision.site === null || 'quarantined' in decision.site) return false;
  const { secret } = decision.site.config;
  const nonce = readInspection(secret, header, clock());
  if (nonce === null) return false;
  const isPeerTrusted = isTrustedFor(peer, decision.site.trusted);
  const forwardedFor = joinLines(request.headers['x-forwarded-for']) ?? null;
  const forwardedProto = joinLines(request.headers['x-forwarded-proto']) ?? null;
  const asTrusted = { address: peer.address, isTrusted: isPeerTrusted, scheme: peer.scheme };
  const body = printArrival(secret, nonce, {
    version,
    client: decision.address.text,
    peer: peer.address.text,
    peerPort: request.socket.remotePort ?? null,
    isPeerTrusted,
    scheme: findScheme(asTrusted, request.headers, decision.site.trusted ?? trusted.addresses),
    host: decision.host,
    forwardedFor,
    forwardedProto,
    refusedBy: decision.kind === 'refuse' ? decision.rule : null,
  });
  response.writeHead(200, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store, no-transform',
  });
  response.end(body);
  return true;
}
