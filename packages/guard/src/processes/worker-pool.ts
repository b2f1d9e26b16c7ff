import cluster, { type Worker } from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { VisitBatch } from '../activity/index.js';
import type { Config, LiveChange, LiveConfig } from '../config/config.js';
import type { GatewayObserver } from '../gateway/observer.js';
import type { RelayTarget } from '../gateway/relay.js';
import type { ListeningDescriptor } from '../lib/listen.js';
import type { Logger } from '../lib/logger.js';
import type { SocketAddress } from '../lib/socket-address.js';
import type { JsonValue } from '../settings/audit-store.js';
import type { SiteId } from '../site.js';
import { ConnectionCount } from './connection-count.js';
import { ForwardingDesk, type ForwardingServices } from './forwarding-desk.js';
import { exchangeJsonLines } from './json-lines.js';
import {
  DESCRIPTOR,
  type FromForwarding,
  type FromWorker,
  listReplicas,
  type Question,
  type SiteReplica,
  type ToForwarding,
  type ToWorker,
} from './messages.js';
import { addCounts } from './worker-observer.js';

const program = createRequire(import.meta.url).resolve('@security-optimizer/guard/program/worker');

/** Identifies the files of this program: an upgrade replaces them. */
function identifyFiles(): string {
  const { dev, ino, mtimeMs } = statSync(program);
  return [dev, ino, mtimeMs].join();
}

/** Standard streams, Node's channel, and the pipe of descriptor `DESCRIPTOR`. */
const STDIO = ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'] as const;

/** Longest path of a Unix socket, bytes. */
const MAX_PATH = 103;
/** A worker that ended is replaced after this time, milliseconds; later if it had run for less than ten times as long. */
const REPLACE_MS = 100;
const MAX_REPLACE_MS = 5000;
/** How long a change waits until every worker has applied it, milliseconds. A worker that hangs must not stop guard. */
const APPLY_MS = 2000;

/** What the workers need from the primary process. */
export interface WorkerServices
  extends Omit<ForwardingServices, 'answer' | 'handleSession' | 'handlePasswordInView' | 'connections'> {
  /** The sites and proxies in force. */
  configuration(): LiveConfig;
  readonly siteIds: () => readonly SiteId[];
  replicate(site: SiteId): SiteReplica;
  writeVisits(batches: readonly VisitBatch[]): Promise<void>;
  handleVisitor(site: SiteId, address: string, agent: string | null): void;
  settingHistory(site: SiteId, setting: string): Promise<readonly JsonValue[]>;
  /** The state of a host of a site, if it is known. */
  findHost(site: SiteId, host: string): 'proved' | 'foreign' | 'open' | null;
  /** A worker has seen a session that WordPress confirmed. */
  addSession(key: string, until: number): void;
  readonly observer: GatewayObserver | null;
}

interface RunningWorker {
  readonly worker: Worker;
  readonly desk: ForwardingDesk;
  readonly index: number;
  readonly since: number;
  isStarted: boolean;
  isListening: boolean;
  /** Version of the last change that it has applied. */
  applied: number;
}

/** The primary process's side of its workers. */
export class WorkerPool {
  readonly #workers = new Map<number, RunningWorker>();
  readonly #dirty = new Set<SiteId>();
  readonly #waiting = new Set<() => void>();
  /** Sites with a plugin that reads passwords in views. */
  readonly #withPasswords = new Set<SiteId>();
  readonly #connections: ConnectionCount;
  #configuration: LiveChange | null = null;
  #version = 0;
  readonly #files = identifyFiles();
  #isFlushScheduled = false;
  #isClosing = false;
  #delay = REPLACE_MS;
  #replacing: NodeJS.Timeout | undefined;

  private constructor(
    private readonly config: Config,
    readonly relay: RelayTarget,
    private readonly socket: ListeningDescriptor | undefined,
    private readonly services: WorkerServices,
    private readonly logger: Logger,
  ) {
    this.#connections = new ConnectionCount(config.limits);
  }

