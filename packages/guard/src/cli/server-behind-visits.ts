/** Asks the web server behind guard as a visitor; `server-behind` has what is concluded from it. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { z } from 'zod';
import { type SocketAddress, toUpstreamAddress } from '../lib/socket-address.js';
import type { SiteConfig } from '../site.js';
import {
  COMMAND_HEADER,
  commandHeader,
  GUARD_HEADER,
  guardHeader,
  readSignal,
  SIGNAL_HEADER,
} from '../wordpress/signature.js';
import { toForwardedHeaders } from '../wordpress/site-origin.js';
import {
  MACHINE_HOSTS,
  MACHINE_PATHS,
  type OpenPage,
  recognizeMachinePage,
  type ServerBehind,
} from './server-behind.js';

/** Longest wait for one answer, milliseconds. */
const ANSWER_MS = 10_000;
/** As much of an answer as is read. */
const BODY_BYTES = 262_144;

/** Whom the questions are from: an address of documentation (RFC 5737), which is neither this machine's nor a proxy's. */
const VISITOR = '192.0.2.1';

/** Where this machine reaches a server that listens on all addresses. */
export function toLocalServer(listen: SocketAddress): SocketAddress {
  if ('path' in listen) return listen;
  return { host: { '0.0.0.0': '127.0.0.1', '::': '::1' }[listen.host] ?? listen.host, port: listen.port };
}

/**
 * Asks the web server behind as a visitor.
 *
 * @param home address of the site as WordPress names it
 * @param options `guard`: where a guard that serves the site is reached, else null; `withPages`: whether to look for pages
 *   of the machine. What guard refuses is not told, so pages by other hosts are looked for only where it can be asked.
 */
export async function examineServerBehind(
  site: SiteConfig,
  home: URL,
  { guard, withPages, now }: { readonly guard: SocketAddress | null; readonly withPages: boolean; now(): number },
): Promise<ServerBehind> {
  const isAddressSeen = await askWhoIsSeen(site, home, now);
  if (!withPages) return { isAddressSeen, openPages: [] };
  const openPages: OpenPage[] = [];
  const others = guard === null ? [] : MACHINE_HOSTS.filter((host) => host !== home.hostname);
  for (const host of [home.host, ...others]) {
    for (const path of MACHINE_PATHS) {
      if (openPages.some((page) => page.path === path)) continue;
      const direct = await visitBehind(site, home, { host, path, now });
      // A server that does not answer is asked nothing more.
      if (direct === null) return { isAddressSeen, openPages };
      const name = recognizeMachinePage(direct, isAddressSeen);
      if (name === null) continue;
      const through = guard === null ? direct : await visitGuard(guard, home, { host, path });
      if (through !== null && recognizeMachinePage(through, isAddressSeen) !== null)
        openPages.push({ name, path, host });
    }
  }
  return { isAddressSeen, openPages };
}

const helloAddress = z.object({ address_seen: z.boolean().nullable().catch(null) });

/** @returns whether the web server named the visitor; null for any answer that does not say so with the site's key */
async function askWhoIsSeen(site: SiteConfig, home: URL, now: () => number): Promise<boolean | null> {
  const body = '{}';
  const { headers, requestId, time } = toVisitorHeaders(site, home, home.host, now());
  const nonce = randomBytes(16).toString('hex');
  const path = `${home.pathname.replace(/\/+$/, '')}/index.php?rest_route=/security-optimizer-connector/v1/hello`;
  const answer = await ask(toUpstreamAddress(site.upstream), path, body, {
    ...headers,
    'content-type': 'application/json',
    'content-length': String(body.length),
    [COMMAND_HEADER]: commandHeader(site.secret, { command: 'hello', time, nonce, body }),
  });
  if (answer?.status !== 200) return null;
  const signal = answer.headers[SIGNAL_HEADER.toLowerCase()];
  if (readSignal(site.secret, String(signal), requestId).kind !== 'ok') return null;
  try {
    return helloAddress.parse(JSON.parse(answer.body)).address_seen;
  } catch {
    return null;
  }
}

/** @returns the web server's response; null when there is none */
function visitBehind(
  site: SiteConfig,
  home: URL,
  { host, path, now }: { readonly host: string; readonly path: string; now(): number },
): Promise<Answer | null> {
  const { headers } = toVisitorHeaders(site, home, host, now(), 'probe');
  return ask(toUpstreamAddress(site.upstream), toFreshTarget(path), null, headers);
}

/** @returns the response to a visitor of guard; null when there is none */
function visitGuard(
  guard: SocketAddress,
  home: URL,
  { host, path }: { readonly host: string; readonly path: string },
): Promise<Answer | null> {
  // Where this machine is no proxy guard believes neither header, and the page is as open.
  const headers = { host, 'x-forwarded-for': VISITOR, 'x-forwarded-proto': toScheme(home) };
  return ask(guard, toFreshTarget(path), null, headers);
}

/** No cache has it, and none keeps it for a visitor. */
const toFreshTarget = (path: string): string => `${path}?${randomBytes(4).toString('hex')}`;

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Sends a request and follows nothing. @param body null for a GET @returns null when no response comes */
async function ask(
  server: SocketAddress,
  path: string,
  body: string | null,
  headers: Readonly<Record<string, string>>,
): Promise<Answer | null> {
  try {
    const asked = request({
      ...('path' in server ? { socketPath: server.path } : server),
      ...{ method: body === null ? 'GET' : 'POST', path, agent: false },
      headers: { 'user-agent': 'Security Optimizer status', accept: 'text/html,application/json', ...headers },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const [response] = (await once(asked.end(body ?? undefined), 'response')) as [IncomingMessage];
    const pieces: Buffer[] = [];
    let length = 0;
    for await (const piece of response as AsyncIterable<Buffer>) {
      pieces.push(piece);
      length += piece.length;
      if (length >= BODY_BYTES) break;
    }
    asked.destroy();
    return {
      status: response.statusCode as number,
      headers: response.headers,
      body: Buffer.concat(pieces).toString('utf8'),
    };
  } catch {
    return null;
  }
}

const toScheme = (home: URL): 'http' | 'https' => (home.protocol === 'https:' ? 'https' : 'http');

/**
 * The headers of a visitor's request as guard sends it on, see `toUpstreamRequestHead`.
 * @param note `probe`: WordPress answers at once and does nothing
 */
function toVisitorHeaders(site: SiteConfig, home: URL, host: string, now: number, note: '' | 'probe' = '') {
  const scheme = toScheme(home);
  const time = Math.floor(now / 1000);
  const requestId = randomBytes(8).toString('hex');
  const signed = guardHeader(site.secret, { time, requestId, scheme, address: VISITOR }, note);
  const headers: Record<string, string> = {
    host,
    ...toForwardedHeaders({ scheme, host, address: VISITOR }),
    [GUARD_HEADER]: signed,
  };
  return { headers, requestId, time };
}
