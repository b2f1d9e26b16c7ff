import { type Address, parseAddress } from '../lib/address.js';
import { AddressSet } from '../lib/address-set.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { setBounded } from '../lib/set-bounded.js';
import type { SiteId } from '../site.js';
import type { ActivityStore } from './activity-store.js';
import { type Dns, hostName } from './dns.js';
import { LookupQueue, type Urgency } from './lookup-queue.js';
import { belongsTo, type SearchEngine } from './search-engines.js';

/** Finds out host names of visitors, and whether search engines are what they claim, off every path. */
export interface Hostnames {
  /**
   * Wants to know the host name of an address. Never waits, never throws.
   * @param engine the search engine that the visitor claims to be, or null
   */
  want(site: SiteId, address: string, urgency: Urgency, engine?: SearchEngine | null): void;
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

/** Addresses of private networks have names that are nobody's business, or none (RFC 1918, 4193, 6598, 3927, 4291). */
const PRIVATE = AddressSet.from([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  ...['224.0.0.0/3', '::/127', 'fc00::/7', 'fe80::/10', 'ff00::/8'],
]);

export function createHostnames(deps: {
  readonly dns: Dns;
  readonly store: Pick<ActivityStore, 'visitorOfAddress' | 'setHostname'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): Hostnames {
  const { dns, store, clock, logger } = deps;
  const queue = new LookupQueue<Task>();
  /** The least recently learnt first. */
  const known = new Map<string, Known>();
  /** What the store has been told, so that it is not told again. */
  const told = new Map<string, string>();
  /** Lookups under way, by site and address. */
  const running = new Map<string, Promise<void>>();
  let begun = 0;
  let second = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function want(site: SiteId, text: string, urgency: Urgency, engine: SearchEngine | null = null): void {
    // Asked ten thousand times a second in a flood: what would change nothing must cost next to nothing.
    if (stopped || queue.isFull(urgency)) return;
    // A claim that nobody can prove needs no questions beyond those for the name.
    const provable = engine !== null && engine.domains.length > 0 ? engine : null;
    const key = `${site} ${text}`;
    const before = told.get(key);
    if (running.has(key) || (before !== undefined && isFresh(text, provable))) return;
    if (provable === null && queue.has(key, urgency)) return;
    const address = parseAddress(text);
    if (address === null || PRIVATE.has(address)) return;
    queue.add(key, { site, address, engine: provable }, urgency);
    go();
  }

  /** Whether an address needs no question now. */
  function isFresh(text: string, engine: SearchEngine | null): boolean {
    const fact = known.get(text);
    if (fact === undefined || Math.abs(clock() - fact.at) > (fact.answered ? KNOWN_MS : SILENT_MS)) return false;
    return engine === null || !fact.answered || fact.proofs.has(engine.name);
  }

  function go(): void {
    while (!stopped && running.size < AT_ONCE && queue.size > 0) {
      const now = Math.floor(clock() / 1000);
      if (now !== second) {
        second = now;
        begun = 0;
      }
      if (begun >= PER_SECOND) {
        timer ??= setTimeout(() => {
          timer = undefined;
          go();
        }, 1000).unref();
        return;
      }
      const task = queue.next();
      if (task === null) return;
      begun++;
      const key = `${task.site} ${task.address.text}`;
      const done = look(task)
        .catch((error: unknown) => {
          logger.warn({ event: 'hostname-not-stored', site: task.site, err: error }, 'A host name was not stored.');
        })
        .finally(() => {
          running.delete(key);
          go();
        });
      running.set(key, done);
    }
  }

  async function look({ site, address, engine }: Task): Promise<void> {
    const { text } = address;
    if (!isFresh(text, engine)) remember(known, text, await ask(address, engine, known.get(text)));
    const fact = known.get(text);
    if (fact === undefined) return;
    const key = `${site} ${text}`;
    if (!fact.answered) {
      remember(told, key, '');
      return;
    }
    const proved = [...fact.proofs].find(([, proof]) => proof)?.[0] ?? null;
    const tell = `${fact.hostname} ${proved}`;
    if (told.get(key) === tell) return;
    const visitor = await store.visitorOfAddress(site, text);
    // Whoever was not asked whether it is a search engine keeps what was proved before.
    const verified = fact.proofs.size === 0 ? visitor.verifiedBot : proved;
    if (visitor.hostname !== fact.hostname || visitor.verifiedBot !== verified) {
      await store.setHostname(site, visitor.id, fact.hostname, verified);
    }
    remember(told, key, tell);
  }

  async function ask(address: Address, engine: SearchEngine | null, before: Known | undefined): Promise<Known> {
    const at = clock();
    try {
      const names = (await dns.names(address))
        .slice(0, NAMES_MAX)
        .map(hostName)
        .filter((name) => name !== null);
      const recent = before?.answered && Math.abs(at - before.at) <= KNOWN_MS;
      const proofs = new Map(recent ? before.proofs : []);
      const name = engine === null ? undefined : names.find((entry) => belongsTo(engine, entry));
      if (engine !== null) proofs.set(engine.name, name !== undefined && (await leadsTo(name, address)));
      return { at, answered: true, hostname: name ?? names[0] ?? null, proofs };
    } catch {
      return { at, answered: false, hostname: before?.hostname ?? null, proofs: new Map() };
    }
  }

  /** Whoever owns an address can give it any name; only the owner of the name can make it lead back. */
  async function leadsTo(name: string, address: Address): Promise<boolean> {
    const found = await dns.addresses(name, address.family);
    return found.some((text) => parseAddress(text)?.text === address.text);
  }

  return {
    want,
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
