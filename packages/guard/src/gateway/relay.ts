/**
 * Requests that one process of guard passes to another one: worker processes accept the connections of clients, and the
 * primary process holds the state that all of them share. See docs/decisions/0058-several-processes.md.
 */
import { Agent, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import type { WithheldResponse } from '../hooks.js';
import { findApiRoute } from '../http/request-facts.js';
import { needsStaffCheck } from '../rules/snapshot.js';
import type { LoginReport } from '../wordpress/login-headers.js';
import { equalText } from '../wordpress/signature.js';
import type { Allowed } from './evaluate.js';
import { type Peer, printPeerAddress } from './peer.js';

/** Carries the other end of the client's connection. Removed from every request that a client sends. */
export const RELAY_HEADER = 'x-security-optimizer-relayed';

/** The primary process, as a worker reaches it. */
export interface RelayTarget {
  /** Path of its Unix socket. */
  readonly path: string;
  /** Proves that a request comes from a process of this guard: 64 hexadecimal digits. */
  readonly key: string;
}

/** What the primary process can't see of a client's connection. */
export interface RelayedOrigin {
  readonly httpVersion: '1.0' | '1.1';
  readonly scheme: Peer['scheme'];
  /** Address of the peer as `printPeerAddress` prints it. */
  readonly address: string;
  /** The same of the proxy whose PROXY header named the peer; null without one. */
  readonly headerFrom: string | null;
  /** Set for a request that the worker has forwarded, and whose response must be one of the second factor. */
  readonly forwarded: ForwardedLogin | null;
}

/** A login that needs a second factor, as `RequestHooks.onFactor` gets it. */
export interface ForwardedLogin {
  readonly factor: NonNullable<LoginReport['factor']>;
  readonly withheld: WithheldResponse;
}

/** Prints the value of the header. */
export function printOrigin(
  key: string,
  httpVersion: string,
  { scheme, address, headerFrom }: Peer,
  forwarded: ForwardedLogin | null = null,
): string {
  const from = headerFrom === undefined ? '-' : printPeerAddress(headerFrom);
  const login = forwarded === null ? '-' : Buffer.from(JSON.stringify(forwarded)).toString('base64url');
  return [key, httpVersion === '1.0' ? '1.0' : '1.1', scheme, printPeerAddress(address), from, login].join(' ');
}

/** Reads the value of the header. Null unless it has the key. */
export function readOrigin(key: string, value: string | undefined): RelayedOrigin | null {
  const [given, httpVersion, scheme, address, headerFrom, login, ...more] = (value ?? '').split(' ');
  if (given === undefined || address === undefined || headerFrom === undefined || !equalText(given, key)) return null;
  if (login === undefined || more.length > 0) return null;
  if (httpVersion !== '1.0' && httpVersion !== '1.1') return null;
  if (scheme !== 'http' && scheme !== 'https') return null;
  const forwarded = login === '-' ? null : (JSON.parse(Buffer.from(login, 'base64url').toString()) as ForwardedLogin);
  return { httpVersion, scheme, address, headerFrom: headerFrom === '-' ? null : headerFrom, forwarded };
}

/**
 * Whether a worker forwards an allowed request itself: a view of a page or a file. The API, the login and everything
 * else that may hold a password concern the state that only the primary process has.
 */
export function isView(decision: Allowed, request: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  const { facts, loginRoute, openVerdict, isHostProved, decoy, uri } = decision;
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  if (request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined)
    return false;
  if (facts.hasAuthorization || (loginRoute !== 'other' && loginRoute !== 'asset')) return false;
  if (decoy !== null || uri !== null || facts.signedXmlRpc !== null || !isHostProved) return false;
  return !needsStaffCheck(openVerdict) && findApiRoute(facts.restRoute) === null;
}

/** Removes the header from a request and returns its value. The list of raw headers is what guard forwards. */
export function takeRelayHeader(request: IncomingMessage): string | undefined {
  let value: string | undefined;
  if (request.headers[RELAY_HEADER] === undefined) return value;
  const { rawHeaders } = request;
  for (let i = rawHeaders.length - 2; i >= 0; i -= 2) {
    if (rawHeaders[i]?.toLowerCase() !== RELAY_HEADER) continue;
    value ??= rawHeaders[i + 1];
    rawHeaders.splice(i, 2);
  }
  delete request.headers[RELAY_HEADER];
  return value;
}

/** Headers that belong to one connection (RFC 9110 section 7.6.1). */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/**
 * The headers of a relayed request: those of the client, except what concerns its connection. Header names that the
 * client lists in `Connection` stay listed, since the primary process removes these headers.
 */
export function toRelayedHeaders(request: Pick<IncomingMessage, 'rawHeaders' | 'method'>, origin: string): string[] {
  const headers: string[] = [];
  let listed: string[] = [];
  let framing: 'none' | 'length' | 'chunked' = 'none';
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] as string;
    const value = request.rawHeaders[i + 1] as string;
    const lower = name.toLowerCase();
    if (lower === 'connection') listed = [...listed, ...value.split(',').map((each) => each.trim())];
    if (lower === 'transfer-encoding') framing = 'chunked';
    if (lower === 'content-length' && framing === 'none') framing = 'length';
    if (lower === RELAY_HEADER || CONNECTION_HEADERS.has(lower)) continue;
    headers.push(name, value);
  }
  const kept = listed.filter((each) => each !== '' && !/^(?:close|keep-alive|upgrade|te)$/i.test(each));
  headers.push('Connection', [...kept, 'keep-alive'].join(', '));
  if (framing === 'chunked') headers.push('Transfer-Encoding', 'chunked');
  // Node's client would send an empty chunked body instead.
  else if (framing === 'none' && !BODILESS.has(request.method ?? '')) headers.push('Content-Length', '0');
  headers.push(RELAY_HEADER, origin);
  return headers;
}

