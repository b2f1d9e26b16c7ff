import { type Fields, isFields, textOf, textsOf } from '../../../data/fields.js';
import { readFlag } from '../../../options/read-flag.js';

/** What is known of a visitor. The flag `block` alone is enough; everything else is an extra. */
export interface VisitorStatus {
  readonly block: 0 | 1;
  readonly name: string | null;
  /** The network that is blocked with an IPv6 address, or empty. */
  readonly network: string;
  readonly hostname: string;
  readonly doNotBlock: boolean;
  readonly reason: string;
  readonly visitsToday: number | null;
  readonly visitsHours: readonly number[];
  /** Unix seconds. */
  readonly firstSeen: number | null;
  readonly lastSeen: number | null;
  readonly roles: readonly string[];
}

export function readStatus(data: unknown): VisitorStatus {
  const sent: Fields = isFields(data) ? data : {};
  const number = (value: unknown): number | null => (typeof value === 'number' && value >= 0 ? value : null);
  return {
    block: readFlag(sent.block) ?? 0,
    name: textOf(sent.name) || null,
    network: textOf(sent.network),
    hostname: textOf(sent.hostname),
    doNotBlock: readFlag(sent.do_not_block) === 1,
    reason: textOf(sent.reason),
    visitsToday: number(sent.visits_today),
    visitsHours: Array.isArray(sent.visits_hours) ? sent.visits_hours.filter((item) => typeof item === 'number') : [],
    firstSeen: number(sent.first_seen),
    lastSeen: number(sent.last_seen),
    roles: textsOf(sent.roles),
  };
}
