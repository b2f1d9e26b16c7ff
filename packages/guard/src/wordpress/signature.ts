/**
 * The signed headers between guard and the connector, wire version 1.
 * The format is described in docs/developer/connector-protocol.md; both sides test against the same vectors.
 */
import { createHash, hash, timingSafeEqual } from 'node:crypto';

export const GUARD_HEADER = 'X-Security-Optimizer-Guard';
export const SIGNAL_HEADER = 'X-Security-Optimizer-Signal';
export const COMMAND_HEADER = 'X-Security-Optimizer-Command';
/** Sent by WordPress with requests to its own wp-cron.php. */
export const CRON_HEADER = 'X-Security-Optimizer-Cron';
/** Sent by WordPress's PHP with API requests that it makes for WP-CLI. */
export const CALL_HEADER = 'X-Security-Optimizer-Call';
/** Prefix of all these headers, lower-case. Guard strips them from inbound requests. */
export const HEADER_PREFIX = 'x-security-optimizer-';

interface Key {
  readonly id: string;
  mac(text: string): string;
}

/** Keys by secret. Bounded by the number of configured sites. */
const keys = new Map<string, Key>();

function getKey(secret: string): Key {
  let key = keys.get(secret);
  if (key === undefined) {
    const id = createHash('sha256').update(`security-optimizer key id\n${secret}`).digest('hex').slice(0, 8);
    key = { id, mac: createMac(secret) };
    keys.set(secret, key);
  }
  return key;
}

/** Identifies a secret without revealing it: 8 hexadecimal digits. */
export function keyId(secret: string): string {
  return getKey(secret).id;
}

export interface GuardHeaderFacts {
  /** Unix seconds. */
  readonly time: number;
  /** 16 lower-case hexadecimal digits. */
  readonly requestId: string;
  readonly scheme: 'http' | 'https';
  /** Canonical address of the visitor, without brackets or zone. */
  readonly address: string;
}

/**
 * A property of a request that the connector must know. It is included in the signed text only, not in the header's
 * bytes, since requests for a hidden page and for a missing one must have the same length.
 * - `context`: a context header belongs to the request.
 * - `decoy`: names in the path are disguised; see `decoy-target.ts`.
 * - `repeated`: the second upstream request for one request of the visitor. No password is checked in it.
 * - `probe`: guard tests whether such a request reaches WordPress. The connector does nothing else in it.
 */
export type GuardNote = '' | 'context' | 'decoy' | 'decoy context' | 'repeated' | 'repeated decoy' | 'probe';

/** Value of the header that sends the visitor's address and scheme to the connector. */
export function guardHeader(secret: string, facts: GuardHeaderFacts, note: GuardNote = ''): string {
  const key = getKey(secret);
  const fields = `1 ${key.id} ${facts.time} ${facts.requestId} ${facts.scheme} ${facts.address}`;
  return `${fields} ${key.mac(`guard-request${note === '' ? '' : ` ${note}`}\n${fields}`)}`;
}

export interface CommandFacts {
  readonly command: string;
  /** Unix seconds. */
  readonly time: number;
  /** 32 hexadecimal digits, unique. */
  readonly nonce: string;
  /** The request body, exactly as sent. */
  readonly body: string;
}

/** Value of the header that authenticates a command. */
export function commandHeader(secret: string, facts: CommandFacts): string {
  const bodyHash = createHash('sha256').update(facts.body).digest('hex');
  const text = `guard-command\nPOST\n${facts.command}\n${facts.time}\n${facts.nonce}\n${bodyHash}`;
  return `1 ${facts.time} ${facts.nonce} ${getKey(secret).mac(text)}`;
}

/** Tolerance for clock difference and transit time of a cron request, seconds. */
const CRON_TOLERANCE = 60;
const CRON_FORM = /^(1 ([0-9a-f]{8}) ([0-9]{1,12})) ([0-9a-f]{64})$/;

/**
 * Whether WordPress itself sent this request to run its scheduled tasks: the connector signed it for this target at
 * this time.
 *
 * @param header the header's value as received, or undefined
 * @param call the request line's method and target
 * @param now milliseconds since the Unix epoch
 */
export function isSignedCronRequest(
  secret: string,
  header: string | readonly string[] | undefined,
  call: { readonly method: string; readonly target: string },
  now: number,
): boolean {
  if (typeof header !== 'string') return false;
  const [, signed, id, time, mac] = CRON_FORM.exec(header) ?? [];
  if (signed === undefined || mac === undefined) return false;
  const key = getKey(secret);
  if (id !== key.id || Math.abs(Math.floor(now / 1000) - Number(time)) > CRON_TOLERANCE) return false;
  return equalText(mac, key.mac(`own-cron\n${signed}\n${call.method} ${call.target}`));
}

/** Tolerance for clock difference and transit time of a signed call, seconds. */
const CALL_TOLERANCE = 60;
const CALL_FORM = /^(1 ([0-9a-f]{8}) ([0-9]{1,12}) ([0-9a-f]{32}) ([0-9a-f]{64})) ([0-9a-f]{64})$/;

/** The contents of a signed API request's header. */
export interface CallFacts {
  /** 32 hexadecimal digits. The caller must check that the nonce was not used before. */
  readonly nonce: string;
  /** Expected SHA-256 of the body, in hexadecimal. */
  readonly bodyHash: string;
}

/**
 * Reads and verifies the header by which the site's PHP signs an API request: for this method and route, this body and
 * this time.
 *
 * @param header the header's value as received
 * @param call method, and route below the namespace
 * @param now milliseconds since the Unix epoch
 * @returns null when the header is invalid
 */
