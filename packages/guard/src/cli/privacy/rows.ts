/** Shared by the readers of a person's rows. */
import type { SiteId } from '../../site.js';
import type { SqliteDatabase } from '../../storage/sqlite.js';
import type { Person } from './person.js';

/** The database, site and person of a query, and its time. */
export interface Scope {
  readonly database: SqliteDatabase;
  readonly site: SiteId;
  readonly person: Person;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

export function all<Row>(database: SqliteDatabase, sql: string, ...values: readonly unknown[]): Row[] {
  return database.prepare(sql).all(...values) as Row[];
}

export function count(database: SqliteDatabase, sql: string, ...values: readonly unknown[]): number {
  return (database.prepare(sql).get(...values) as { rows: number }).rows;
}

/** @returns the number of changed rows */
export function run(database: SqliteDatabase, sql: string, ...values: readonly unknown[]): number {
  return Number(database.prepare(sql).run(...values).changes);
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
