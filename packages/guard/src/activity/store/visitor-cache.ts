import { parseAddress } from '../../lib/address.js';
import type { Prepare } from '../../storage/sqlite.js';
import type { Visitor } from '../activity-store.js';
import { toAddressKey, toUserKey, toVisitor, type VisitorRecord } from './row-keys.js';

/** Visitors that are cached between commits. */
const VISITORS_MAX = 20_000;

/** The address of everything that is not an address, as in `toAddressKey`. */
const NO_ADDRESS = '::';

/** A cached visitor. */
export interface CachedVisitor {
  readonly id: number;
  readonly verifiedBot: string | null;
}

interface Entry {
  readonly id: number;
  verifiedBot: string | null;
  /** Counts that the next flush adds to the row. */
  visits: number;
  events: number;
  lastSeen: number;
  /** Set until the row is inserted. */
  isNew: { readonly site: number; readonly address: string; readonly firstSeen: number } | null;
}

/** Finds and creates visitors. Counts are kept in memory until `flush`, which each transaction calls. */
export class VisitorCache {
  readonly #prepare: Prepare;
  /** By site and address, the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #changed = new Set<Entry>();
  #nextId: number | null = null;

  constructor(prepare: Prepare) {
    this.#prepare = prepare;
  }

  /**
   * Counts rows of an address.
   * @param at Unix seconds
   */
  count(site: number, address: string, at: number, rows: { visits: number; events: number }): CachedVisitor {
    const key = `${site} ${address}`;
    const known = this.#entries.get(key);
    if (!known) {
      // Only addresses that are not cached are parsed: an address may be in another spelling than the canonical one.
      const text = parseAddress(address)?.text ?? NO_ADDRESS;
      if (text !== address) return this.count(site, text, at, rows);
    }
    const entry = known ?? this.#find(site, address) ?? this.#make(site, address, at);
    if (known) this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.visits += rows.visits;
    entry.events += rows.events;
    if (rows.visits + rows.events > 0 && at > entry.lastSeen) entry.lastSeen = at;
    this.#changed.add(entry);
    return entry;
  }

  findByAddress(site: number, address: string, at: number): Visitor {
    const { id } = this.count(site, address, at, { visits: 0, events: 0 });
    this.flush();
    return this.#read(id);
  }

  /** Returns the visitor of a user and stores the current login. */
  findByUser(site: number, user: { id: number; login: string }, at: number, events = 0): Visitor {
    const key = toUserKey(user.id);
    this.#prepare(
      `insert into visitors (id, site, kind, key, name, first_seen, last_seen, events) values (?, ?, 'user', ?, ?, ?, ?, ?)
       on conflict (site, kind, key) do update set name = excluded.name, events = events + excluded.events,
         last_seen = max(last_seen, excluded.last_seen)`,
    ).run(this.#newId(), site, key, user.login, at, at, events);
    const { id } = this.#prepare(`select id from visitors where site = ? and kind = 'user' and key = ?`).get(
      site,
      key,
    ) as { id: number };
    return this.#read(id);
  }

  setHostname(site: number, id: number, hostname: string | null, verifiedBot: string | null): void {
    this.#prepare('update visitors set hostname = ?, verified_bot = ? where site = ? and id = ?').run(
      hostname,
      verifiedBot,
      site,
      id,
    );
    const row = this.#prepare('select name from visitors where site = ? and id = ?').get(site, id) as
      | { name: string }
      | undefined;
    const entry = row && this.#entries.get(`${site} ${row.name}`);
    if (entry?.id === id) entry.verifiedBot = verifiedBot;
  }

  /** Subtracts rows from visitors by id, and stores the result at once. */
  subtract(column: 'visits' | 'events', rows: ReadonlyMap<number, number>): void {
    const update = this.#prepare(`update visitors set ${column} = ${column} - ? where id = ?`);
    for (const [id, count] of rows) update.run(count, id);
  }

  /**
   * Deletes addresses without rows.
   * @returns whether there may be more
   */
  removeWithoutRows(site: number, seenBefore: number, keep: ReadonlySet<number>, limit: number): boolean {
    const rows = this.#prepare(
      `select id, name from visitors where site = ? and visits = 0 and events = 0 and kind = 'ip' and last_seen < ?
       order by last_seen limit ?`,
    ).all(site, seenBefore, limit + keep.size) as unknown as { id: number; name: string }[];
    const remove = this.#prepare('delete from visitors where id = ?');
    for (const { id, name } of rows) {
      if (keep.has(id)) continue;
      remove.run(id);
      this.#entries.delete(`${site} ${name}`);
    }
    return rows.length === limit + keep.size;
  }

  flush(): void {
    const insert = this.#prepare(
      `insert into visitors (id, site, kind, key, name, first_seen, last_seen, visits, events)
       values (?, ?, 'ip', ?, ?, ?, ?, ?, ?)`,
    );
    const update = this.#prepare(
      'update visitors set visits = visits + ?, events = events + ?, last_seen = max(last_seen, ?) where id = ?',
    );
    for (const entry of this.#changed) {
      if (entry.isNew) {
        const { site, address, firstSeen } = entry.isNew;
        const key = toAddressKey(address);
        insert.run(entry.id, site, key, address, firstSeen, entry.lastSeen, entry.visits, entry.events);
        entry.isNew = null;
      } else update.run(entry.visits, entry.events, entry.lastSeen, entry.id);
      entry.visits = 0;
      entry.events = 0;
    }
    this.#changed.clear();
    for (const key of this.#entries.keys()) {
      if (this.#entries.size <= VISITORS_MAX) break;
      this.#entries.delete(key);
    }
  }

  /** Clears the cache, after a transaction that was not committed. */
  clear(): void {
    this.#entries.clear();
    this.#changed.clear();
    this.#nextId = null;
  }

  #find(site: number, address: string): Entry | null {
    const row = this.#prepare(
      `select id, verified_bot, last_seen from visitors where site = ? and kind = 'ip' and key = ?`,
    ).get(site, toAddressKey(address)) as { id: number; verified_bot: string | null; last_seen: number } | undefined;
    if (!row) return null;
    return { id: row.id, verifiedBot: row.verified_bot, visits: 0, events: 0, lastSeen: row.last_seen, isNew: null };
  }

  #make(site: number, address: string, at: number): Entry {
    const isNew = { site, address, firstSeen: at };
    return { id: this.#newId(), verifiedBot: null, visits: 0, events: 0, lastSeen: at, isNew };
  }

  /** Ids are never reused, even after the visitor with the highest one was deleted. */
  #newId(): number {
    if (this.#nextId === null) {
      const row = this.#prepare(`select seq from sqlite_sequence where name = 'visitors'`).get();
      this.#nextId = ((row as { seq: number } | undefined)?.seq ?? 0) + 1;
    }
    return this.#nextId++;
  }

  #read(id: number): Visitor {
    return toVisitor(this.#prepare('select * from visitors where id = ?').get(id) as unknown as VisitorRecord);
  }
}
