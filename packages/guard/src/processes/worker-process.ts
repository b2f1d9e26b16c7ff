/**
 * A worker process: it accepts the connections of clients, evaluates the rules, refuses requests and forwards views. It
 * relays every other request to the primary process, which holds the state. See
 * docs/decisions/0058-several-processes.md.
 */
import cluster from 'node:cluster';
import { randomInt } from 'node:crypto';
import { Socket } from 'node:net';
import { openSecurityLog } from '../activity/security-log.js';
import { createVisitLog } from '../activity/visit-log.js';
import { createRelay } from '../gateway/relay.js';
import { createGateway, type Gateway } from '../gateway/server.js';
import type { Exchange, WithheldResponse } from '../hooks.js';
import { cataloguesFolder, createLanguages } from '../i18n/languages.js';
import { systemClock } from '../lib/clock.js';
import { createLogger, type Logger } from '../lib/logger.js';
import { limitHeapGrowth } from '../lib/process-tuning.js';
import { createLoginAddressCache } from '../login/login-addresses.js';
import type { ReportedFactor } from '../login/login-services.js';
import { createViewHook } from '../login/remote-views.js';
import { LiveSnapshots, SnapshotCache } from '../rules/snapshot.js';
import type { JsonValue } from '../settings/audit-store.js';
import type { SiteId } from '../site.js';
import { createSharedAssets } from '../sites/shared-assets.js';
import { exchangeJsonLines } from './json-lines.js';
import {
  DESCRIPTOR,
  type FromForwarding,
  type FromWorker,
  type ReplicaList,
  readReplicas,
  type SiteReplica,
  type ToForwarding,
  type ToWorker,
  unpackInput,
  type Visitor,
} from './messages.js';
import { PrimaryLink } from './primary-link.js';
import { createRemoteHosts } from './remote-hosts.js';
import { WorkerObserver } from './worker-observer.js';

/** How often counts are sent to the primary process, milliseconds. */
const COUNTS_MS = 1000;

function send(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}

/** Visitors that may wait for the next batch of visits. */
const VISITORS_MAX = 2000;

