/** Shared by the readers of a person's rows. */
import { type DeleteResult, type Kysely, type RawBuilder, sql, type UpdateResult } from 'kysely';
import type { AllTables } from '../../migrations.js';
import type { SiteId } from '../../site.js';
import type { SqliteDatabase } from '../../storage/sqlite.js';
import type { Person } from './person.js';

/** Guard's main database, or a transaction in it. */
export type MainDatabase = Kysely<AllTables>;

/** The database, site and person of a query, and its time. */
export interface Scope {
  readonly db: MainDatabase;
  readonly site: SiteId;
  readonly person: Person;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** Rows of the Activity Log. */
export function all<Row>(database: SqliteDatabase, sql: string, ...values: readonly unknown[]): Row[] {
  return database.prepare(sql).all(...values) as Row[];
}

/** Changes the Activity Log. @returns the number of changed rows */
export function run(database: SqliteDatabase, sql: string, ...values: readonly unknown[]): number {
  return Number(database.prepare(sql).run(...values).changes);
}

/** A statement that deletes or changes rows of the main database. */
interface ChangingStatement {
  executeTakeFirst(): Promise<DeleteResult | UpdateResult | undefined>;
}

/** @returns the number of rows that a statement deleted or changed */
export async function countChanged(statement: ChangingStatement): Promise<number> {
  const result = await statement.executeTakeFirst();
  if (result === undefined) return 0;
  return Number('numDeletedRows' in result ? result.numDeletedRows : result.numUpdatedRows);
}

/** A column in lower case: of ASCII letters only, in both kinds of databases. */
export function lower(column: string): RawBuilder<string> {
  return sql<string>`lower(${sql.ref(column)})`;
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @param milliseconds since the Unix epoch; 0 and null for never */
export function toTime(milliseconds: number | null): string | null {
  return milliseconds === null || milliseconds === 0 ? null : new Date(milliseconds).toISOString();
}
