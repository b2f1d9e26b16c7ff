/**
 * The signed headers between guard and the connector, wire version 1.
 * The format is described in docs/connector-protocol.md; both sides test against the same vectors.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { macWith } from './mac.js';

export const GUARD_HEADER = 'X-Security-Optimizer-Guard';
export const SIGNAL_HEADER = 'X-Security-Optimizer-Signal';
export const COMMAND_HEADER = 'X-Security-Optimizer-Command';
/** Every header of ours starts with this, lower-case. Inbound ones are stripped. */
export const HEADER_PREFIX = 'x-security-optimizer-';

interface Key {
  readonly id: string;
  mac(text: string): string;
}

/** Keys by secret. Bounded by the number of configured sites. */
const keys = new Map<string, Key>();

function keyOf(secret: string): Key {
  let key = keys.get(secret);
  if (key === undefined) {
    const id = createHash('sha256').update(`security-optimizer key id\n${secret}`).digest('hex').slice(0, 8);
    key = { id, mac: macWith(secret) };
    keys.set(secret, key);
  }
  return key;
}

/** Names a secret without showing it: 8 hexadecimal digits. */
export function keyId(secret: string): string {
  return keyOf(secret).id;
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
 * What the connector has to know of a request and no byte may tell, since a hidden page must take as many as a missing
 * one. It is part of what is signed.
 * - `context`: a context header belongs to it.
 * - `decoy`: names in the path are disguised; see `decoy-target.ts`.
 * - `repeated`: the second request for the same one of the visitor. No password is checked in it.
 */
export type GuardNote = '' | 'context' | 'decoy' | 'decoy context' | 'repeated' | 'repeated decoy';

/** Value of the header that tells the connector who is visiting. */
export function guardHeader(secret: string, facts: GuardHeaderFacts, note: GuardNote = ''): string {
  const key = keyOf(secret);
  const fields = `1 ${key.id} ${facts.time} ${facts.requestId} ${facts.scheme} ${facts.address}`;
  return `${fields} ${key.mac(`guard-request${note === '' ? '' : ` ${note}`}\n${fields}`)}`;
}

export interface CommandFacts {
  readonly command: string;
  /** Unix seconds. */
  readonly time: number;
  /** 32 hexadecimal digits, never used before. */
  readonly nonce: string;
  /** The request body, exactly as sent. */
  readonly body: string;
}

/** Value of the header that proves a command. */
export function commandHeader(secret: string, facts: CommandFacts): string {
  const bodyHash = createHash('sha256').update(facts.body).digest('hex');
  const text = `guard-command\nPOST\n${facts.command}\n${facts.time}\n${facts.nonce}\n${bodyHash}`;
  return `1 ${facts.time} ${facts.nonce} ${keyOf(secret).mac(text)}`;
}

/** What the connector said on a response. */
export type Signal =
  | {
      readonly kind: 'ok';
      readonly policyHash: string | null;
      readonly connectorVersion: string;
      readonly flags: string;
    }
  /** The response carries no signal: WordPress runs without the connector, or the answer did not come from PHP. */
  | { readonly kind: 'missing' }
  /** The connector holds another secret than guard. */
  | { readonly kind: 'other_secret'; readonly keyId: string }
  /** Forged, replayed or broken. */
  | { readonly kind: 'invalid' };

/** Whether the connector vouches that a member asked: a user is signed in for this request. */
export function isMember(signal: Signal): boolean {
  return signal.kind === 'ok' && signal.flags.includes('m');
}

/** Whether the connector's outbox holds events. */
export function hasEvents(signal: Signal): boolean {
  return signal.kind === 'ok' && signal.flags.includes('o');
}

const MISSING: Signal = { kind: 'missing' };
const INVALID: Signal = { kind: 'invalid' };
const FOREIGN = /^1 ([0-9a-f]{8})$/;

/**
 * Reads and verifies a signal.
 * @param value the header's value, or undefined when the response has none
 * @param requestId the id of the request that this response answers; binds the signal to it
 */
export function readSignal(secret: string, value: string | undefined, requestId: string): Signal {
  if (value === undefined) return MISSING;
  const key = keyOf(secret);
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
  if (request !== requestId) return INVALID;
  if (!equalText(value.slice(cut + 1), key.mac(`connector-signal\n${fields}`))) return INVALID;
  return { kind: 'ok', policyHash: policyHash === '-' ? null : policyHash, connectorVersion, flags };
}

/** Hash of a policy document as both sides compute it: 16 hexadecimal digits. */
export function policyHash(policy: Readonly<Record<string, string | number | boolean | null>>): string {
  const sorted = Object.fromEntries(Object.entries(policy).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 16);
}

/** Signs a text that starts with its purpose and a line end, in lower-case hexadecimal. */
export function signedText(secret: string, text: string): string {
  return keyOf(secret).mac(text);
}

/** Compares in constant time. */
export function equalText(a: string, b: string): boolean {
  const left = Buffer.from(a, 'latin1');
  const right = Buffer.from(b, 'latin1');
  return left.length === right.length && timingSafeEqual(left, right);
}
