import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openVisit } from './client.js';
import { crowds as allCrowds } from './crowds.js';
import { kinds as allKinds } from './kinds.js';
import { countDescriptors, countResources, listSockets, residentMemory } from './observe.js';
import { createRandom, type Random } from './random.js';
import type { Kind } from './requests.js';
import { addresses, type GuardProcess, limitsFor } from './site.js';
import { behaviours } from './upstream.js';
import {
  crowdFaults,
  faultsInLog,
  findGrowth,
  type Measured,
  peakFaults,
  tally,
  type WatcherSample,
  watcherFaults,
} from './verdict.js';
import { samplePage, watchPage } from './watcher.js';

export interface ChaosOptions {
  readonly seed: number;
  readonly seconds: number;
  readonly connections: number;
  /** Only kinds and behaviours whose names hold one of these; all without any. */
  readonly only?: readonly string[];
  readonly behaviours?: readonly string[];
  /** Port of the web server behind guard. */
  readonly upstreamPort: number;
  /** Label of the last request on the connection from a port of guard, if the web server knows it. */
  readonly getLabel?: (port: number) => string | undefined;
  /** The host that requests name. */
  readonly host: string;
  /** Whether the web server is a real WordPress, which fails commands when it is overrun. */
  readonly realSite?: boolean;
}

export interface ChaosReport {
  readonly seed: number;
  /** How often each kind ran, and its first status codes. */
  readonly kinds: Readonly<Record<string, { visits: number; statuses: Record<string, number> }>>;
  readonly visits: number;
  readonly before: Measured;
  readonly after: Measured | null;
  /** All failures; empty if guard has held. */
  readonly faults: readonly string[];
  /** Requests for a plain page by another visitor: during chaos, right after it and at the end. */
  readonly watcher: readonly WatcherSample[];
  /** Requests of an address with an idle crowd that guard had to answer. */
  readonly besideIdle: number;
  /** The most memory that guard had during chaos, bytes. */
  readonly peakResident: number;
}

/** The maximum of held connections. The oldest is closed when there are more. */
const MAX_CONNECTIONS = 300;
/** The sum of guard's timeouts, including those of idle connections to WordPress. */
function settleMs(realSite = false): number {
  const { headerSeconds, idleSeconds, upstreamSeconds } = limitsFor(realSite);
  return (headerSeconds + idleSeconds + upstreamSeconds + 4) * 1000 + 9000;
}

/** Timers that an idle guard may have, for periodic jobs. */
const AT_REST = 10;
/** Crowds at the same time, beside the other visits. */
const CROWDS_AT_ONCE = 2;
const NOTHING: Measured = { descriptors: 0, resident: 0, heap: 0, external: 0, timers: 0 };

/** Sends visits of every kind to a guard, and checks its state afterwards. */
export async function runChaos(guard: GuardProcess, options: ChaosOptions): Promise<ChaosReport> {
  const { seed, seconds, connections } = options;
  const ways = chosen(Object.keys(behaviours), (name) => name, options.behaviours);
  const every = chosen([...allKinds, ...allCrowds], ([name]) => name, options.only);
  const kinds = allKinds.filter((kind) => every.includes(kind));
  const crowds = allCrowds.filter((kind) => every.includes(kind));
  const crew = new Crew(guard, { ...options, ways });
  // Fills caches and compiles code before the measurement.
  const [warming, atOnce] = kinds.length > 0 ? [kinds, connections] : [crowds, CROWDS_AT_ONCE];
  await crew.work(warming, seed ^ 0x5eed, atOnce, Math.min(3, seconds));
  await settled(guard, options, crew);
  const before = guard.ended() === null ? await measured(guard, ({ timers }) => timers <= AT_REST) : null;
  const faults: string[] = [];
  const watched = { guardPort: guard.port, from: addresses.bystander, ...options };
  const watcher: WatcherSample[] = [];
  let peakResident = 0;
  if (before !== null) {
    let isOver = false;
    const over = () => isOver || guard.ended() !== null;
    const watching = [watchPage(watched, over), measurePeak(() => residentMemory(guard.pid), over)] as const;
    await Promise.all([
      crew.work(kinds, seed, connections, seconds),
      crew.work(crowds, seed ^ 0xc40d, CROWDS_AT_ONCE, seconds),
    ]);
    isOver = true;
    watcher.push(...(await watching[0]));
    peakResident = await watching[1];
  }
  let after: Measured | null = null;
  if (guard.ended() === null) {
    watcher.push(await samplePage(watched, 'right after chaos'));
    faults.push(...(await settled(guard, options, crew)));
  }
  crew.letGo();
  if (guard.ended() === null) {
    watcher.push(await samplePage(watched, 'at the end'));
    const start = before ?? NOTHING;
    after = await measured(guard, (now) => findGrowth(start, now).length === 0);
  }
  if (guard.ended() !== null) {
    faults.push(`guard ended (${guard.ended()}) while there were: ${crew.underWay().join('; ')}`);
  }
  if (before !== null && after !== null) faults.push(...findGrowth(before, after));
  if (before !== null) faults.push(...peakFaults(before, peakResident));
  faults.push(...watcherFaults(watcher), ...crowdFaults(crew.notes, options.realSite === true));
  faults.push(...faultsInLog(guard.log(), options.realSite === true));
  const { counts: kindCounts, visits, notes } = crew;
  const counts = { visits, besideIdle: notes.length };
  return { seed, kinds: kindCounts, ...counts, before: before ?? NOTHING, after, faults, watcher, peakResident };
}

