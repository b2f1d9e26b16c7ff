import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { authorityOf } from '../lib/authority.js';
import type { Logger } from '../lib/logger.js';

export interface MetricsServer {
  /** Where it listens, for example `http://127.0.0.1:9464`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves `GET /metrics` (Prometheus's text format) and `GET /health` on an address of their own, apart from visitors.
 * It asks nobody who they are: the address must be one that only the provider's own machines reach.
 *
 * @throws the system's error when the address can't be listened on
 */
export async function metricsServer(deps: {
  readonly listen: { readonly host: string; readonly port: number };
  readonly registry: Pick<Registry, 'metrics' | 'contentType'>;
  readonly logger: Logger;
}): Promise<MetricsServer> {
  const { listen, registry, logger } = deps;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.replace(/\?.*$/, '');
    if (path !== '/metrics' && path !== '/health') send(response, 404, 'Ask for /metrics or /health.\n');
    else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      send(response, 405, 'Use GET.\n');
    } else if (path === '/health') send(response, 200, 'ok\n');
    else send(response, 200, await registry.metrics(), registry.contentType);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      logger.error({ event: 'metrics-failed', err: error }, 'Metrics could not be gathered.');
      if (response.headersSent) response.destroy();
      else send(response, 500, 'Metrics could not be gathered; the log says why.\n');
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listen.port, listen.host, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  const { address, port } = server.address() as AddressInfo;
  return {
    url: `http://${authorityOf({ host: address, port })}`,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

function send(response: ServerResponse, status: number, body: string, type = 'text/plain; charset=utf-8'): void {
  const headers = { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body), 'Cache-Control': 'no-store' };
  response.writeHead(status, headers).end(body);
}
