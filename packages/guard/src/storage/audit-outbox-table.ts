import type { Kysely, Migration } from 'kysely';

/**
 * Audit rows go into the Activity Log too, which is a database of its own: each row knows whether it has been told
 * there. Rows from before there was a log count as told.
 */
export const auditOutboxMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable('audit')
      .addColumn('told', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await (db as Kysely<{ audit: { told: number } }>).updateTable('audit').set({ told: 1 }).execute();
    await db.schema.createIndex('audit_untold').on('audit').columns(['told', 'at']).where('told', '=', 0).execute();
  },
};
