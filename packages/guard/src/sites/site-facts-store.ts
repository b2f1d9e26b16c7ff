import { z } from 'zod';
import type { SiteFacts, SiteId } from '../site.js';
import { type Database, MAX_NAMED_SITES, withTables } from '../storage/database.js';
import { signedXmlRpcSchema } from '../wordpress/connector-responses.js';

/** The facts that the connector last reported about a site, for use after a restart until WordPress responds. */
export interface SiteFactsTables {
  site_facts: {
    site: string;
    /** JSON. */
    facts: string;
    /** Time at which guard last restored its key in this WordPress, milliseconds since the Unix epoch. */
    key_restored_at: number | null;
  };
}

/** The stored data of a site. */
export interface StoredSite {
  readonly facts: SiteFacts | null;
  /** Time at which guard last restored its key in this WordPress, milliseconds since the Unix epoch. */
  readonly keyRestoredAt: number | null;
}

/**
 * Stores the facts of sites.
 * @throws StorageError from every method
 */
export interface SiteFactsStore {
  read(site: SiteId): Promise<StoredSite>;
  /** The facts about many sites, with one query; sites without facts are omitted. */
  readAll(sites: readonly SiteId[]): Promise<ReadonlyMap<SiteId, SiteFacts>>;
  /** The stored data of many sites, with one query. Sites without any are omitted. */
  readMany(sites: Iterable<SiteId>): Promise<ReadonlyMap<SiteId, StoredSite>>;
  writeFacts(site: SiteId, facts: SiteFacts): Promise<void>;
  writeKeyRestored(site: SiteId, at: number): Promise<void>;
}

const texts = z.array(z.string());

const factsSchema = z.object({
  homeUrl: z.string(),
  paths: z.object({
    home: z.string(),
    admin: z.string(),
    includes: z.string(),
    content: z.string(),
    uploads: z.string(),
    rest: z.string(),
    muPlugins: z.string().optional(),
    files: texts.optional(),
    also: z.object({ admin: texts, includes: texts, content: texts, uploads: texts }).partial().optional(),
    languages: texts.optional(),
    bases: z.object({ text: texts, feed: texts }).optional(),
  }),
  adminUrl: z.string().optional(),
  sessionCookies: z.object({ session: z.string().nullable(), all: texts }).optional(),
  names: z.string().optional(),
  timeZone: z.string().default('UTC'),
  locale: z.string().default('en_US'),
  multisite: z.boolean().default(false),
  signedXmlRpc: z.array(signedXmlRpcSchema).default([]),
});

export function createSiteFactsStore(database: Database): SiteFactsStore {
  const db = withTables<SiteFactsTables>(database);
  return {
    async read(site) {
      const row = await db
        .selectFrom('site_facts')
        .select(['facts', 'key_restored_at'])
        .where('site', '=', site)
        .executeTakeFirst();
      return { facts: row ? parseFacts(row.facts) : null, keyRestoredAt: row?.key_restored_at ?? null };
    },

    async readMany(sites) {
      const wanted = new Set(sites);
      const rows = await db.selectFrom('site_facts').select(['site', 'facts', 'key_restored_at']).execute();
      return new Map(
        rows
          .filter(({ site }) => wanted.has(site))
          .map((row) => [row.site, { facts: parseFacts(row.facts), keyRestoredAt: row.key_restored_at }]),
      );
    },

    async readAll(sites) {
      const found = new Map<SiteId, SiteFacts>();
      const query = db.selectFrom('site_facts').select(['site', 'facts']);
      const rows = sites.length > MAX_NAMED_SITES ? query : query.where('site', 'in', sites);
      for (const row of sites.length === 0 ? [] : await rows.execute()) {
        const facts = parseFacts(row.facts);
        if (facts !== null) found.set(row.site, facts);
      }
      return found;
    },

    async writeFacts(site, facts) {
      const text = JSON.stringify(facts);
      await db
        .insertInto('site_facts')
        .values({ site, facts: text, key_restored_at: null })
        .onConflict((conflict) => conflict.column('site').doUpdateSet({ facts: text }))
        .execute();
    },

    async writeKeyRestored(site, at) {
      await db
        .insertInto('site_facts')
        .values({ site, facts: 'null', key_restored_at: at })
        .onConflict((conflict) => conflict.column('site').doUpdateSet({ key_restored_at: at }))
        .execute();
    },
  };
}

/** Parses stored facts. Returns null for invalid ones: they are only a copy, and the connector reports them again. */
function parseFacts(text: string): SiteFacts | null {
  try {
    return factsSchema.nullable().parse(JSON.parse(text));
  } catch {
    return null;
  }
}
