import { Resolver } from 'node:dns/promises';
import { type Address, parseAddress } from '../lib/address.js';
import { privateNetworks } from '../lib/address-set.js';
import type { Clock } from '../lib/clock.js';
import { setBounded } from '../lib/collections.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import type { ActivityStore } from './activity-store.js';
import { belongsTo, type SearchEngine } from './bots.js';

/** Finds out host names of visitors, and whether search engines are what they claim, off every path. */
export interface Hostnames {
  /**
   * Wants to know the host name of an address. Never waits, never throws.
   * @param engine the search engine that the visitor claims to be, or null
   */
  request(site: SiteId, address: string, urgency: LookupPriority, engine?: SearchEngine | null): void;
  /** Asks nothing more; resolves when nothing is under way. */
  stop(): Promise<void>;
}

/** What was found out about an address. */
interface Known {
  readonly at: number;
  /** False when nobody answered: that says nothing. */
  readonly answered: boolean;
  readonly hostname: string | null;
  /** Names of the search engines that DNS proved or disproved it to be. */
  readonly proofs: Map<string, boolean>;
}

interface Task {
  readonly site: SiteId;
  readonly address: Address;
  readonly engine: SearchEngine | null;
}

/** Questions under way at the same time, and questions begun in a second. */
const AT_ONCE = 8;
const PER_SECOND = 20;
/** What was found out counts for a day; that nobody answered for ten minutes. Milliseconds. */
const KNOWN_MS = 24 * 3600_000;
const SILENT_MS = 10 * 60_000;
const KNOWN_MAX = 20_000;
/** Names of one address that are looked at. */
const NAMES_MAX = 5;

export function createHostnames(deps: {
  readonly dns: Dns;
  readonly store: Pick<ActivityStore, 'getAddressVisitor' | 'setHostname'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): Hostnames {
  const { dns, store, clock, logger } = deps;
  const queue = new LookupQueue<Task>();
  /** The least recently learnt first. */
  const known = new Map<string, Known>();
  /** What the store knows of each address already. */
  const stored = new Map<string, string>();
  /** Lookups under way, by site and address. */
  const running = new Map<string, Promise<void>>();
  let started = 0;
  let second = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function request(site: SiteId, text: string, urgency: LookupPriority, engine: SearchEngine | null = null): void {
    // Asked ten thousand times a second in a flood: what would change nothing must cost next to nothing.
    if (stopped || queue.isFull(urgency)) return;
    // A claim that nobody can prove needs no questions beyond those for the name.
    const provable = engine !== null && engine.domains.length > 0 ? engine : null;
    const key = `${site} ${text}`;
    const before = stored.get(key);
    if (running.has(key) || (before !== undefined && isFresh(text, provable))) return;
    if (provable === null && queue.has(key, urgency)) return;
    const address = parseAddress(text);
    // Their names are nobody's business, or there are none.
    if (address === null || privateNetworks.has(address)) return;
    queue.add(key, { site, address, engine: provable }, urgency);
    startLookups();
  }

  /** Whether an address needs no question now. */
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
      const done = look(task)
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

  async function look({ site, address, engine }: Task): Promise<void> {
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
    const tell = `${fact.hostname} ${proved}`;
    if (stored.get(key) === tell) return;
    const visitor = await store.getAddressVisitor(site, text);
    // A visitor that was not verified now keeps the earlier result.
    const verified = fact.proofs.size === 0 ? visitor.verifiedBot : proved;
    if (visitor.hostname !== fact.hostname || visitor.verifiedBot !== verified) {
      await store.setHostname(site, visitor.id, fact.hostname, verified);
    }
    remember(stored, key, tell);
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

  /** The owner of an address can give it any name; only the owner of the name can make it resolve to the address. */
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

/** Puts an entry last, so that the ones that were learnt long ago go first. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  setBounded(map, key, value, KNOWN_MAX);
}

/** DNS queries. A response may be hostile: the owner of an address chooses its name. */
export interface Dns {
  /** Names of an address (PTR, RFC 1035 section 3.5); none when it has no name. Throws when nobody answers. */
  names(address: Address): Promise<readonly string[]>;
  /** Addresses of a name, of the family given. Throws when nobody answers. */
  addresses(name: string, family: 4 | 6): Promise<readonly string[]>;
}

/** Time for one question, milliseconds. */
const TIMEOUT_MS = 3000;

/** @param servers `192.0.2.1` or `192.0.2.1:5353`; the system's when empty */
export function systemDns(servers: readonly string[], timeoutMs = TIMEOUT_MS): Dns {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
  if (servers.length > 0) resolver.setServers(servers);
  return {
    names: (address) => orNone(resolver.resolvePtr(reverseName(address))),
    addresses: (name, family) => orNone(family === 4 ? resolver.resolve4(name) : resolver.resolve6(name)),
  };
}

async function orNone(answer: Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await answer;
  } catch (error) {
    if (NO_SUCH.has((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

/** The name does not exist, has no such record, or is one that no resolver accepts. */
const NO_SUCH: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADRESP']);

/** `7.2.0.192.in-addr.arpa` (RFC 1035 section 3.5), or 32 hexadecimal digits under `ip6.arpa` (RFC 3596 section 2.5). */
export function reverseName({ words, family }: Address): string {
  const hex = words.map((word) => word.toString(16).padStart(8, '0')).join('');
  if (family === 6) return `${[...hex].reverse().join('.')}.ip6.arpa`;
  const word = words[3];
  return `${word & 255}.${(word >>> 8) & 255}.${(word >>> 16) & 255}.${word >>> 24}.in-addr.arpa`;
}

/**
 * A name as it may be shown and stored: lower-case, without the dot at the end, letters, digits, hyphens and
 * underscores only (RFC 1123 section 2.1, and underscores, which exist in the wild). Null for anything else.
 */
export function hostName(name: string): string | null {
  const text = name.replace(/\.$/, '').toLowerCase();
  if (text.length === 0 || text.length > 253) return null;
  return text.split('.').every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)) ? text : null;
}

/** How soon a host name is wanted: the owner looks at it, a visitor claims to be a search engine, or just so. */
export type LookupPriority = 'shown' | 'claimed' | 'seen';

/** Most lookups that wait, by urgency. What does not fit is left out, and comes back when it is wanted again. */
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

  /** Whether a task of this key waits already, at least as urgent. */
  has(key: string, urgency: LookupPriority): boolean {
    return URGENCIES.slice(0, URGENCIES.indexOf(urgency) + 1).some((line) => this.#waiting[line].has(key));
  }

  /** Whether a task of this urgency would be left out. */
  isFull(urgency: LookupPriority): boolean {
    return this.#waiting[urgency].size >= WAITING_MAX[urgency];
  }

  /** Enqueues a task. It replaces an older one of the same key that is not more urgent. */
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
