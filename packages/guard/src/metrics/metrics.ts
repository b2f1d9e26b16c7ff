import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { GatewayObserver } from '../gateway/observer.js';
import { listenOn } from '../lib/listen.js';
import type { Logger } from '../lib/logger.js';
import { type SocketAddress, toServerUrl } from '../lib/socket-address.js';
import { version } from '../lib/version.js';
import type { ConnectorState } from '../site.js';

/** The running metrics. */
export interface Metrics {
  readonly observer: GatewayObserver;
  /** Called when guard serves: its state is measured from now on, and it is ready. */
  observe(state: GuardState): void;
  /** Called when guard stops: it is no longer ready. */
  endReadiness(): void;
  stop(): Promise<void>;
}

/**
 * Serves metrics for Prometheus, health and readiness. Imported only where they are configured.
 * @throws the system's error when it can't listen on the address
 */
export async function serveMetrics(listen: SocketAddress, logger: Logger): Promise<Metrics> {
  const registry = new Registry();
  const observer = createGatewayMetrics(registry);
  let unready = (): string | null => 'starting: the settings are not loaded yet';
  const server = await createMetricsServer({ listen, registry, logger, findUnreadiness: () => unready() });
  logger.info({ event: 'metrics-served', url: server.url }, `Metrics are at ${server.url}/metrics.`);
  return {
    observer,
    observe(state) {
      createStateMetrics(registry, state);
      collectProcessMetrics(registry);
      unready = () => (state.servesNone() ? 'no site can be served' : null);
    },
    endReadiness() {
      unready = () => 'stopping';
    },
    stop: server.close,
  };
}

/** The metrics of the process and of Node.js, except those that are named like counters and are none. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const kind of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${kind}_total`);
}

interface MetricsServer {
  /** Its URL, for example `http://127.0.0.1:9464`, or `unix:/run/metrics.sock`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves `GET /metrics` (Prometheus's text format), `/healthz` (the process responds) and `/readyz` (it serves
 * visitors, else 503 with the reason) on a separate address. There is no authentication: only the provider's machines
 * must be able to reach the address.
 *
 * @throws the system's error when it can't listen on the address
 */
async function createMetricsServer(deps: {
  readonly listen: SocketAddress;
  readonly registry: Pick<Registry, 'metrics' | 'contentType'>;
  readonly logger: Logger;
  /** Why no visitor can be served; null if guard is ready. */
  findUnreadiness(): string | null;
}): Promise<MetricsServer> {
  const { listen, registry, logger, findUnreadiness } = deps;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.replace(/\?.*$/, '');
    if (path === undefined || !PATHS.has(path)) send(response, 404, 'Ask for /metrics, /healthz or /readyz.\n');
    else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      send(response, 405, 'Use GET.\n');
    } else if (path === '/healthz') send(response, 200, 'ok\n');
    else if (path === '/readyz') {
      const reason = findUnreadiness();
      send(response, reason === null ? 200 : 503, `${reason ?? 'ok'}\n`);
    } else send(response, 200, await registry.metrics(), registry.contentType);
  }

  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      logger.error({ event: 'metrics-failed', err: error }, 'Metrics could not be gathered.');
      if (response.headersSent) response.destroy();
      else send(response, 500, 'Metrics could not be gathered; the log says why.\n');
    });
  });
  const address = await listenOn(server, listen);
  return {
    url: toServerUrl(address),
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

const PATHS: ReadonlySet<string> = new Set(['/metrics', '/healthz', '/readyz']);

function send(response: ServerResponse, status: number, body: string, type = 'text/plain; charset=utf-8'): void {
  const headers = { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body), 'Cache-Control': 'no-store' };
  response.writeHead(status, headers).end(body);
}

/** Bucket bounds, seconds: from a cached page to one that takes too long. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Creates the metrics of the gateway, for all sites together. No label contains text of visitors, or a site: with
 * thousands of sites each metric would have thousands of lines.
 */
