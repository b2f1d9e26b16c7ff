import { readFlag } from '../../../options/read-flag.js';

/** What is known of a visitor. The flag `block` alone is enough; everything else is an extra. */
export interface VisitorStatus {
  readonly block: 0 | 1;
  readonly name: string | null;
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
  const sent = (typeof data === 'object' && data !== null ? data : {}) as Readonly<Record<string, unknown>>;
  const number = (value: unknown): number | null => (typeof value === 'number' && value >= 0 ? value : null);
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
  return {
    block: readFlag(sent.block) ?? 0,
    name: text(sent.name) || null,
    hostname: text(sent.hostname),
    doNotBlock: readFlag(sent.do_not_block) === 1,
    reason: text(sent.reason),
    visitsToday: number(sent.visits_today),
    visitsHours: list(sent.visits_hours).filter((item): item is number => typeof item === 'number'),
    firstSeen: number(sent.first_seen),
    lastSeen: number(sent.last_seen),
    roles: list(sent.roles).filter((item): item is string => typeof item === 'string'),
  };
}
