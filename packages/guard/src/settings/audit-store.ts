import { randomUUID } from 'node:crypto';
import type { Generated, Kysely } from 'kysely';
import type { SiteId } from '../site.js';
import { type Database, withTables } from '../storage/database.js';
import type { Migrations } from '../storage/migrations.js';

/**
 * The changes of settings: who changed which setting, when, from which value to which. Rows are only added, never
 * deleted.
 */
export interface AuditTables {
  audit: {
    id: string;
    site: string;
    /** Milliseconds since the Unix epoch. */
    at: number;
    actor_id: number | null;
    actor_login: string;
    address: string | null;
    name: string;
    /** `before` and `after` are JSON. */
    before: string;
    after: string;
    /** 1 once the row is stored in the Activity Log. */
    told: Generated<number>;
  };
}

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** The author of a change, for the audit row. */
export interface Actor {
  /** WordPress user id, or null for the command line and guard itself. */
  readonly id: number | null;
  readonly login: string;
  readonly address: string | null;
}

/** A row of the audit table. */
export interface AuditRow {
  /** A UUID. */
  readonly id: string;
  readonly site: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly actor: Actor;
  readonly name: string;
  readonly before: JsonValue;
  readonly after: JsonValue;
}

/**
 * Audit rows that are not in the Activity Log yet.
 * @throws StorageError from both methods
 */
export interface AuditOutbox {
  /** The oldest rows, of all sites. */
  listUndelivered(limit: number): Promise<readonly AuditRow[]>;
  markDelivered(ids: readonly string[]): Promise<void>;
}

/** One changed value. */
export interface AuditEntry {
  readonly name: string;
  readonly before: JsonValue;
  readonly after: JsonValue;
}

/**
 * The audit trail of changes.
 * @throws StorageError
 */
export interface AuditStore {
  /** @param by the author, and the time in milliseconds since the Unix epoch */
  add(site: SiteId, by: { readonly actor: Actor; readonly at: number }, entries: readonly AuditEntry[]): Promise<void>;
}

export function createAuditStore(db: Database): AuditStore {
  return { add: (site, by, entries) => addAuditRows(db, site, by, entries) };
}

/**
 * Writes audit rows, in the transaction of the change if `db` is one.
 * @throws StorageError
 */
export async function addAuditRows(
  db: Database,
  site: SiteId,
  { actor, at }: { readonly actor: Actor; readonly at: number },
  entries: readonly AuditEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  await withTables<AuditTables>(db)
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

/**
 * Audit rows are also written to the Activity Log, which is a separate database: `told` marks the rows that it has.
 * Rows that are older than the log count as delivered.
 */
export const auditMigrations: Migrations = {
  '006_audit_outbox': {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .alterTable('audit')
        .addColumn('told', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
      await (db as Kysely<{ audit: { told: number } }>).updateTable('audit').set({ told: 1 }).execute();
      await db.schema.createIndex('audit_untold').on('audit').columns(['told', 'at']).where('told', '=', 0).execute();
    },
  },
};

/** The audit rows of all sites that are not in the Activity Log yet. */
export function createAuditOutbox(database: Database): AuditOutbox {
  const db = withTables<AuditTables>(database);
  return {
    async listUndelivered(limit) {
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
        before: parseValue(row.before),
        after: parseValue(row.after),
      }));
    },
    async markDelivered(ids) {
      if (ids.length > 0) await db.updateTable('audit').set({ told: 1 }).where('id', 'in', ids).execute();
    },
  };
}

/** Parses JSON. Returns null for an invalid value, which must not block the delivery of later rows. */
function parseValue(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}

/** Login in audit rows of WP-CLI, whose calls WordPress's PHP signs. The address is that of the machine. */
export const WP_CLI = 'WP-CLI';

/** Whether a change was made from a command line: guard's own, or WP-CLI of the site. */
export function isCommandLine({ id, login }: Pick<Actor, 'id' | 'login'>): boolean {
  return id === null && (login === COMMAND_LINE_ACTOR.login || login === WP_CLI);
}

/** The actor in audit rows of the command line. */
export const COMMAND_LINE_ACTOR: Actor = { id: null, login: 'command line', address: null };
