import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendRaw } from '../http/raw.js';
import { openVisit } from './client.js';
import { kinds as allKinds, type Kind } from './kinds.js';
import { descriptorsOf, heldBy, residentMemory, socketsOf } from './observe.js';
import { createRandom, type Random } from './random.js';
import { addresses, type GuardProcess, limitsFor } from './site.js';
import { behaviours } from './upstream.js';
import { faultsInLog, grown, type Measured } from './verdict.js';

export interface ChaosOptions {
  readonly seed: number;
  readonly seconds: number;
  readonly connections: number;
  /** Only kinds and behaviours whose names hold one of these; all without any. */
  readonly only?: readonly string[];
  readonly behaviours?: readonly string[];
  /** Port of the web server behind guard. */
  readonly upstreamPort: number;
  /** What the connection from that port of guard's was last asked, where the web server can tell. */
  readonly askedFrom?: (port: number) => string | undefined;
  /** The host that requests name. */
  readonly host: string;
  /** Whether the web server is a real WordPress, which fails commands when it is overrun. */
  readonly realSite?: boolean;
}

export interface ChaosReport {
  readonly seed: number;
  /** How often each kind was there, and the first status codes that it saw. */
  readonly kinds: Readonly<Record<string, { visits: number; statuses: Record<string, number> }>>;
  readonly visits: number;
  readonly before: Measured;
  readonly after: Measured | null;
  /** Everything that is not as it must be; empty when guard has held. */
  readonly faults: readonly string[];
  /** Who asked for a plain page twice a second during chaos. */
  readonly bystander: { readonly pages: number; readonly failed: number; readonly slowestMs: number };
  /** Milliseconds until a plain page came, right after chaos and at the end. */
  readonly pageMs: readonly (number | null)[];
}

/** A held connection more than these, and the oldest goes. */
const MOST_HELD = 300;
/** Everything that guard waits for at most, one after the other, with its idle connections to WordPress behind. */
function settleMs(realSite = false): number {
  const { headerSeconds, idleSeconds, upstreamSeconds } = limitsFor(realSite);
  return (headerSeconds + idleSeconds + upstreamSeconds + 4) * 1000 + 9000;
}

/** Timers that a guard may have whom nobody asks anything; the jobs that run now and then. */
const AT_REST = 10;
const NOTHING: Measured = { descriptors: 0, resident: 0, heap: 0, external: 0, timers: 0 };

/** Lets visitors of every kind loose on a guard, and looks at what is left of it. */
export async function runChaos(guard: GuardProcess, options: ChaosOptions): Promise<ChaosReport> {
  const { seed, seconds, connections } = options;
  const kinds = chosen(allKinds, ([name]) => name, options.only);
  const ways = chosen(Object.keys(behaviours), (name) => name, options.behaviours);
  const crew = new Crew(guard, { ...options, kinds, ways });
  // Caches are filled and code is compiled before anything is measured.
  await crew.work(seed ^ 0x5eed, connections, Math.min(3, seconds));
  await settled(guard, options, crew);
  const before = guard.ended() === null ? await measured(guard, ({ timers }) => timers <= AT_REST) : null;
  const faults: string[] = [];
  const bystander = new Bystander(guard, options);
  if (before !== null) await Promise.all([crew.work(seed, connections, seconds), bystander.ask(seconds)]);
  const pageMs: (number | null)[] = [];
  let after: Measured | null = null;
  if (guard.ended() === null) {
    pageMs.push(await plainPage(guard, options, faults, 'right after chaos'));
    faults.push(...(await settled(guard, options, crew)));
  }
  crew.letGo();
  if (guard.ended() === null) {
    pageMs.push(await plainPage(guard, options, faults, 'at the end'));
    const start = before ?? NOTHING;
    after = await measured(guard, (now) => grown(start, now).length === 0);
  }
  if (guard.ended() !== null) {
    faults.push(`guard ended (${guard.ended()}) while there were: ${crew.underWay().join('; ')}`);
  }
  if (before !== null && after !== null) faults.push(...grown(before, after));
  faults.push(...faultsInLog(guard.log(), options.realSite === true));
  return { seed, kinds: crew.counts, visits: crew.visits, before: before ?? NOTHING, after, faults, pageMs, bystander };
}

