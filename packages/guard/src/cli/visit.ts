import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { SocketAddress } from '../lib/socket-address.js';

/** This machine's end of a visit's connection. */
export interface LocalEndpoint {
  readonly address: string;
  readonly port: number;
}

/** What TLS reports about the certificate. */
export interface CertificateFacts {
  /** Why it is not valid, as a code of Node's TLS; null when it is. */
  readonly fault: string | null;
  /** Milliseconds since the Unix epoch; null when it can't be read. */
  readonly validUntil: number | null;
}

/** Timeout of one response, milliseconds. */
export const RESPONSE_MS = 10_000;
/** Longest response body that is read, bytes. */
const BODY_BYTES = 65_536;
const AGENT = 'Security Optimizer doctor';

/** The response to a visit. */
export interface VisitResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly headerLines: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** This machine's end of the connection. */
  readonly own: LocalEndpoint;
  /** Null without TLS. */
  readonly certificate: CertificateFacts | null;
  /** When the request was sent and the response arrived, milliseconds since the Unix epoch. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** Server to connect to instead of the one that the address names. */
export interface ConnectTo {
  readonly host: string;
  /** Default: the address's port. */
  readonly port?: number;
  /** A certificate authority to trust instead of the system's. */
  readonly ca?: string;
}

/**
 * Sends one request and follows no redirects. An invalid certificate is reported, and the visit continues.
 *
 * @param options.connect server to connect to instead of the address's host
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
    const outgoing =
      url.protocol === 'https:'
        ? requestByHttps({
            ...shared,
            servername: /^[\d.]+$|:/.test(hostname) ? '' : hostname,
            rejectUnauthorized: false,
            ...trusted,
          })
        : requestByHttp(shared);
    return await readResponse(outgoing, sentAt);
  } catch (error) {
    return { fault: explain(error) };
  }
}

async function readResponse(outgoing: ClientRequest, sentAt: number): Promise<VisitResponse> {
  const [response] = (await once(outgoing.end(), 'response')) as [IncomingMessage];
  const receivedAt = Date.now();
  const { socket, rawHeaders } = response;
  // Read before the connection is closed.
  const own = { address: withoutMapping(socket.localAddress ?? ''), port: socket.localPort ?? 0 };
  const certificate = readCertificate(socket);
  const body = await readBody(response, BODY_BYTES);
  outgoing.destroy();
  return {
    status: response.statusCode as number,
    headers: response.headers,
    headerLines: Array.from({ length: rawHeaders.length / 2 }, (_, at) => [
      rawHeaders[2 * at] as string,
      rawHeaders[2 * at + 1] as string,
    ]),
    body,
    own,
    certificate,
    sentAt,
    receivedAt,
  };
}

/** Reads a body as UTF-8, until it has `max` bytes. */
export async function readBody(response: IncomingMessage, max: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= max) break;
  }
  return Buffer.concat(chunks).toString('utf8');
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

/** The system's text for why there is no response. */
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
