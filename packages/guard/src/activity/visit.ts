import type { Address } from '../lib/address.js';
import type { SiteId } from '../site.js';

/** One request of a visitor, or several alike within the same moment. */
export interface Visit {
  /** When the first of them was answered, milliseconds since the Unix epoch. */
  readonly at: number;
  /** Canonical text of the visitor's address (anonymised already when the site wants it). */
  readonly address: string;
  /** Path and query as they were asked for, cut and with control characters escaped. */
  readonly target: string;
  /** HTTP status of the answer. */
  readonly status: number;
  /** Name of the rule that refused it, or null. */
  readonly rule: string | null;
  /** The user agent, cut; null when none was sent. */
  readonly agent: string | null;
  /** How many of this address were alike. At least 1. */
  count: number;
}

/** A visit among the others of this guard. */
export interface NumberedVisit extends Visit {
  /** Tells it from the others of the last seconds: 1 to 2^32 - 1; 0 when nothing will refer to it. */
  readonly number: number;
  /** Number of the visit that it repeats, or 0. */
  readonly repeats: number;
  /** Refused visits of the same second that share its row, see `fold-visits`. Those of its own address are in `count`. */
  readonly more: number;
  /** Bits of the network that they came from, 0 for anywhere; null when they are of its own address. */
  readonly moreBits: number | null;
  /** Hits of other addresses among them, for `readTally`. */
  readonly others: Uint8Array;
}

/** One answered request, as the gate sees it. */
export interface SeenRequest {
  readonly address: Address;
  /** As it stood on the request line, one character per byte. */
  readonly target: string;
  /** HTTP status of the answer. */
  readonly status: number;
  /** Name of the rule that refused it, or null. */
  readonly rule: string | null;
  /** The user agent; only asked for when the visit is not a repeat. */
  agent(): string | null;
}

/** Where the gate leaves what it saw. Never waits, never throws. */
export interface VisitSink {
  add(site: SiteId, seen: SeenRequest): void;
}

/** For a visitor who went away before there was an answer; nginx writes the same. */
export const CLOSED_EARLY = 499;