/** Those with one of the names, or else with a part of it; all when none is given. */
function chosen<T>(all: readonly T[], nameOf: (one: T) => string, parts: readonly string[] | undefined): readonly T[] {
  if (parts === undefined) return all;
  const some = parts.flatMap((part) => {
    const exact = all.filter((one) => nameOf(one) === part);
    return exact.length > 0 ? exact : all.filter((one) => nameOf(one).includes(part));
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

/** The visitors at work. */
class Crew {
  readonly counts: Record<string, { visits: number; statuses: Record<string, number> }> = {};
  visits = 0;
  /** Which kind each address and port of ours belongs to, for naming what guard still holds. */
  readonly #kinds = new Map<string, string>();
  readonly #held: Socket[] = [];
  readonly #busy = new Map<number, string>();

  constructor(
    private readonly guard: GuardProcess,
    private readonly parts: ChaosOptions & { readonly kinds: readonly Kind[]; readonly ways: readonly string[] },
  ) {}

  /** Sends visits on so many connections at a time, each connection with a sequence of choices of its own. */
  async work(seed: number, connections: number, seconds: number): Promise<void> {
    const until = Date.now() + seconds * 1000;
    const { kinds } = this.parts;
    // Every kind has its turn within the first few visits of each connection, however slow the machine is.
    const order = shuffled(kinds, createRandom(seed, connections));
    const worker = async (number: number): Promise<void> => {
      const random = createRandom(seed, number);
      const first = Math.floor((number * order.length) / connections);
      for (let turn = first; Date.now() < until && this.guard.ended() === null; turn++) {
        const kind = turn < first + order.length ? (order[turn % order.length] as Kind) : random.pick(kinds);
        await this.#visit(number, kind, random);
      }
      if (this.guard.ended() === null) this.#busy.delete(number);
    };
    await Promise.all(Array.from({ length: connections }, (_, number) => worker(number)));
  }

  async #visit(worker: number, [name, ...steps]: Kind, random: Random): Promise<void> {
    // Everything is chosen before the first byte, so that no answer changes what comes next.
    const behaviour = random.chance(0.4) ? 'normal' : random.pick(this.parts.ways);
    const from = random.pick([...addresses.visitors, ...addresses.visitors, addresses.blocked, addresses.proxy]);
    const extra = from === addresses.proxy ? `X-Forwarded-For: ${forwarded(random)}\r\n` : '';
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
      (socket) => {
        held = true;
        this.#hold(socket);
      },
    );
    this.#remember(visit.socket, `${name} (${behaviour})`);
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
    if (this.#held.length > MOST_HELD) this.#held.shift()?.destroy();
  }

  /** Ends the connections that were held. */
  letGo(): void {
    for (const socket of this.#held.splice(0)) socket.destroy();
  }

  kindOf(remote: string): string {
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

/** Waits until guard holds no connection any more. @returns what it still holds when the time is over */
async function settled(guard: GuardProcess, options: ChaosOptions, crew: Crew): Promise<string[]> {
  const patience = settleMs(options.realSite);
  const end = Date.now() + patience;
  for (;;) {
    if (guard.ended() !== null) return [];
    const open = socketsOf(guard.pid);
    const toVisitors = open.filter(({ localPort }) => localPort === guard.port);
    const toUpstream = open.filter(({ remotePort }) => remotePort === options.upstreamPort);
    if (toVisitors.length === 0 && toUpstream.length === 0) return [];
    if (Date.now() >= end) {
      const visitors = tally(toVisitors.map(({ remote, state }) => `${crew.kindOf(remote)}, ${state}`));
      const upstream = tally(
        toUpstream.map(({ localPort, state }) => `${options.askedFrom?.(localPort) ?? 'a connection'}, ${state}`),
      );
      return [
        ...visitors.map((line) => `still open to a visitor after ${patience / 1000} s: ${line}`),
        ...upstream.map((line) => `still open to WordPress after ${patience / 1000} s: ${line}`),
      ];
    }
    await sleep(100);
  }
}

function tally(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} x ${name}`);
}

/** Measures again and again until it is as it should be or the time is over, since some of what ends waits a little. */
async function measured(guard: GuardProcess, isRight: (now: Measured) => boolean): Promise<Measured> {
  const end = Date.now() + settleMs();
  for (;;) {
    const held = await heldBy(guard.inspector);
    await sleep(100);
    const now = { ...held, descriptors: descriptorsOf(guard.pid), resident: residentMemory(guard.pid) };
    if (isRight(now) || Date.now() >= end) return now;
    await sleep(1000);
  }
}

const askForPage = (guard: GuardProcess, { host }: ChaosOptions) =>
  sendRaw(guard.port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`, { from: addresses.bystander });

/** Somebody else, who wants nothing but a page. */
class Bystander {
  pages = 0;
  failed = 0;
  slowestMs = 0;

  constructor(
    private readonly guard: GuardProcess,
    private readonly options: ChaosOptions,
  ) {}

  async ask(seconds: number): Promise<void> {
    const until = Date.now() + seconds * 1000;
    while (Date.now() < until && this.guard.ended() === null) {
      const began = Date.now();
      const answer = await askForPage(this.guard, this.options).catch(() => null);
      this.pages += 1;
      if (answer?.status !== 200) this.failed += 1;
      this.slowestMs = Math.max(this.slowestMs, Date.now() - began);
      await sleep(500);
    }
  }
}

/** @returns the milliseconds it took, or null when it was not answered; more than five seconds are a fault */
async function plainPage(
  guard: GuardProcess,
  options: ChaosOptions,
  faults: string[],
  when: string,
): Promise<number | null> {
  const began = Date.now();
  try {
    const answer = await askForPage(guard, options);
    const took = Date.now() - began;
    if (answer.status !== 200) faults.push(`a plain page ${when} was answered with ${answer.status}`);
    if (took > 5000) faults.push(`a plain page ${when} took ${took} ms`);
    return took;
  } catch (error) {
    faults.push(`a plain page ${when} was not answered: ${(error as Error).message}`);
    return null;
  }
}
