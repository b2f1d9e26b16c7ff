/**
 * Signed requests by which the command line learns from a running guard how its request arrived: from which address,
 * through which proxy, with which scheme. Like every visitor's request, they pass through all proxies. The format is
 * described in docs/developer/connector-protocol.md.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { equalText, HEADER_PREFIX, keyId, signedText } from './signature.js';

/** Header of the request, lower-case. Guard never forwards it. */
export const INSPECTION_HEADER = `${HEADER_PREFIX}inspection`;

/** Tolerance for clock difference and transit time, seconds. */
const TOLERANCE = 60;
const FORM = /^(1 ([0-9a-f]{8}) ([0-9]{1,12}) ([0-9a-f]{32})) ([0-9a-f]{64})$/;

const arrival = z.object({
  version: z.string(),
  /** Client address for rules, limits and log. */
  client: z.string(),
  /** The other end of guard's connection: a proxy, or the client. */
  peer: z.string(),
  /** Null over a Unix socket. */
  peerPort: z.number().nullable(),
  isPeerTrusted: z.boolean(),
  scheme: z.enum(['http', 'https']),
  host: z.string(),
  /** `X-Forwarded-For` and `X-Forwarded-Proto` as guard received them; null if absent. */
  forwardedFor: z.string().nullable(),
  forwardedProto: z.string().nullable(),
  /** Name of the rule that would have refused the request; null if none. */
  refusedBy: z.string().nullable(),
});

/** How a request arrived at guard. */
export type Arrival = z.infer<typeof arrival>;

/** The value of the request's header, and the nonce to which its response is bound. */
export interface Inspection {
  readonly header: string;
  readonly nonce: string;
}

/**
 * Signs a request for inspection. The signature includes no path, since proxies rewrite paths. A client that replays
 * the header only learns how its own request arrives.
 * @param now milliseconds since the Unix epoch
 */
export function createInspection(secret: string, now: number): Inspection {
  const nonce = randomBytes(16).toString('hex');
  const fields = `1 ${keyId(secret)} ${Math.floor(now / 1000)} ${nonce}`;
  return { header: `${fields} ${signedText(secret, `inspection\n${fields}`)}`, nonce };
}

/**
 * Reads and verifies the header of a request.
 * @returns the nonce for the response; null when the site's key did not sign it within the last minute
 */
export function readInspection(
  secret: string,
  header: string | readonly string[] | undefined,
  now: number,
): string | null {
  if (typeof header !== 'string') return null;
  const [, fields, id, time, nonce, mac] = FORM.exec(header) ?? [];
  if (fields === undefined || nonce === undefined || mac === undefined || id !== keyId(secret)) return null;
  if (Math.abs(Math.floor(now / 1000) - Number(time)) > TOLERANCE) return null;
  return equalText(mac, signedText(secret, `inspection\n${fields}`)) ? nonce : null;
}

/** Formats the body of the response: a signature and a line of JSON. */
export function printArrival(secret: string, nonce: string, facts: Arrival): string {
  const line = JSON.stringify(facts);
  return `${signedText(secret, `inspection-response\n${nonce}\n${line}`)}\n${line}\n`;
}

/** Reads the body of a response. Null when the site's guard did not write it for this request. */
export function readArrival(secret: string, nonce: string, body: string): Arrival | null {
  const [mac = '', line = ''] = body.split('\n');
  if (!equalText(mac, signedText(secret, `inspection-response\n${nonce}\n${line}`))) return null;
  const read = arrival.safeParse(JSON.parse(line));
  return read.success ? read.data : null;
}
