import { toUpstreamAddress } from '../lib/socket-address.js';
import type { SiteConfig } from '../site.js';
import { createInspection, INSPECTION_HEADER, readArrival } from '../wordpress/inspection.js';
import { SIGNAL_HEADER } from '../wordpress/signature.js';
import {
  getRedirectOrigin,
  OWN_ADDRESS,
  type SiteOrigin,
  toForwardedHeaders,
  toSiteOrigin,
} from '../wordpress/site-origin.js';
import type { DirectResponse } from './doctor-checks.js';
import type { PlainResponse, PublicResponse } from './doctor-visit-checks.js';
import { CONNECTOR_REFUSAL } from './upstream-server-visits.js';
import { type ConnectTo, type VisitResponse, visit } from './visit.js';

/** How guard saw a visit, or what responded instead. */
export interface Inspected {
  readonly response: PublicResponse;
  /** Null when nothing responded. */
  readonly visit: VisitResponse | null;
}

/**
 * Sends a signed inspection to an address of the site: guard responds how the request arrived.
 * @param headers additional headers
 */
export async function inspect(
  url: URL,
  secret: string,
  options: { readonly connect?: ConnectTo | undefined; readonly headers?: Readonly<Record<string, string>> },
): Promise<Inspected> {
  const { header, nonce } = createInspection(secret, Date.now());
  const { connect } = options;
  const found = await visit(url, { connect, headers: { ...options.headers, [INSPECTION_HEADER]: header } });
  if ('fault' in found) return { response: { by: 'none', fault: found.fault }, visit: null };
  const arrival = readArrival(secret, nonce, found.body);
  if (arrival !== null) return { response: { by: 'guard', arrival }, visit: found };
  return { response: await identify(url, found, connect), visit: found };
}

/**
 * Identifies what responds at an address by an API request without a session: guard's error code differs from
 * WordPress's.
 */
async function identify(url: URL, found: VisitResponse, connect: ConnectTo | undefined): Promise<PublicResponse> {
  const call = new URL(url.origin);
  call.search = '?rest_route=/security-optimizer/v1/fetch-options';
  const response = await visit(call, { method: 'POST', connect });
  if ('fault' in response) return { by: 'other', status: found.status };
  const code = readCode(response.body);
  if (code === 'rest_no_route') return { by: 'wordpress', refuses: false };
  if (response.status === 403 && response.body.includes(CONNECTOR_REFUSAL)) return { by: 'wordpress', refuses: true };
  return code === GUARD_CODE ? { by: 'other-guard' } : { by: 'other', status: found.status };
}

/** Code of guard's response to a request without a session. */
const GUARD_CODE = 'rest_cookie_invalid_nonce';

function readCode(body: string): string | null {
  try {
    const { code } = JSON.parse(body) as { code?: unknown };
    return typeof code === 'string' ? code : null;
  } catch {
    return null;
  }
}

/** A visit over http to the host of an https address. */
export async function visitPlain(url: URL, connect: ConnectTo | undefined): Promise<PlainResponse> {
  const plain = new URL(`http://${url.hostname}${url.pathname}`);
  const response = await visit(plain, { connect });
  return 'fault' in response ? response : { status: response.status, location: response.headers.location ?? null };
}

/** Responses of WordPress's web server to requests that did not come through guard. */
export interface DirectVisits {
  /** To a request that always starts PHP. */
  readonly php: DirectResponse;
  /** To the first page. */
  readonly page: DirectResponse;
  /** Seconds by which that machine's clock is ahead; null when the response had no `Date`. */
  readonly clockAhead: number | null;
}

/**
 * Visits WordPress's web server directly, not through guard.
 * @param home public address, for scheme, host and path; null when it is not known
 */
export async function visitDirectly(
  site: Pick<SiteConfig, 'hosts' | 'upstream'>,
  home: URL | null,
): Promise<DirectVisits> {
  const path = home?.pathname.replace(/\/+$/, '') ?? '';
  const connect = toUpstreamAddress(site.upstream);
  const requested = toSiteOrigin(site, home && { homeUrl: home.href });
  const send = (target: string, origin: SiteOrigin) => {
    const headers = { host: origin.host, ...toForwardedHeaders({ ...origin, address: OWN_ADDRESS }) };
    return visit(new URL(`http://localhost${path}${target}`), { headers, connect });
  };
  const hello = '/index.php?rest_route=/security-optimizer-connector/v1/hello';
  let origin = requested;
  let php = await send(hello, origin);
  // The public scheme is not known yet, and the web server accepts only one.
  const other = 'fault' in php ? null : getRedirectOrigin(toRedirect(php), origin);
  if (other !== null && other.host === origin.host) {
    origin = other;
    php = await send(hello, origin);
  }
  const page = await send('/', origin);
  return { php, page, clockAhead: 'fault' in php ? null : readClock(php) };
}

function toRedirect({ status, headers }: VisitResponse) {
  const signal = headers[SIGNAL_HEADER.toLowerCase()];
  return { status, signal: signal?.toString(), location: headers.location };
}

/** `Date` has a resolution of one second, and is set at some time between request and response. */
function readClock({ headers, sentAt, receivedAt }: VisitResponse): number | null {
  const serverTime = Date.parse(headers.date ?? '');
  if (Number.isNaN(serverTime)) return null;
  return (serverTime + 500 - (sentAt + receivedAt) / 2) / 1000;
}
