import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from '../at-end.js';
import type { Handler, ReceivedRequest } from './replies.js';

export { type Handler, ok, type ReceivedRequest, type Reply, refused, staleNonce } from './replies.js';

export interface ApiServer {
  readonly origin: string;
  readonly calls: ReceivedRequest[];
  handler: Handler;
}

/** Starts an HTTP server on loopback that replaces guard and WordPress until the test ends. */
export async function startApiServer(handler: Handler): Promise<ApiServer> {
  const server = createServer((request, response) => void handleRequest(request, response));
  const api: ApiServer = {
    origin: '',
    calls: [],
    handler,
  };

  async function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const call = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
    api.calls.push(call);
    const reply = await api.handler(call);
    if (reply === null) return void response.destroy();
    response.statusCode = reply.status ?? 200;
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
  }

  atEnd(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(api, { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