export function createGatewayMetrics(registry: Registry): GatewayObserver {
  const registers = [registry];
  const requests = new Counter({
    ...{ name: 'security_optimizer_requests_total', registers },
    help: 'Requests that came, refused ones among them.',
  });
  const refused = new Counter({
    ...{ name: 'security_optimizer_requests_refused_total', registers, labelNames: ['rule'] as const },
    help: 'Requests that were refused, by the rule that did.',
  });
  const forwarded = new Histogram({
    ...{
      name: 'security_optimizer_upstream_response_seconds',
      registers,
      labelNames: ['status'] as const,
      buckets: SECONDS,
    },
    help: 'Time from the head of a request to the head of the answer of WordPress, by class of status.',
  });
  const failures = new Counter({
    ...{ name: 'security_optimizer_upstream_failures_total', registers, labelNames: ['kind'] as const },
    help: 'Requests to which WordPress gave no whole answer, by what went wrong.',
  });
  // A series that begins with its first failure has not increased, so that no alert would fire.
  for (const kind of FAILURES) failures.inc({ kind }, 0);
  const logins = new Counter({
    ...{ name: 'security_optimizer_login_failures_total', registers },
    help: 'Passwords that were wrong, or that Login Security refused unchecked.',
  });
  return {
    requested: () => requests.inc(),
    refused: (rule) => refused.inc({ rule }),
    // The clock may have been set back during the request.
    forwarded: (status, ms) => forwarded.observe({ status: statusClass(status) }, Math.max(0, ms) / 1000),
    upstreamFailed: (kind) => failures.inc({ kind }),
    loginFailed: () => logins.inc(),
  };
}

type Failure = Parameters<GatewayObserver['upstreamFailed']>[0];
const FAILURES: readonly Failure[] = ['connect', 'closed', 'syntax', 'timeout', 'busy'];

const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

function statusClass(status: number): string {
  return CLASSES[Math.floor(status / 100) - 1] ?? 'other';
}

/** Current state of guard, read on each scrape. */
export interface GuardState {
  /** Whether there are sites, and none of them can be served. */
  servesNone(): boolean;
  /** Open client connections. */
  connections(): number;
  /** Addresses and browsers that are locked after too many failed logins. */
  loginLocks(): number;
  /** Logins that wait for their password check. */
  loginsWaiting(): number;
  /** Requests that wait for a connection to WordPress. */
  upstreamWaiting(): number;
  /** Operations of the database of settings that are not completed. */
  storageWaiting(): number;
  /** Visits since the start that were not recorded, and rows that wait to be stored. */
  visits(): { readonly dropped: number; readonly waiting: number };
  /** Storage operations that failed since the start, by fault. */
  storageErrors(): Iterable<readonly [fault: string, count: number]>;
  /** State of each site's connector. */
  connectors(): Iterable<ConnectorKind>;
}

/** The connector of a quarantined site is not checked. */
type ConnectorKind = ConnectorState['kind'] | 'quarantined';

const KINDS: readonly ConnectorKind[] = ['ok', 'missing', 'other_secret', 'unreachable', 'unknown', 'quarantined'];

/** Creates the metrics of the current state, for all sites together. */
export function createStateMetrics(registry: Registry, state: GuardState): void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      ...{ name: `security_optimizer_${name}`, registers, help },
      collect() {
        this.set(read());
      },
    });
  };
  gauge('connections', 'Connections of visitors that are open.', state.connections);
  gauge('login_locks', 'Addresses and browsers that failed to log in too often and have to wait.', state.loginLocks);
  gauge('logins_waiting', 'Logins that wait until their password may be checked.', state.loginsWaiting);
  gauge('upstream_requests_waiting', 'Requests that wait for a connection to WordPress.', state.upstreamWaiting);
  gauge('storage_operations_waiting', 'Operations that the database has not completed.', state.storageWaiting);
  gauge('visits_waiting', 'Rows of the Activity Log that wait to be stored.', () => state.visits().waiting);
  new Counter({
    ...{ name: 'security_optimizer_visits_dropped_total', registers },
    help: 'Visits that the Activity Log did not record.',
    collect() {
      this.reset();
      this.inc(state.visits().dropped);
    },
  });
  new Counter({
    ...{ name: 'security_optimizer_storage_errors_total', registers, labelNames: ['fault'] as const },
    help: 'Storage operations that failed, by what went wrong.',
    collect() {
      this.reset();
      for (const [fault, count] of state.storageErrors()) this.inc({ fault }, count);
    },
  });
  new Gauge({
    ...{ name: 'security_optimizer_build_info', registers, labelNames: ['version', 'node'] as const },
    help: 'The version of guard and of Node.js; always 1.',
  }).set({ version, node: process.versions.node }, 1);
  new Gauge({
    ...{ name: 'security_optimizer_sites', registers, labelNames: ['connector'] as const },
    help: 'Sites, by how their connector is.',
    collect() {
      for (const connector of KINDS) this.set({ connector }, 0);
      for (const connector of state.connectors()) this.inc({ connector });
    },
  });
}