export function readCallHeader(
  secret: string,
  header: string | readonly string[],
  call: { readonly method: string; readonly route: string },
  now: number,
): CallFacts | null {
  if (typeof header !== 'string') return null;
  const [, signed, id, time, nonce, bodyHash, mac] = CALL_FORM.exec(header) ?? [];
  if (signed === undefined || nonce === undefined || bodyHash === undefined || mac === undefined) return null;
  const key = getKey(secret);
  if (id !== key.id || Math.abs(Math.floor(now / 1000) - Number(time)) > CALL_TOLERANCE) return null;
  if (!equalText(mac, key.mac(`site-call\n${signed}\n${call.method} ${call.route}`))) return null;
  return { nonce, bodyHash };
}

/** The connector's signal on a response. */
export type Signal =
  | {
      readonly kind: 'ok';
      readonly policyHash: string | null;
      readonly connectorVersion: string;
      readonly flags: string;
    }
  /** The response has no signal: WordPress runs without the connector, or the response did not come from PHP. */
  | { readonly kind: 'missing' }
  /** The connector holds another secret than guard. */
  | { readonly kind: 'other_secret'; readonly keyId: string }
  /**
   * The connector signed it for another request, as on a page from a cache behind guard: it gives no information about
   * the current state.
   */
  | { readonly kind: 'kept' }
  /** Forged or broken. */
  | { readonly kind: 'invalid' };

/** Whether the connector confirms that a user is signed in for this request. */
export function isSignedIn(signal: Signal): boolean {
  return signal.kind === 'ok' && signal.flags.includes('m');
}

/** Whether the connector's version refuses changes by staff while guard reports that the owner is away. */
export function checksStaff(signal: Signal): boolean {
  return signal.kind === 'ok' && signal.flags.includes('S');
}

/** Whether the connector refused the request because a member of the staff sent it while the owner is away. */
export function isRefusedForStaff(signal: Signal): boolean {
  return signal.kind === 'ok' && signal.flags.includes('w');
}

/** Whether the connector's outbox holds events. */
export function hasEvents(signal: Signal): boolean {
  return signal.kind === 'ok' && signal.flags.includes('o');
}

const MISSING: Signal = { kind: 'missing' };
const KEPT: Signal = { kind: 'kept' };
const INVALID: Signal = { kind: 'invalid' };
const FOREIGN = /^1 ([0-9a-f]{8})$/;

/**
 * Reads and verifies a signal.
 * @param value the header's value, or undefined when the response has none
 * @param requestId the id of the request to which this is the response; it binds the signal to the request
 */
export function readSignal(secret: string, value: string | undefined, requestId: string): Signal {
  if (value === undefined) return MISSING;
  const key = getKey(secret);
  const cut = value.lastIndexOf(' ');
  const fields = value.slice(0, cut);
  const parts = fields.split(' ');
  if (parts.length !== 6) {
    const foreign = FOREIGN.exec(value)?.[1];
    if (foreign === undefined) return INVALID;
    return foreign === key.id ? INVALID : { kind: 'other_secret', keyId: foreign };
  }
  const [version, id, request, policyHash, connectorVersion, flags] = parts as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  if (version !== '1') return INVALID;
  if (id !== key.id) return { kind: 'other_secret', keyId: id };
  if (!equalText(value.slice(cut + 1), key.mac(`connector-signal\n${fields}`))) return INVALID;
  if (request !== requestId) return KEPT;
  return { kind: 'ok', policyHash: policyHash === '-' ? null : policyHash, connectorVersion, flags };
}

/** Hash of a policy document as both sides compute it: 16 hexadecimal digits. */
export function hashPolicy(policy: Readonly<Record<string, string | number | boolean | null>>): string {
  const sorted = Object.fromEntries(Object.entries(policy).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 16);
}

/** Signs a text that starts with its purpose and a newline. Returns lower-case hexadecimal. */
export function signedText(secret: string, text: string): string {
  return getKey(secret).mac(text);
}

/** Compares in constant time. */
export function equalText(a: string, b: string): boolean {
  const left = Buffer.from(a, 'latin1');
  const right = Buffer.from(b, 'latin1');
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Block size of SHA-256, bytes. */
const BLOCK = 64;
/** Length of a SHA-256 digest, bytes. */
const DIGEST = 32;

/**
 * Creates the function that signs texts with a key: HMAC-SHA-256 (RFC 2104, section 2) in lower-case hexadecimal.
 *
 * It computes two one-shot hashes over precomputed pads. Each request is signed, and `createHmac` costs twice as much.
 *
 * @param key at most 64 ASCII characters, so that it needs no hashing and its pads are ASCII
 */
export function createMac(key: string): (text: string) => string {
  if (key.length > BLOCK || !ASCII.test(key)) throw new RangeError('The key must be at most 64 ASCII characters.');
  const inner = padded(key, 0x36).toString('latin1');
  const outer = Buffer.concat([padded(key, 0x5c), Buffer.alloc(DIGEST)]);
  return (text) => {
    outer.write(hash('sha256', inner + text, 'hex'), BLOCK, 'hex');
    return hash('sha256', outer, 'hex');
  };
}

const ASCII = /^[\x20-\x7e]*$/;

function padded(key: string, pad: number): Buffer {
  const block = Buffer.alloc(BLOCK, pad);
  for (let i = 0; i < key.length; i++) block[i] = key.charCodeAt(i) ^ pad;
  return block;
}
