import { randomUUID } from 'node:crypto';
import type { SiteId } from '../site.js';
import type { Database } from './database.js';
import type { Actor, JsonValue } from './settings-store.js';

/** Something that was changed. */
export interface AuditEntry {
  readonly name: string;
  readonly before: JsonValue;
  readonly after: JsonValue;
}

/** The record of changes. Throws StorageError. */
export interface AuditStore {
  /** @param by who did it, and when in milliseconds since the Unix epoch */
  add(site: SiteId, by: { readonly actor: Actor; readonly at: number }, entries: readonly AuditEntry[]): Promise<void>;
}

export function sqlAuditStore(db: Database): AuditStore {
  return { add: (site, by, entries) => addAuditRows(db, site, by, entries) };
}

/** Writes audit rows; inside a transaction they stand or fall with the change they are about. Throws StorageError. */
export async function addAuditRows(
  db: Database,
  site: SiteId,
  { actor, at }: { readonly actor: Actor; readonly at: number },
  entries: readonly AuditEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  await db
    .insertInto('audit')
    .values(
      entries.map(({ name, before, after }) => ({
        id: randomUUID(),
        site,
        at,
        actor_id: actor.id,
        actor_login: actor.login,
        address: actor.address,
        name,
        before: JSON.stringify(before),
        after: JSON.stringify(after),
      })),
    )
    .execute();
}