/** Runs a worker until the primary process closes it. */
async function run(start: Extract<ToWorker, { kind: 'start' }>, logger: Logger): Promise<void> {
  const { config, index, count, relay, descriptor } = start;
  const clock = systemClock;
  const languages = createLanguages({ folder: cataloguesFolder, logger });
  const snapshots = new LiveSnapshots();
  const cache = new SnapshotCache();
  const sites = new Map<SiteId, Pick<SiteReplica, 'facts' | 'visits'>>();
  const pipe = new Socket({ fd: DESCRIPTOR });
  const sendItems = exchangeJsonLines<readonly FromForwarding[], readonly ToForwarding[]>(pipe, (items) =>
    link.receive(items),
  );
  const link: PrimaryLink = new PrimaryLink(sendItems, clock, {
    onSession: (key, until) => gateway.addSession(key, until),
    onShed: (address) => gateway.shedConnection(address),
  });
  const loginAddresses = createLoginAddressCache(
    async (site, setting) => (await link.ask({ name: 'setting-history', site, setting })) as readonly JsonValue[],
    logger,
  );

  function apply(changed: ReplicaList, removed: readonly SiteId[]): void {
    for (const replica of readReplicas(changed)) {
      const { site, facts, visits } = replica;
      sites.set(site, { facts, visits });
      snapshots.swap(site, cache.compile(unpackInput(replica, languages)));
      loginAddresses.reload(site);
    }
    for (const site of removed) {
      sites.delete(site);
      snapshots.delete(site);
    }
  }

  apply(start.replicas, []);
  /** Visits that the primary process has not confirmed yet, by id of the message. */
  const writing = new Map<number, () => void>();
  let visitors: Visitor[] = [];
  let lastWrite = 0;
  const visits = createVisitLog({
    store: {
      async write(batches) {
        const id = ++lastWrite;
        send({ kind: 'visits', id, batches, visitors });
        visitors = [];
        await new Promise<void>((resolve) => writing.set(id, resolve));
      },
    },
    rules: (site) => ({
      ...(sites.get(site)?.visits ?? NOT_RECORDED),
      namesLogin: (target) => loginAddresses.isNamedIn(site, target),
    }),
    onVisit(site, address, agent) {
      // Visits that are dropped are sent later or never.
      if (visitors.length < VISITORS_MAX) visitors.push([site, address, agent]);
    },
    seed: randomInt(2 ** 32),
    share: { index: index + 1, count: count + 1 },
    clock,
    logger,
  });
  const { securityLog: file } = config.activity;
  const securityLog = file === null ? null : openSecurityLog(file, { visits, clock, logger });
  const observer = new WorkerObserver();
  const relayRequest = createRelay(relay, (_request, response, cause) => {
    logger.error({ event: 'relay-failed', err: cause }, 'The primary process did not answer.');
    response.writeHead(503, UNAVAILABLE).end('Unavailable\n');
  });
  const onlyRelayed = (): never => {
    throw new Error('The primary process handles these requests.');
  };
  const gateway: Gateway = createGateway({
    ...{ config, snapshots, logger, clock, observer },
    ...(descriptor !== null && { socket: { descriptor } }),
    relay: relayRequest,
    sharedConnections: link.connections,
    sharePool: (site) => ({ role: 'asks', workers: count, permits: link.permits(site) }),
    onSession: (key, until) => link.reportSession(key, until),
    hooks: {
      onPage: () => false,
      onAllowed: createViewHook(
        Object.assign(link, {
          beginSecondFactor({ request, response }: Exchange, factor: ReportedFactor, withheld: WithheldResponse) {
            const peer = gateway.findPeer(request.socket);
            if (peer === undefined) response.destroy();
            else relayRequest(request, response, peer, { forwarded: { factor, withheld } });
          },
        }),
        clock,
        logger,
      ),
      onFactor: onlyRelayed,
      visits: securityLog?.visits ?? visits,
    },
    sharedAssets: createSharedAssets(),
    hosts: createRemoteHosts(
      async (site, host) =>
        (await link.ask({ name: 'host-status', site, host })) as 'proved' | 'foreign' | 'open' | null,
      clock,
    ),
    api: onlyRelayed,
    onSignal: (site, signal, origin) => link.reportSignal(site, signal, origin),
    onGuarded: (site) => link.reportGuarded(site),
    onNoUpstreamResponse: (site) => link.reportSilent(site),
    facts: (site) => sites.get(site)?.facts ?? null,
  });
  const timer = setInterval(() => {
    send({ kind: 'counts', counts: observer.take() });
  }, COUNTS_MS);
  timer.unref();

  let isClosing = false;
  async function close(): Promise<void> {
    if (isClosing) return;
    isClosing = true;
    await gateway.close();
    await securityLog?.close();
    await visits.stop();
    send({ kind: 'counts', counts: observer.take() });
    clearInterval(timer);
    pipe.destroy();
    logger.flush();
    cluster.worker?.disconnect();
  }

  process.on('message', (message: ToWorker) => {
    if (message.kind === 'change') {
      if (message.configuration !== null) gateway.applyChange(message.configuration);
      apply(message.replicas, message.removed);
      send({ kind: 'applied', version: message.version });
    } else if (message.kind === 'visits-written') {
      writing.get(message.id)?.();
      writing.delete(message.id);
    } else if (message.kind === 'log-level') logger.level = message.level;
    else if (message.kind === 'close') void close();
  });
  try {
    send({ kind: 'listening', address: await gateway.listen() });
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    send({ kind: 'listen-failed', message, code });
  }
}

const NOT_RECORDED = { recording: false, anonymize: false, ownCron: false };
const UNAVAILABLE = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store', 'Retry-After': '5' };

limitHeapGrowth();
// The primary process ends its workers. A terminal and systemd send signals to all of them.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {});
process.once('message', (message: ToWorker) => {
  if (message.kind !== 'start') return;
  const logger = createLogger(message.logLevel).child({ worker: message.index + 1 });
  const end = (error: unknown): void => {
    logger.fatal({ event: 'guard-crashed', err: error }, 'A process of guard ends because of a fault.');
    logger.flush();
    process.exit(1);
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
  void run(message, logger);
});
send({ kind: 'loaded' });
