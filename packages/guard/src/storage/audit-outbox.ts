import type { AuditOutbox } from '../activity/guard-events.js';
import type { Database } from './database.js';
import type { JsonValue } from './settings-store.js';

/** Audit rows of every site that the Activity Log does not know yet. */
export function sqlAuditOutbox(db: Database): AuditOutbox {
  return {
    async untold(limit) {
      const rows = await db.selectFrom('audit').selectAll().where('told', '=', 0).orderBy('at').limit(limit).execute();
      return rows.map((row) => ({
        id: row.id,
        site: row.site,
        at: Number(row.at),
        actor: {
          id: row.actor_id === null ? null : Number(row.actor_id),
          login: row.actor_login,
          address: row.address,
        },
        name: row.name,
        before: parsedValue(row.before),
        after: parsedValue(row.after),
      }));
    },
    async told(ids) {
      if (ids.length > 0) await db.updateTable('audit').set({ told: 1 }).where('id', 'in', ids).execute();
    },
  };
}

/** A broken value must not keep every later row waiting. */
function parsedValue(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}
