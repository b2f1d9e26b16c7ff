import { createHash } from 'node:crypto';
import type { Kysely, Migration } from 'kysely';
import type { SiteId } from '../site.js';
import { type Database, withTables } from '../storage/database.js';
import type { Migrations } from '../storage/migrations.js';
import type { FileTarget } from '../wordpress/connector-commands.js';

/** How long the copy of a removed file is kept, milliseconds. */
export const COPY_KEPT_MS = 30 * 24 * 3600_000;

/** Largest sum of the copies of a site, bytes. */
export const COPIES_MAX_BYTES = 64 * 1024 * 1024;

/** A removed file, without its content. */
export interface RemovedFile extends FileTarget {
  /** Identifies the file and its content. */
  readonly id: string;
  /** The path for people. */
  readonly file: string;
  /** When it was removed, milliseconds. */
  readonly at: number;
  /** Login of the user who removed it. */
  readonly by: string;
}

/** A copy, with what is restored. */
export interface FileCopy extends RemovedFile {
  readonly content: Buffer;
  /** Permissions. */
  readonly mode: number;
  /** Time of the last change, Unix seconds. */
  readonly changedAt: number;
}

/** Copies of removed files. Every method may throw StorageError. */
export interface RemovedFiles {
  /** Stores a copy; one of the same file and content is replaced. */
  add(site: SiteId, copy: FileCopy): Promise<void>;
  has(site: SiteId, id: string): Promise<boolean>;
  delete(site: SiteId, id: string): Promise<void>;
  /** Newest first. */
  list(site: SiteId, limit: number): Promise<readonly RemovedFile[]>;
  find(site: SiteId, id: string): Promise<FileCopy | null>;
  /** Returns the size of all copies of a site, bytes. */
  countBytes(site: SiteId): Promise<number>;
  /** Deletes the copies of all sites that were made before this time, milliseconds. */
  deleteBefore(time: number): Promise<void>;
}

export function toRemovedId({ check, path, state }: FileTarget): string {
  return createHash('sha256').update(`${check}\n${path}\n${state}`).digest('hex');
}

const FACTS = ['id', 'checked', 'path', 'file', 'state', 'at', 'login'] as const;

/** Stores copies in a SQL table, in base64, so that no scanner of files takes them for the removed file. */
export function sqlRemovedFiles(database: Database): RemovedFiles {
  const db = withTables<RemovedFileTables>(database);
  return {
    async add(site, { id, check, path, file, state, at, by, content, mode, changedAt }) {
      const values = {
        ...{ site, id, checked: check, path, file, state, at, login: by, mode, changed_at: changedAt },
        ...{ size: content.length, content: content.toString('base64') },
      };
      await db
        .insertInto('removed_files')
        .values(values)
        .onConflict((conflict) => conflict.columns(['site', 'id']).doUpdateSet(values))
        .execute();
    },

    async has(site, id) {
      const row = await db
        .selectFrom('removed_files')
        .select('id')
        .where('site', '=', site)
        .where('id', '=', id)
        .executeTakeFirst();
      return row !== undefined;
    },

    async delete(site, id) {
      await db.deleteFrom('removed_files').where('site', '=', site).where('id', '=', id).execute();
    },

    async list(site, limit) {
      const rows = await db
        .selectFrom('removed_files')
        .select(FACTS)
        .where('site', '=', site)
        .orderBy('at', 'desc')
        .orderBy('file')
        .limit(limit)
        .execute();
      return rows.map(toRemovedFile);
    },

    async find(site, id) {
      const row = await db
        .selectFrom('removed_files')
        .select([...FACTS, 'mode', 'changed_at', 'content'])
        .where('site', '=', site)
        .where('id', '=', id)
        .executeTakeFirst();
      if (row === undefined) return null;
      const content = Buffer.from(row.content, 'base64');
      return { ...toRemovedFile(row), content, mode: Number(row.mode), changedAt: Number(row.changed_at) };
    },

    async countBytes(site) {
      const row = await db
        .selectFrom('removed_files')
        .select(({ fn }) => fn.sum<number | null>('size').as('bytes'))
        .where('site', '=', site)
        .executeTakeFirst();
      return Number(row?.bytes ?? 0);
    },

    async deleteBefore(time) {
      await db.deleteFrom('removed_files').where('at', '<', time).execute();
    },
  };
}

function toRemovedFile({
  checked,
  at,
  login,
  ...row
}: Pick<RemovedFileTables['removed_files'], (typeof FACTS)[number]>): RemovedFile {
  const { id, path, file, state } = row;
  return { id, check: checked, path, file, state, at: Number(at), by: login };
}

export interface RemovedFileTables {
  removed_files: {
    site: string;
    id: string;
    checked: FileTarget['check'];
    /** In base64, with all its bytes. */
    path: string;
    file: string;
    state: string;
    at: number;
    login: string;
    mode: number;
    changed_at: number;
    /** Of the content, bytes. */
    size: number;
    /** In base64. */
    content: string;
  };
}

const removedFilesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('removed_files')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('checked', 'text', (column) => column.notNull())
      .addColumn('path', 'text', (column) => column.notNull())
      .addColumn('file', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('login', 'text', (column) => column.notNull())
      .addColumn('mode', 'integer', (column) => column.notNull())
      .addColumn('changed_at', 'bigint', (column) => column.notNull())
      .addColumn('size', 'integer', (column) => column.notNull())
      .addColumn('content', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('removed_files_key', ['site', 'id'])
      .execute();
    await db.schema.createIndex('removed_files_by_time').on('removed_files').columns(['at']).execute();
  },
};

export const removedFileMigrations: Migrations = {
  '044_removed_files': removedFilesMigration,
};