  /** @param config `processes` is the number of workers */
  static async create(
    config: Config,
    socket: ListeningDescriptor | undefined,
    services: WorkerServices,
    logger: Logger,
  ): Promise<WorkerPool> {
    const inDataDir = join(config.dataDir, 'processes.sock');
    const path =
      Buffer.byteLength(inDataDir) <= MAX_PATH
        ? inDataDir
        : join(await mkdtemp(join(tmpdir(), 'security-optimizer-')), 'processes.sock');
    const relay = { path, key: randomBytes(32).toString('hex') };
    const pool = new WorkerPool(config, relay, socket, services, logger);
    services.views.watchLocks((...lock) => pool.#tell(['lock', ...lock]));
    return pool;
  }

  /** Open connections of clients. */
  get connections(): number {
    return this.#connections.total;
  }

  /**
   * Starts the workers.
   * @returns the address on which they listen
   * @throws the system's error when they can't listen on the address
   */
  async start(): Promise<SocketAddress> {
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ exec: program, args: [], serialization: 'advanced', stdio: [...STDIO] });
    const indexes = Array.from({ length: this.config.processes }, (_, index) => index);
    const [address] = await Promise.all(indexes.map((index) => this.#fork(index)));
    return address as SocketAddress;
  }

  /** Sends the site's current state to the workers, with all other changes of this turn of the event loop. */
  markChanged(site: SiteId): void {
    this.#dirty.add(site);
    this.#scheduleFlush();
  }

  applyChange(change: LiveChange): Promise<void> {
    this.#flush();
    this.#configuration = change;
    for (const { id } of change.served) this.#dirty.add(id);
    this.#flush();
    return this.whenApplied();
  }

  /** Resolves when all workers enforce everything that has changed until now. */
  async whenApplied(): Promise<void> {
    this.#flush();
    const version = this.#version;
    const isApplied = () => [...this.#workers.values()].every((each) => !each.isListening || each.applied >= version);
    if (isApplied()) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve();
      };
      const check = () => {
        if (isApplied()) end();
      };
      const timer = setTimeout(() => {
        this.logger.error({ event: 'workers-late', version }, 'A process of guard does not confirm a change in time.');
        end();
      }, APPLY_MS);
      this.#waiting.add(check);
    });
  }

  /** Tells the workers of a session that WordPress has confirmed to another process. */
  sendSession(key: string, until: number): void {
    this.#tell(['session', key, until]);
  }

  #tell(item: ToForwarding, from?: RunningWorker): void {
    for (const running of this.#workers.values()) if (running !== from) running.desk.tell(item);
  }

  setLogLevel(level: Logger['level']): void {
    this.#sendAll({ kind: 'log-level', level: level as Config['logLevel'] });
  }

  /** Stops accepting connections; resolves when the workers have completed their requests and ended. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#replacing);
    const ended = [...this.#workers.values()].map(
      ({ worker }) =>
        new Promise<void>((resolve) => {
          if (worker.isDead()) resolve();
          else worker.once('exit', () => resolve());
        }),
    );
    for (const running of this.#workers.values()) {
      if (running.isListening) this.#send(running, { kind: 'close' });
      else running.worker.process.kill('SIGKILL');
    }
    await Promise.all(ended);
    if (dirname(this.relay.path) !== this.config.dataDir) await rm(dirname(this.relay.path), { recursive: true });
  }

  async #fork(index: number): Promise<SocketAddress> {
    // Other files may not understand this process's messages.
    if (identifyFiles() !== this.#files) throw new Error('The files of guard were replaced. Start guard again.');
    const worker = cluster.fork();
    const forwarding: ForwardingServices = {
      ...this.services,
      connections: this.#connections,
      answer: (question) => this.#answer(question),
      handleSession: (key, until) => {
        this.services.addSession(key, until);
        this.#tell(['session', key, until], running);
      },
      handlePasswordInView: (site) => {
        this.#withPasswords.add(site);
        this.#tell(['password-in-view', site], running);
      },
    };
    const sendItems = exchangeJsonLines<readonly ToForwarding[], readonly FromForwarding[]>(
      worker.process.stdio[DESCRIPTOR] as Duplex,
      (items) => desk.receive(items),
    );
    // A worker that is not started has nobody who receives them, and gets the present state when it starts.
    const desk: ForwardingDesk = new ForwardingDesk(forwarding, (items) => {
      if (running.isStarted) sendItems(items);
    });
    const running: RunningWorker = {
      ...{ worker, desk, index, since: performance.now(), isStarted: false, isListening: false },
      applied: 0,
    };
    this.#workers.set(worker.id, running);
    const started = new Promise<SocketAddress>((resolve, reject) => {
      worker.on('message', (message: FromWorker) => {
        if (message.kind === 'listening') {
          running.isListening = true;
          resolve(message.address);
        } else if (message.kind === 'listen-failed') {
          const { message: text, code } = message;
          reject(Object.assign(new Error(text), { code }));
          worker.process.kill('SIGKILL');
        } else this.#handle(running, message);
      });
      worker.once('exit', (code, signal) => {
        reject(new Error(`A process of guard ended when it started (${signal ?? `exit code ${code}`}).`));
        this.#handleEnd(running, code, signal);
      });
    });
    return started;
  }

  #startWorker(running: RunningWorker): void {
    this.#flush();
    running.isStarted = true;
    running.applied = this.#version;
    const { views } = this.services;
    const { mail, alerts, ...rest } = this.config;
    this.#send(running, {
      kind: 'start',
      // A worker sends no mail and no alert.
      config: {
        ...rest,
        ...this.services.configuration(),
        mail: { smtp: null },
        alerts: { ...alerts, authorities: [] },
      },
      replicas: listReplicas(this.services.siteIds().map((site) => this.services.replicate(site))),
      index: running.index,
      count: this.config.processes,
      relay: this.relay,
      descriptor: this.socket?.descriptor ?? null,
      logLevel: this.logger.level as Config['logLevel'],
    });
    for (const lock of views.allLocks()) running.desk.tell(['lock', ...lock]);
    for (const site of this.#withPasswords) running.desk.tell(['password-in-view', site]);
  }

  #handle(running: RunningWorker, message: FromWorker): void {
    const { services } = this;
    if (message.kind === 'loaded') this.#startWorker(running);
    else if (message.kind === 'applied') {
      running.applied = Math.max(running.applied, message.version);
      for (const check of [...this.#waiting]) check();
    } else if (message.kind === 'counts') {
      if (services.observer !== null) addCounts(services.observer, message.counts);
    } else if (message.kind === 'visits') {
      const { id, batches, visitors } = message;
      for (const visitor of visitors) services.handleVisitor(...visitor);
      // The store counts what it can't write.
      void services.writeVisits(batches).finally(() => this.#send(running, { kind: 'visits-written', id }));
    }
  }

  async #answer(question: Question): Promise<unknown> {
    const { services } = this;
    try {
      switch (question.name) {
        case 'setting-history':
          return await services.settingHistory(question.site, question.setting);
        case 'find-report':
          return await services.views.findReport(question.site, question.requestId);
        case 'when-stored':
          await services.views.whenStored(question.site);
          return null;
        case 'host-status':
          return services.findHost(question.site, question.host);
      }
    } catch (error) {
      this.logger.error({ event: 'worker-question-failed', question: question.name, err: error }, 'No answer.');
      return null;
    }
  }

  #handleEnd(running: RunningWorker, code: number | null, signal: string | null): void {
    const { worker, index, since, isListening } = running;
    this.#workers.delete(worker.id);
    running.desk.close();
    for (const check of [...this.#waiting]) check();
    if (this.#isClosing || !isListening) return;
    this.logger.error(
      { event: 'worker-ended', worker: index + 1, code, signal },
      'A process of guard ended; it is replaced.',
    );
    const hasFailedSoon = performance.now() - since < 10 * this.#delay;
    this.#delay = hasFailedSoon ? Math.min(this.#delay * 2, MAX_REPLACE_MS) : REPLACE_MS;
    this.#replacing = setTimeout(() => this.#replace(index), this.#delay);
  }

  #replace(index: number): void {
    if (this.#isClosing) return;
    this.#fork(index).then(
      () => this.logger.info({ event: 'worker-replaced', worker: index + 1 }, 'Another process took its place.'),
      (error: unknown) => {
        if (this.#isClosing) return;
        this.logger.error({ event: 'worker-start-failed', worker: index + 1, err: error }, 'It is started again.');
        this.#delay = Math.min(this.#delay * 2, MAX_REPLACE_MS);
        this.#replacing = setTimeout(() => this.#replace(index), this.#delay);
      },
    );
  }

  #scheduleFlush(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    setImmediate(() => {
      this.#isFlushScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#dirty.size === 0 && this.#configuration === null) return;
    const present = new Set(this.services.siteIds());
    const changed = [...this.#dirty];
    const configuration = this.#configuration;
    this.#dirty.clear();
    this.#configuration = null;
    this.#version++;
    this.#sendAll({
      ...{ kind: 'change', version: this.#version, configuration },
      replicas: listReplicas(changed.filter((site) => present.has(site)).map((site) => this.services.replicate(site))),
      removed: changed.filter((site) => !present.has(site)),
    });
  }

  #sendAll(message: ToWorker): void {
    for (const running of this.#workers.values()) this.#send(running, message);
  }

  #send({ worker, isStarted }: RunningWorker, message: ToWorker): void {
    // A worker that ends is replaced, and the next one gets everything.
    if (isStarted && worker.isConnected()) worker.send(message, undefined, () => {});
  }
}
