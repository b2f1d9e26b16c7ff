import { z } from 'zod';
import { parseVisitor } from '../lib/carried-address.js';
import { plainText } from '../lib/plain-text.js';

/** Limit for a name or value, characters. The connector truncates at 200. */
const TEXT_MAX = 300;
/** WordPress's own limit for logins (`wp_insert_user`). */
const LOGIN_MAX = 60;
/**
 * How far the time of a row may be ahead of guard's clock, seconds. A time further ahead is replaced by the current
 * one.
 */
const CLOCK_SKEW_MAX = 60;

const text = z.string().transform((value) => plainText(value, TEXT_MAX));

const row = z.object({
  uid: z.string().regex(/^[0-9a-f]{32}$/),
  at: z.number().int().positive(),
  kind: z.string().regex(/^[a-z][a-z0-9.-]{0,63}$/),
  user: z
    .object({
      id: z.number().int().nonnegative(),
      login: z.string().transform((value) => plainText(value, LOGIN_MAX)),
    })
    .nullable(),
  // Canonical or empty, since it is shown, searched and shortened as an address. WordPress reports the address as it is
  // seen.
  address: z.string().transform((text) => parseVisitor(text)?.text ?? ''),
  origin: z.enum(['web', 'cli', 'cron', 'system']),
  object: z.object({ type: text, name: text }),
  before: text.nullable(),
  after: text.nullable(),
  // Absent in rows of an older connector.
  administrator: z.boolean().default(false),
  agent: text.default(''),
});

/** An event in WordPress. */
export interface OutboxEvent {
  readonly uid: string;
  /** Unix seconds. */
  readonly at: number;
  readonly kind: string;
  readonly user: { readonly id: number; readonly login: string } | null;
  /** Canonical, or empty. */
  readonly address: string;
  readonly origin: 'web' | 'cli' | 'cron' | 'system';
  readonly object: string;
  readonly objectType: string;
  readonly before: string | null;
  readonly after: string | null;
  /** For a login: the user manages the site. For a new user or role: the user manages the site from now on. */
  readonly administrator: boolean;
  /** User-Agent of the browser of a login; empty for other events. */
  readonly agent: string;
}

/** A parsed row of the outbox. */
export interface OutboxRow {
  /** Identifies the row for its acknowledgement. Null when it has none and can't be acknowledged. */
  readonly uid: string | null;
  /** Null when the row is invalid. */
  readonly event: OutboxEvent | null;
}

/**
 * Parses a row of the outbox. Every plugin can write to that table, so every field is validated.
 * @param now Unix seconds
 */
export function readOutboxRow(sent: unknown, now: number): OutboxRow {
  const uid = z.looseObject({ uid: z.string().min(1).max(64) }).safeParse(sent).data?.uid ?? null;
  const parsed = row.safeParse(sent);
  if (!parsed.success) return { uid, event: null };
  const { object, at, ...event } = parsed.data;
  return {
    uid,
    event: { ...event, at: at > now + CLOCK_SKEW_MAX ? now : at, object: object.name, objectType: object.type },
  };
}