/** Methods for which Node's client sends no body by default. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

/** Idle connections to the primary process are closed after this time, before it closes them, milliseconds. */
const IDLE_MS = 30_000;

/** Sends a request of a client to the primary process, and its response to the client. */
export type RelayRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  peer: Peer,
  options: { readonly expectsContinue?: boolean; readonly forwarded?: ForwardedLogin | null },
) => void;

/**
 * Returns the function that relays requests.
 * @param onFailure called when the primary process gave no response; nothing was sent to the client
 */
export function createRelay(
  { path, key }: RelayTarget,
  onFailure: (request: IncomingMessage, response: ServerResponse, cause: unknown) => void,
): RelayRequest {
  const agent = new Agent({ keepAlive: true, scheduling: 'lifo', timeout: IDLE_MS });
  return (request, response, peer, { expectsContinue = false, forwarded = null }) => {
    const headers = toRelayedHeaders(request, printOrigin(key, request.httpVersion, peer, forwarded));
    const outgoing = sendRequest({
      ...{ socketPath: path, agent, method: request.method as string, path: request.url as string },
      headers: headers as unknown as Record<string, string>,
    });
    let isAnswered = false;
    outgoing.on('response', (incoming) => {
      isAnswered = true;
      if (response.destroyed) {
        incoming.destroy();
        return;
      }
      if (/\bclose\b/i.test(incoming.headers.connection ?? '')) response.shouldKeepAlive = false;
      response.writeHead(incoming.statusCode as number, incoming.statusMessage, toOwnHeaders(incoming.rawHeaders));
      incoming.on('error', () => response.destroy());
      incoming.on('close', () => {
        if (!incoming.complete) response.destroy();
      });
      incoming.pipe(response);
    });
    outgoing.on('information', ({ statusCode, rawHeaders }) => {
      if (statusCode === 103) sendHints(response, rawHeaders);
    });
    outgoing.on('continue', () => {
      if (expectsContinue && !response.destroyed && !response.headersSent) response.writeContinue();
    });
    outgoing.on('error', (cause) => {
      // The client has the whole response; only the rest of its body had no reader any more.
      if (response.writableEnded) return;
      if (isAnswered || response.headersSent || response.destroyed) response.destroy();
      else onFailure(request, response, cause);
    });
    response.once('close', () => {
      if (!response.writableFinished || !isAnswered) outgoing.destroy();
    });
    request.on('error', () => outgoing.destroy());
    if (hasBody(headers)) {
      outgoing.flushHeaders();
      request.pipe(outgoing);
    } else outgoing.end();
  };
}

function hasBody(headers: readonly string[]): boolean {
  return headers.some((name, i) => i % 2 === 0 && /^(?:content-length|transfer-encoding)$/i.test(name));
}

function toOwnHeaders(rawHeaders: readonly string[]): string[] {
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (!CONNECTION_HEADERS.has(name.toLowerCase())) headers.push(name, rawHeaders[i + 1] as string);
  }
  return headers;
}

function sendHints(response: ServerResponse, rawHeaders: readonly string[]): void {
  const link = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'link');
  if (link.length > 0 && !response.headersSent && !response.destroyed) response.writeEarlyHints({ link });
}
