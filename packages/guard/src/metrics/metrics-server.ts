import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { listenOn } from '../lib/listen.js';
import type { Logger } from '../lib/logger.js';
import { type SocketAddress, toServerUrl } from '../lib/socket-address.js';

export interface MetricsServer {
  /** Its URL, for example `http://127.0.0.1:9464`, or `unix:/run/metrics.sock`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves `GET /metrics` (Prometheus's text format), `/healthz` (the process answers) and `/readyz` (it serves visitors,
 * else 503) on a separate address. There is no authentication:
 * only the provider's machines must be able to reach the address.
 *
 * @throws the system's error when it can't listen on the address
 */
export async function createMetricsServer(deps: {
  readonly listen: SocketAddress;
  readonly registry: Pick<Registry, 'metrics' | 'contentType'>;
  readonly logger: Logger;
  isReady(): boolean;
}): Promise<MetricsServer> {
  const { listen, registry, logger, isReady } = deps;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.replace(/\?.*$/, '');
    if (path === undefined || !PATHS.has(path)) send(response, 404, 'Ask for /metrics, /healthz or /readyz.\n');
    else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      send(response, 405, 'Use GET.\n');
    } else if (path === '/healthz') send(response, 200, 'ok\n');
    else if (path === '/readyz') send(response, isReady() ? 200 : 503, isReady() ? 'ok\n' : 'starting or stopping\n');
    else send(response, 200, await registry.metrics(), registry.contentType);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
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
