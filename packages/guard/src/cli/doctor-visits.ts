import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type SocketAddress, toUpstreamAddress } from '../lib/socket-address.js';
import { createInspection, INSPECTION_HEADER, readArrival } from '../wordpress/inspection.js';
import type { CertificateFacts, DirectResponse, OwnEnd, PlainResponse, PublicResponse } from './doctor-checks.js';

/** Longest wait for one response, milliseconds. */
const RESPONSE_MS = 10_000;
/** As much of a response body as is read. */
const BODY_BYTES = 65_536;
const AGENT = 'Security Optimizer doctor';

/** The response to a visit. */
export interface VisitResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly headerLines: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** This machine's end of the connection. */
  readonly own: OwnEnd;
  /** Null without TLS. */
  readonly certificate: CertificateFacts | null;
  /** When the request was sent and the response came, milliseconds since the Unix epoch. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** Where to connect in place of what the address says. */
export interface ConnectTo {
  readonly host: string;
  /** The address's own when left out. */
  readonly port?: number;
  /** A certificate authority to trust in place of the system's. */
  readonly ca?: string;
}

/**
 * Visits an address once and follows nothing. A certificate that is not valid is told, and the visit goes on.
 *
 * @param options.connect where to connect in place of the address's host
 * @returns the response, or the system's reason why there is none
 */
export async function visit(
  url: URL,
  options: {
    readonly method?: 'GET' | 'POST';
    readonly headers?: Readonly<Record<string, string>>;
    readonly connect?: ConnectTo | SocketAddress | undefined;
  } = {},
): Promise<VisitResponse | { readonly fault: string }> {
  const { connect } = options;
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const target =
    connect !== undefined && 'path' in connect
      ? { socketPath: connect.path }
      : { host: connect?.host ?? hostname, port: connect?.port ?? (url.port === '' ? undefined : Number(url.port)) };
  const shared = {
    ...target,
    method: options.method ?? 'GET',
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, 'user-agent': AGENT, accept: 'text/html,application/json', ...options.headers },
    agent: false as const,
    signal: AbortSignal.timeout(RESPONSE_MS),
  };
  const trusted = connect !== undefined && 'ca' in connect && connect.ca !== undefined ? { ca: connect.ca } : {};
  const sentAt = Date.now();
  try {
    const asked =
      url.protocol === 'https:'
        ? requestByHttps({
            ...shared,
            servername: /^[\d.]+$|:/.test(hostname) ? '' : hostname,
            rejectUnauthorized: false,
            ...trusted,
          })
        : requestByHttp(shared);
    return await readResponse(asked, sentAt);
  } catch (error) {
    return { fault: explain(error) };
  }
}

async function readResponse(asked: ClientRequest, sentAt: number): Promise<VisitResponse> {
  const [response] = (await once(asked.end(), 'response')) as [IncomingMessage];
  const receivedAt = Date.now();
  const { socket, rawHeaders } = response;
  // Read before the connection ends.
  const own = { address: withoutMapping(socket.localAddress ?? ''), port: socket.localPort ?? 0 };
  const certificate = readCertificate(socket);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= BODY_BYTES) break;
  }
  asked.destroy();
  return {
    status: response.statusCode as number,
    headers: response.headers,
    headerLines: Array.from({ length: rawHeaders.length / 2 }, (_, at) => [
      rawHeaders[2 * at] as string,
      rawHeaders[2 * at + 1] as string,
    ]),
    body: Buffer.concat(chunks).toString('utf8'),
    own,
    certificate,
    sentAt,
    receivedAt,
  };
}

function readCertificate(socket: Socket): CertificateFacts | null {
  if (!('getPeerCertificate' in socket)) return null;
  const { authorized, authorizationError, getPeerCertificate } = socket as TLSSocket;
  const { valid_to: end } = getPeerCertificate.call(socket) ?? {};
  const validUntil = end === undefined ? Number.NaN : Date.parse(end);
  return {
    fault: authorized ? null : String(authorizationError ?? 'unknown'),
    validUntil: Number.isNaN(validUntil) ? null : validUntil,
  };
}

const withoutMapping = (address: string): string => address.replace(/^::ffff:/, '');

/** The system's words for why there is no response. */
function explain(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (name === 'AbortError' || name === 'TimeoutError') return `no answer within ${RESPONSE_MS / 1000} seconds`;
  const known: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'nothing listens there',
    ECONNRESET: 'the connection was closed without an answer',
    ENOTFOUND: 'DNS does not know the name',
    EAI_AGAIN: 'DNS does not answer',
    ENOENT: 'there is no such socket file',
    EACCES: 'this user may not open it',
    EHOSTUNREACH: 'the machine can’t be reached',
    ENETUNREACH: 'the network can’t be reached',
    ETIMEDOUT: 'no answer in time',
  };
  return known[code ?? ''] ?? message;
}

/** How guard saw a visit, or what responded in its place. */
export interface Inspected {
  readonly response: PublicResponse;
  /** Null when nothing responded. */
  readonly visit: VisitResponse | null;
}

/**
 * Asks guard, by an address of the site, how the request arrived.
 * @param headers further ones
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

/** What responds at an address, by an API call without rights: guard's code differs from WordPress's. */
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

/** What the connector writes on its refusal (class-gate.php). */
const CONNECTOR_REFUSAL = 'This address is not available here.';
/** Code of guard's response to a call without a session. */
const GUARD_CODE = 'rest_cookie_invalid_nonce';

function readCode(body: string): string | null {
  try {
    const { code } = JSON.parse(body) as { code?: unknown };
    return typeof code === 'string' ? code : null;
  } catch {
    return null;
  }
}

/** A visit by http to the host of an https address. */
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
  /** Seconds by which that machine's clock is ahead; null when it did not tell its time. */
  readonly clockAhead: number | null;
}

/**
 * Visits WordPress's web server past guard.
 * @param home public address, for the host and the path; null when it is not known
 */
export async function visitDirectly(upstream: string, home: URL | null, host: string): Promise<DirectVisits> {
  const path = home?.pathname.replace(/\/+$/, '') ?? '';
  const connect = toUpstreamAddress(upstream);
  const headers = { host, ...(home?.protocol === 'https:' && { 'x-forwarded-proto': 'https' }) };
  const ask = (target: string) => visit(new URL(`http://localhost${path}${target}`), { headers, connect });
  const [php, page] = [await ask('/index.php?rest_route=/security-optimizer-connector/v1/hello'), await ask('/')];
  return { php, page, clockAhead: 'fault' in php ? null : readClock(php) };
}

/** `Date` tells whole seconds, of some time between request and response. */
function readClock({ headers, sentAt, receivedAt }: VisitResponse): number | null {
  const told = Date.parse(headers.date ?? '');
  if (Number.isNaN(told)) return null;
  return (told + 500 - (sentAt + receivedAt) / 2) / 1000;
}
