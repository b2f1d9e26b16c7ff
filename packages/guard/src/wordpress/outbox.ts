import { z } from 'zod';
import type { NewEvent } from '../activity/activity-store.js';
import { parseAddress } from '../lib/address.js';
import { plainText } from '../lib/plain-text.js';

/** Characters of a name or value that are kept; the connector itself cuts at 200. */
const TEXT_MAX = 300;
/** WordPress's own limit for logins (`wp_insert_user`). */
const LOGIN_MAX = 60;
/** How far a row may be ahead of guard's clock, seconds; one further ahead counts as now. */
const AHEAD_MAX = 60;

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
  // Canonical, or nothing: it is shown, searched and shortened as an address.
  address: z.string().transform((text) => parseAddress(text)?.text ?? ''),
  origin: z.enum(['web', 'cli', 'cron', 'system']),
  object: z.object({ type: text, name: text }),
  before: text.nullable(),
  after: text.nullable(),
});

/** What is known of a row of the outbox. */
export interface OutboxRow {
  /** Names the row when it is acknowledged; null when it has none, so that it can't be. */
  readonly uid: string | null;
  /** Null when the row has an unknown form. */
  readonly event: NewEvent | null;
}

/**
 * Reads a row of the outbox. Every plugin can write to that table, so nothing in it is believed to have its form.
 * @param now Unix seconds
 */
export function readOutboxRow(sent: unknown, now: number): OutboxRow {
  const uid = z.looseObject({ uid: z.string().min(1).max(64) }).safeParse(sent).data?.uid ?? null;
  const parsed = row.safeParse(sent);
  if (!parsed.success) return { uid, event: null };
  const { object, at, ...event } = parsed.data;
  return {
    uid,
    event: { ...event, at: at > now + AHEAD_MAX ? now : at, object: object.name, objectType: object.type },
  };
}