/** The highest reading until `isOver`. */
async function measurePeak(read: () => number, isOver: () => boolean): Promise<number> {
  let peak = 0;
  while (!isOver()) {
    peak = Math.max(peak, read() || 0);
    await sleep(100);
  }
  return peak;
}

/** Those with one of the names, or else with a part of it; all when none is given. */
function chosen<T>(
  all: readonly T[],
  describeElement: (one: T) => string,
  parts: readonly string[] | undefined,
): readonly T[] {
  if (parts === undefined) return all;
  const some = parts.flatMap((part) => {
    const exact = all.filter((one) => describeElement(one) === part);
    return exact.length > 0 ? exact : all.filter((one) => describeElement(one).includes(part));
  });
  if (some.length === 0) throw new Error(`Nothing is called ${parts.join(' or ')}.`);
  return some;
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const all = [...list];
  for (let last = all.length - 1; last > 0; last--) {
    const other = random.between(0, last);
    [all[last], all[other]] = [all[other] as T, all[last] as T];
  }
  return all;
}

/** The workers that send the visits. */
class Crew {
  readonly counts: Record<string, { visits: number; statuses: Record<string, number> }> = {};
  visits = 0;
  /** The kind of each local address and port, to name connections that guard still holds. */
  readonly #kinds = new Map<string, string>();
  readonly #held: Socket[] = [];
  /** Responses to the requests that guard must answer. */
  readonly notes: (number | null)[] = [];
  readonly #busy = new Map<string, string>();

  constructor(
    private readonly guard: GuardProcess,
    private readonly parts: ChaosOptions & { readonly ways: readonly string[] },
  ) {}

  /**
   * Sends visits in parallel workers, each with its own random sequence. Together they run every kind at least once,
   * even if that takes longer.
   */
  async work(kinds: readonly Kind[], seed: number, connections: number, seconds: number): Promise<void> {
    if (kinds.length === 0) return;
    const until = Date.now() + seconds * 1000;
    const order = shuffled(kinds, createRandom(seed, connections));
    const worker = async (number: number): Promise<void> => {
      const random = createRandom(seed, number);
      const share = (of: number) => Math.floor((of * order.length) / connections);
      const [first, next] = [share(number), share(number + 1)];
      for (let turn = first; (turn < next || Date.now() < until) && this.guard.ended() === null; turn++) {
        const kind = turn < first + order.length ? (order[turn % order.length] as Kind) : random.pick(kinds);
        await this.#visit(`${seed} ${number}`, kind, random);
      }
      if (this.guard.ended() === null) this.#busy.delete(`${seed} ${number}`);
    };
    await Promise.all(Array.from({ length: connections }, (_, number) => worker(number)));
  }

