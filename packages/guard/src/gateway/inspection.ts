import type { IncomingMessage, ServerResponse } from 'node:http';
import { version } from '../lib/version.js';
import { INSPECTION_HEADER, printArrival, readInspection } from '../wordpress/inspection.js';
import type { Decision, EvaluateContext } from './evaluate.js';
import { isTrustedFor, type Peer } from './peer.js';
import { readForwardedScheme } from './visits.js';

/**
 * Responds to a request by which the command line asks how it arrived (`security-optimizer doctor`). It is answered
 * whatever the rules say, is no visit, and never reaches WordPress. Without the site's key nothing is told.
 *
 * @returns whether the request was one and has its response
 */
export function respondToInspection(
  { clock }: Pick<EvaluateContext, 'clock'>,
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
  const forwardedFor = readLines(request, 'x-forwarded-for');
  const forwardedProto = readLines(request, 'x-forwarded-proto');
  const body = printArrival(secret, nonce, {
    version,
    client: decision.address.text,
    peer: peer.address.text,
    peerPort: request.socket.remotePort ?? null,
    isPeerTrusted,
    scheme: isPeerTrusted ? readForwardedScheme(forwardedProto ?? undefined, peer.scheme) : peer.scheme,
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

function readLines(request: IncomingMessage, name: 'x-forwarded-for' | 'x-forwarded-proto'): string | null {
  const value = request.headers[name];
  return (Array.isArray(value) ? value.join(',') : value) ?? null;
}
