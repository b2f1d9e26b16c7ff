import { Resolver } from 'node:dns/promises';
import { type Address, parseAddress } from '../lib/address.js';
import { privateNetworks } from '../lib/address-set.js';
import type { Clock } from '../lib/clock.js';
import { setBounded } from '../lib/collections.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import type { ActivityStore } from './activity-store.js';
import { belongsTo, type SearchEngine } from './bots.js';

/** Looks up host names of visitors and verifies search engines, in the background. */
export interface Hostnames {
  /**
   * Requests the host name of an address. Never blocks, never throws.
   * @param engine the search engine that the visitor claims to be, or null
   */
  request(site: SiteId, address: string, urgency: LookupPriority, engine?: SearchEngine | null): void;
  /** Starts no further lookups; resolves when none is running. */
  stop(): Promise<void>;
}

/** The result of looking up an address. */
interface Known {
  readonly at: number;
  /** False when DNS did not respond; the result then says nothing. */
  readonly answered: boolean;
  readonly hostname: string | null;
  /** For search engines by name: whether DNS verified the address as theirs. */
  readonly proofs: Map<string, boolean>;
}

interface Task {
  readonly site: SiteId;
  readonly address: Address;
  readonly engine: SearchEngine | null;
}

/** Lookups that run concurrently, and lookups that begin in one second. */
const AT_ONCE = 8;
const PER_SECOND = 20;
/** Milliseconds for which a result is valid: a day, or ten minutes when DNS did not respond. */
const KNOWN_MS = 24 * 3600_000;
const SILENT_MS = 10 * 60_000;
const KNOWN_MAX = 20_000;
/** Names of one address that are checked. */
const NAMES_MAX = 5;

export function createHostnames(deps: {
  readonly dns: Dns;
  readonly store: Pick<ActivityStore, 'getAddressVisitor' | 'setHostname'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): Hostnames {
  const { dns, store, clock, logger } = deps;
  const queue = new LookupQueue<Task>();
  /** Results by address, oldest first. */
  const known = new Map<string, Known>();
  /** What the store contains of each address. */
  const stored = new Map<string, string>();
  /** Running lookups, by site and address. */
  const running = new Map<string, Promise<void>>();
  let started = 0;
  let second = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function request(site: SiteId, text: string, urgency: LookupPriority, engine: SearchEngine | null = null): void {
    // Called ten thousand times a second in a flood: a request that changes nothing must cost next to nothing.
    if (stopped || queue.isFull(urgency)) return;
    // A claim that can't be verified needs no query beyond that for the name.
    const provable = engine !== null && engine.domains.length > 0 ? engine : null;
    const key = `${site} ${text}`;
    const before = stored.get(key);
    if (running.has(key) || (before !== undefined && isFresh(text, provable))) return;
    if (provable === null && queue.has(key, urgency)) return;
    const address = parseAddress(text);
    // Names of private addresses are not queried; some addresses are invalid.
    if (address === null || privateNetworks.has(address)) return;
    queue.add(key, { site, address, engine: provable }, urgency);
    startLookups();
  }

  /** Whether the result for an address is still valid. */
  function isFresh(text: string, engine: SearchEngine | null): boolean {
    const fact = known.get(text);
    if (fact === undefined || Math.abs(clock() - fact.at) > (fact.answered ? KNOWN_MS : SILENT_MS)) return false;
    return engine === null || !fact.answered || fact.proofs.has(engine.name);
  }

  function startLookups(): void {
    while (!stopped && running.size < AT_ONCE && queue.size > 0) {
      const now = Math.floor(clock() / 1000);
      if (now !== second) {
        second = now;
        started = 0;
      }
      if (started >= PER_SECOND) {
        timer ??= setTimeout(() => {
          timer = undefined;
          startLookups();
        }, 1000).unref();
        return;
      }
      const task = queue.next();
      if (task === null) return;
      started++;
      const key = `${task.site} ${task.address.text}`;
      const done = lookUp(task)
        .catch((error: unknown) => {
          logger.warn({ event: 'hostname-store-failed', site: task.site, err: error }, 'A host name was not stored.');
        })
        .finally(() => {
          running.delete(key);
          startLookups();
        });
      running.set(key, done);
    }
  }

  async function lookUp({ site, address, engine }: Task): Promise<void> {
    const { text } = address;
    if (!isFresh(text, engine)) remember(known, text, await query(address, engine, known.get(text)));
    const fact = known.get(text);
    if (fact === undefined) return;
    const key = `${site} ${text}`;
    if (!fact.answered) {
      remember(stored, key, '');
      return;
    }
    const proved = [...fact.proofs].find(([, proof]) => proof)?.[0] ?? null;
    const result = `${fact.hostname} ${proved}`;
    if (stored.get(key) === result) return;
    const visitor = await store.getAddressVisitor(site, text);
    // A visitor that was not verified this time keeps the earlier result.
    const verified = fact.proofs.size === 0 ? visitor.verifiedBot : proved;
    if (visitor.hostname !== fact.hostname || visitor.verifiedBot !== verified) {
      await store.setHostname(site, visitor.id, fact.hostname, verified);
    }
    remember(stored, key, result);
  }

  async function query(address: Address, engine: SearchEngine | null, before: Known | undefined): Promise<Known> {
    const at = clock();
    try {
      const names = (await dns.names(address))
        .slice(0, NAMES_MAX)
        .map(hostName)
        .filter((name) => name !== null);
      const recent = before?.answered && Math.abs(at - before.at) <= KNOWN_MS;
      const proofs = new Map(recent ? before.proofs : []);
      const name = engine === null ? undefined : names.find((entry) => belongsTo(engine, entry));
      if (engine !== null) proofs.set(engine.name, name !== undefined && (await resolvesTo(name, address)));
      return { at, answered: true, hostname: name ?? names[0] ?? null, proofs };
    } catch {
      return { at, answered: false, hostname: before?.hostname ?? null, proofs: new Map() };
    }
  }

  /**
   * Verifies a name. The owner of an address can give it any name; only the owner of the name can make it resolve to
   * the address.
   */
  async function resolvesTo(name: string, address: Address): Promise<boolean> {
    const found = await dns.addresses(name, address.family);
    return found.some((text) => parseAddress(text)?.text === address.text);
  }

  return {
    request,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      queue.clear();
      await Promise.all(running.values());
    },
  };
}