  async #visit(worker: string, kind: Kind, random: Random): Promise<void> {
    const [name, ...steps] = kind;
    // All random choices are made before the first byte, so that no response changes the sequence.
    const behaviour = random.chance(0.4) ? 'normal' : random.pick(this.parts.ways);
    const { visitors, blocked, proxy } = addresses;
    // A crowd at the blocked address would be refused, and one behind the proxy has no limit.
    const from = random.pick(allCrowds.includes(kind) ? visitors : [...visitors, ...visitors, blocked, proxy]);
    const extra = from === proxy ? `X-Forwarded-For: ${forwarded(random)}\r\n` : '';
    const own = createRandom(random.between(0, 2 ** 31));
    this.#busy.set(worker, `${name} (${behaviour})`);
    this.visits += 1;
    this.counts[name] ??= { visits: 0, statuses: {} };
    const count = this.counts[name];
    count.visits += 1;
    const { port } = this.guard;
    let held = false;
    const visit = await openVisit(
      { port, from, random: own, host: this.parts.host, behaviour, kind: name, extra },
      {
        onOpened: (socket) => this.#remember(socket, `${name} (${behaviour})`),
        onNote: (status) => void this.notes.push(status),
        onLinger: (socket) => {
          held = true;
          this.#hold(socket);
        },
      },
    );
    for (const step of steps) await step(visit);
    const status = /^HTTP\/1\.1 (\d{3})/.exec(visit.received())?.[1] ?? (visit.received() === '' ? 'nothing' : 'other');
    count.statuses[status] = (count.statuses[status] ?? 0) + 1;
    if (!held) visit.socket.destroy();
  }

  #remember(socket: Socket, label: string): void {
    if (socket.localPort === undefined) return;
    const mine = `${socket.localAddress}:${socket.localPort}`;
    this.#kinds.delete(mine);
    this.#kinds.set(mine, label);
    if (this.#kinds.size > 30_000) this.#kinds.delete(this.#kinds.keys().next().value as string);
  }

  #hold(socket: Socket): void {
    this.#held.push(socket);
    if (this.#held.length > MAX_CONNECTIONS) this.#held.shift()?.destroy();
  }

  /** Ends the connections that were held. */
  letGo(): void {
    for (const socket of this.#held.splice(0)) socket.destroy();
  }

  getKind(remote: string): string {
    return this.#kinds.get(remote) ?? 'unknown';
  }

  /** What each worker did last. */
  underWay(): string[] {
    return [...this.#busy.values()];
  }
}

function forwarded(random: Random): string {
  return random.pick([
    `198.51.100.${random.between(1, 254)}`,
    `2001:db8::${random.between(1, 9999)}`,
    addresses.blocked,
    `203.0.113.9, 198.51.100.${random.between(1, 254)}`,
    'unknown',
    '198.51.100.7:4711, garbage',
  ]);
}

/** Waits until guard holds no connection. @returns the connections that it still holds when the time is over */
async function settled(guard: GuardProcess, options: ChaosOptions, crew: Crew): Promise<string[]> {
  const patience = settleMs(options.realSite);
  const end = Date.now() + patience;
  for (;;) {
    if (guard.ended() !== null) return [];
    const open = listSockets(guard.pid);
    const toVisitors = open.filter(({ localPort }) => localPort === guard.port);
    const toUpstream = open.filter(({ remotePort }) => remotePort === options.upstreamPort);
    if (toVisitors.length === 0 && toUpstream.length === 0) return [];
    if (Date.now() >= end) {
      const visitors = tally(toVisitors.map(({ remote, state }) => `${crew.getKind(remote)}, ${state}`));
      const upstream = tally(
        toUpstream.map(({ localPort, state }) => `${options.getLabel?.(localPort) ?? 'a connection'}, ${state}`),
      );
      return [
        ...visitors.map((line) => `still open to a visitor after ${patience / 1000} s: ${line}`),
        ...upstream.map((line) => `still open to WordPress after ${patience / 1000} s: ${line}`),
      ];
    }
    await sleep(100);
  }
}

/**
 * Repeats a measurement until it is as expected or the time is over, since some resources are released with a delay.
 */
async function measured(guard: GuardProcess, isRight: (now: Measured) => boolean): Promise<Measured> {
  const end = Date.now() + settleMs();
  for (;;) {
    const held = await countResources(guard.inspector);
    await sleep(100);
    const now = { ...held, descriptors: countDescriptors(guard.pid), resident: residentMemory(guard.pid) };
    if (isRight(now) || Date.now() >= end) return now;
    await sleep(1000);
  }
}