/** Moves an entry to the end of the map, so that the oldest ones are removed first. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  setBounded(map, key, value, KNOWN_MAX);
}

/** A DNS client. Its responses may be hostile: the owner of an address chooses its name. */
export interface Dns {
  /**
   * Returns the names of an address (PTR, RFC 1035 section 3.5); none when it has no name. Throws when DNS does not
   * respond.
   */
  names(address: Address): Promise<readonly string[]>;
  /** Returns the addresses of a name, of the given family. Throws when DNS does not respond. */
  addresses(name: string, family: 4 | 6): Promise<readonly string[]>;
}

/** Timeout of one query, milliseconds. */
const TIMEOUT_MS = 3000;

/**
 * Creates a DNS client.
 * @param servers `192.0.2.1` or `192.0.2.1:5353`; the system's when empty
 */
export function systemDns(servers: readonly string[], timeoutMs = TIMEOUT_MS): Dns {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
  if (servers.length > 0) resolver.setServers(servers);
  return {
    names: (address) => orEmpty(resolver.resolvePtr(reverseName(address))),
    addresses: (name, family) => orEmpty(family === 4 ? resolver.resolve4(name) : resolver.resolve6(name)),
  };
}

async function orEmpty(records: Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await records;
  } catch (error) {
    if (NOT_FOUND_CODES.has((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

/** Codes of a name that does not exist, has no such record, or is not accepted by resolvers. */
const NOT_FOUND_CODES: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADRESP']);

/**
 * Returns the reverse name of an address: `7.2.0.192.in-addr.arpa` (RFC 1035 section 3.5), or 32 hexadecimal digits
 * under `ip6.arpa` (RFC 3596 section 2.5).
 */
export function reverseName({ words, family }: Address): string {
  const hex = words.map((word) => word.toString(16).padStart(8, '0')).join('');
  if (family === 6) return `${[...hex].reverse().join('.')}.ip6.arpa`;
  const word = words[3];
  return `${word & 255}.${(word >>> 8) & 255}.${(word >>> 16) & 255}.${word >>> 24}.in-addr.arpa`;
}

/**
 * Returns a name as it may be displayed and stored: lower-case, without the final dot, letters, digits, hyphens and
 * underscores only (RFC 1123 section 2.1, and underscores, which occur in practice). Null for anything else.
 */
export function hostName(name: string): string | null {
  const text = name.replace(/\.$/, '').toLowerCase();
  if (text.length === 0 || text.length > 253) return null;
  return text.split('.').every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)) ? text : null;
}

/** Why a host name is requested: the owner looks at it, the visitor claims to be a search engine, or neither. */
export type LookupPriority = 'shown' | 'claimed' | 'seen';

/** Maximum number of queued lookups by priority. Others are dropped until they are requested again. */
const WAITING_MAX: Readonly<Record<LookupPriority, number>> = { shown: 500, claimed: 2000, seen: 1000 };
const URGENCIES: readonly LookupPriority[] = ['shown', 'claimed', 'seen'];

/** A queue of lookups, the most urgent first, each only once. */
export class LookupQueue<Task> {
  readonly #waiting: Readonly<Record<LookupPriority, Map<string, Task>>> = {
    shown: new Map(),
    claimed: new Map(),
    seen: new Map(),
  };

  get size(): number {
    return URGENCIES.reduce((sum, urgency) => sum + this.#waiting[urgency].size, 0);
  }

  /** Whether a task with this key is queued with at least this urgency. */
  has(key: string, urgency: LookupPriority): boolean {
    return URGENCIES.slice(0, URGENCIES.indexOf(urgency) + 1).some((line) => this.#waiting[line].has(key));
  }

  /** Whether a task of this urgency would be dropped. */
  isFull(urgency: LookupPriority): boolean {
    return this.#waiting[urgency].size >= WAITING_MAX[urgency];
  }

  /** Enqueues a task. It replaces an earlier one of the same key that is not more urgent. */
  add(key: string, task: Task, urgency: LookupPriority): void {
    const before = URGENCIES.find((other) => this.#waiting[other].has(key));
    if (before !== undefined && URGENCIES.indexOf(before) < URGENCIES.indexOf(urgency)) return;
    // When the queue is full, the task keeps its lower urgency.
    if (this.isFull(urgency) && before !== urgency) return;
    if (before !== undefined) this.#waiting[before].delete(key);
    this.#waiting[urgency].set(key, task);
  }

  next(): Task | null {
    for (const urgency of URGENCIES) {
      for (const [key, task] of this.#waiting[urgency]) {
        this.#waiting[urgency].delete(key);
        return task;
      }
    }
    return null;
  }

  clear(): void {
    for (const urgency of URGENCIES) this.#waiting[urgency].clear();
  }
}
